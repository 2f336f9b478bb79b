// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Memory of the host device: ncclMemAlloc gives memfd-backed mappings, which peers can map too, so that they read and
// write user buffers in place. The table of allocations is a fact of the process (ncclMemAlloc names no communicator).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/status.h"

namespace hawser::device {

/// One allocation. `id` is unique in the process and never reused; the descriptor stays open as long as the allocation
/// lives.
struct HostAllocation {
  std::uint64_t id = 0;
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  int memory_fd = -1;
};

/// `bytes` of zeroed memory, page-aligned, of at least one page. kSystemError with the kernel's reason and what to do.
Result<void*> allocate(std::size_t bytes);
/// kInvalidArgument if `memory` is not the start of a live allocation.
Status free(void* memory);
/// The allocation that holds all of [memory, memory + bytes), if any. Takes a lock: callers cache.
std::optional<HostAllocation> find(const void* memory, std::size_t bytes);
/// Grows with every allocation and release: what find() answered is still true while it is unchanged. One acquire load.
std::uint64_t generation();

}  // namespace hawser::device
