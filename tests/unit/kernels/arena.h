// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Memory for kernel tests: buffers at any alignment between canaries, and buffers against an unreadable page.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/fd.h"

namespace hawser::kernels {

/// `bytes` bytes at address % 64 == misalignment, with canaries on both sides.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t misalignment) : memory_(bytes + 4 * kMargin, kCanary), bytes_(bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + kMargin;
    begin_ = kMargin + (misalignment - address) % 64;
  }

  [[nodiscard]] std::byte* data() { return memory_.data() + begin_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Whether nothing outside the buffer changed.
  [[nodiscard]] bool is_intact() const {
    const auto is_canary = [](std::byte b) { return b == kCanary; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    const auto end = begin + static_cast<std::ptrdiff_t>(bytes_);
    return std::all_of(memory_.begin(), begin, is_canary) && std::all_of(end, memory_.end(), is_canary);
  }

 private:
  static constexpr std::size_t kMargin = 128;
  static constexpr std::byte kCanary{0xa5};
  std::vector<std::byte> memory_;
  std::size_t bytes_;
  std::size_t begin_ = 0;
};

/// One page between two that fault when touched.
class Fenced {
 public:
  Fenced()
      : page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        mapping_(::mmap(nullptr, 3 * page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 3 * page_bytes_) {
    is_ready_ = mapping_.data() != MAP_FAILED &&
                ::mprotect(mapping_.data() + page_bytes_, page_bytes_, PROT_READ | PROT_WRITE) == 0;
  }

  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] std::byte* first() const { return mapping_.data() + page_bytes_; }
  /// Where a buffer of `bytes` bytes begins that ends with the page.
  [[nodiscard]] std::byte* last(std::size_t bytes) const { return mapping_.data() + 2 * page_bytes_ - bytes; }
  [[nodiscard]] std::size_t page_bytes() const { return page_bytes_; }

 private:
  std::size_t page_bytes_;
  Mapping mapping_;
  bool is_ready_ = false;
};

}  // namespace hawser::kernels
