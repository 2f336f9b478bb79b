// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Memory that a rank sends from or receives into.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "perf/common/options.h"

namespace hawser::perf {

/// Owns plain or ncclMemAlloc'ed memory with a guard behind it that no call may write. All of it has been written once,
/// by the thread that made it. Movable.
class Buffer {
 public:
  /// `unalign`: bytes by which data() misses the page. kSystemError or kDeviceError if there is no such memory.
  static Result<Buffer> create(Alloc alloc, std::size_t bytes, std::size_t unalign);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] std::byte* data() const { return memory_ + unalign_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> first(std::size_t bytes) const { return {data(), bytes}; }

  /// Marks what lies behind the first `bytes`, up to a few cache lines, as not to be written.
  void set_guard(std::size_t bytes) const;
  /// Whether it still holds what set_guard(bytes) put there.
  [[nodiscard]] bool is_guard_whole(std::size_t bytes) const;

 private:
  Buffer(Alloc alloc, std::byte* memory, std::size_t bytes, std::size_t unalign)
      : alloc_(alloc), memory_(memory), bytes_(bytes), unalign_(unalign) {}

  Alloc alloc_;
  std::byte* memory_;
  std::size_t bytes_;
  std::size_t unalign_;
};

}  // namespace hawser::perf
