// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Bytes on the wire: a writer that appends and a reader that never reads past its end. Numbers are little-endian.
// Every message of this room is written and read by these two.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hawser::bootstrap {

/// Appends values to a growing message. Calls chain.
class Writer {
 public:
  template <std::unsigned_integral T>
  Writer& number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff));
    return *this;
  }
  Writer& bytes(std::span<const std::byte> data) {
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    return *this;
  }
  /// A length and at most 65535 characters; what is longer is cut.
  Writer& text(std::string_view value) {
    value = value.substr(0, 0xffff);
    number(static_cast<std::uint16_t>(value.size()));
    return bytes(std::as_bytes(std::span(value)));
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads values from a borrowed message. A read past the end gives zero or nothing and marks the reader as failed for
/// good, so that a parser checks once, at its end.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> data) : rest_(data) {}

  template <std::unsigned_integral T>
  T number() {
    std::uint64_t value = 0;
    const auto raw = bytes(sizeof(T));
    for (std::size_t i = 0; i < raw.size(); ++i) value |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
    return static_cast<T>(value);
  }
  /// The next `count` bytes, or none. Valid as long as the message is.
  std::span<const std::byte> bytes(std::size_t count) {
    if (count > rest_.size()) {
      has_failed_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  template <std::size_t N>
  std::array<std::byte, N> array() {
    std::array<std::byte, N> value{};
    std::ranges::copy(bytes(N), value.begin());
    return value;
  }
  /// Text as Writer::text() wrote it. What is not printable ASCII arrives as '?': it ends in messages on a terminal.
  std::string text() {
    const auto raw = bytes(number<std::uint16_t>());
    std::string value(raw.size(), '?');
    std::ranges::transform(raw, value.begin(), [](std::byte byte) {
      const char character = static_cast<char>(byte);
      return character >= ' ' && character <= '~' ? character : '?';
    });
    return value;
  }
  std::span<const std::byte> rest() { return std::exchange(rest_, {}); }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  /// Whether everything was there and nothing is left over.
  [[nodiscard]] bool is_complete() const { return !has_failed_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool has_failed_ = false;
};

}  // namespace hawser::bootstrap
