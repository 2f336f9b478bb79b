// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "perf/common/nccl_check.h"

namespace hawser::perf {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kGuardBytes = 256;
constexpr std::byte kGuardValue{0xc5};

std::size_t rounded_to_page(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

Result<Buffer> Buffer::create(Alloc alloc, std::size_t bytes, std::size_t unalign) {
  const std::size_t total = rounded_to_page(bytes + unalign + kGuardBytes);
  void* memory = nullptr;
  switch (alloc) {
    case Alloc::kMalloc:
      memory = std::aligned_alloc(kPage, total);
      break;
    case Alloc::kMem:
      HAWSER_TRY(nccl_status(ncclMemAlloc(&memory, total)));
      break;
  }
  if (memory == nullptr) return Status(Code::kSystemError, fmt::format("no memory for a buffer of {} bytes", total));
  std::memset(memory, 0, total);
  return Buffer(alloc, static_cast<std::byte*>(memory), bytes, unalign);
}

Buffer::Buffer(Buffer&& other) noexcept
    : alloc_(other.alloc_),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      unalign_(other.unalign_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(alloc_, other.alloc_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(unalign_, other.unalign_);
  return *this;
}

Buffer::~Buffer() {
  if (memory_ == nullptr) return;
  switch (alloc_) {
    case Alloc::kMalloc:
      std::free(memory_);
      break;
    case Alloc::kMem:
      // Nobody is left whom a failure could be told.
      static_cast<void>(ncclMemFree(memory_));
      break;
  }
}

void Buffer::set_guard(std::size_t bytes) const { std::fill_n(data() + bytes, kGuardBytes, kGuardValue); }

bool Buffer::is_guard_whole(std::size_t bytes) const {
  return std::all_of(data() + bytes, data() + bytes + kGuardBytes, [](std::byte b) { return b == kGuardValue; });
}

}  // namespace hawser::perf
