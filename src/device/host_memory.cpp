// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "device/host_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "base/fd.h"

namespace hawser::device {
namespace {

struct Entry {
  Fd memory_fd;
  Mapping mapping;
  std::uint64_t id;
};

/// The process's allocations by address. The mutex protects both members; no other lock is taken under it.
struct Table {
  std::mutex mutex;
  std::map<const std::byte*, Entry> by_address;
  std::uint64_t next_id = 1;
  std::atomic<std::uint64_t> generation{1};
};

/// Never destroyed: programs free memory from destructors of their own statics.
Table& table() {
  static auto* const instance =
      new Table;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): decisions/0003
  return *instance;
}

Status out_of_memory(const char* what, std::size_t bytes) {
  return {Code::kSystemError,
          fmt::format("ncclMemAlloc: {} of {} bytes of shared memory failed: {}; ask for less, or raise "
                      "the container's memory limit",
                      what, bytes, std::strerror(errno))};
}

}  // namespace

Result<void*> allocate(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX / 2) return Status(Code::kInvalidArgument, "ncclMemAlloc: the size exceeds the address space");
  const std::size_t rounded = bytes == 0 ? page : (bytes + page - 1) / page * page;
  Fd memory_fd(::memfd_create("hawser-user", MFD_CLOEXEC));
  if (!memory_fd.is_open()) return out_of_memory("memfd_create", rounded);
  if (::ftruncate(memory_fd.get(), static_cast<off_t>(rounded)) != 0) return out_of_memory("ftruncate", rounded);
  void* address = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd.get(), 0);
  if (address == MAP_FAILED) return out_of_memory("mmap", rounded);
  // Huge pages where the administrator permits them (shmem_enabled = advise); a refusal costs nothing.
  ::madvise(address, rounded, MADV_HUGEPAGE);
  Mapping mapping(address, rounded);
  Table& allocations = table();
  const std::scoped_lock lock(allocations.mutex);
  const std::uint64_t id = allocations.next_id++;
  allocations.by_address.emplace(static_cast<const std::byte*>(address),
                                 Entry{std::move(memory_fd), std::move(mapping), id});
  allocations.generation.fetch_add(1, std::memory_order_release);
  return address;
}

Status free(void* memory) {
  Table& allocations = table();
  const std::scoped_lock lock(allocations.mutex);
  if (allocations.by_address.erase(static_cast<const std::byte*>(memory)) == 0) {
    return {Code::kInvalidArgument, fmt::format("ncclMemFree: {} was not allocated by ncclMemAlloc", memory)};
  }
  allocations.generation.fetch_add(1, std::memory_order_release);
  return {};
}

std::optional<HostAllocation> find(const void* memory, std::size_t bytes) {
  Table& allocations = table();
  const auto* address = static_cast<const std::byte*>(memory);
  const std::scoped_lock lock(allocations.mutex);
  auto after = allocations.by_address.upper_bound(address);
  if (after == allocations.by_address.begin()) return std::nullopt;
  const auto& [base, entry] = *std::prev(after);
  const std::size_t offset = static_cast<std::size_t>(address - base);
  if (offset > entry.mapping.bytes() || bytes > entry.mapping.bytes() - offset) return std::nullopt;
  return HostAllocation{entry.id, entry.mapping.data(), entry.mapping.bytes(), entry.memory_fd.get()};
}

std::uint64_t generation() { return table().generation.load(std::memory_order_acquire); }

}  // namespace hawser::device
