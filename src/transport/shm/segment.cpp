// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace hawser::transport::shm {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t round_to_page(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

Status no_memory(const char* what, std::size_t bytes) {
  return {
      Code::kSystemError,
      fmt::format("{} of {} bytes of shared memory for staging failed: {}; lower NCCL_BUFFSIZE, or give the container "
                  "more memory (docker run --memory)",
                  what, bytes, std::strerror(errno))};
}

Result<std::shared_ptr<Mapping>> map_whole(int memory_fd, std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (address == MAP_FAILED) return no_memory("mmap", bytes);
  return std::make_shared<Mapping>(address, bytes);
}

/// Beyond this limit ftruncate kills the process by a signal instead of failing.
Status check_file_limit(std::size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return {};
  return {Code::kSystemError, fmt::format("the limit on file sizes, {} bytes, leaves no room for a staging segment of "
                                          "{} bytes; raise it (ulimit -f unlimited) or lower NCCL_BUFFSIZE",
                                          limit.rlim_cur, bytes)};
}

std::size_t slot_of(std::uint64_t key) { return static_cast<std::size_t>(key % kDirectoryEntries); }

}  // namespace

Result<std::unique_ptr<OwnSegment>> OwnSegment::create(std::size_t limit_bytes) {
  const std::size_t bytes = round_to_page(sizeof(Control)) + round_to_page(limit_bytes);
  HAWSER_TRY(check_file_limit(bytes));
  Fd memory_fd(::memfd_create("hawser-staging", MFD_CLOEXEC));
  if (!memory_fd.is_open()) return no_memory("memfd_create", bytes);
  if (::ftruncate(memory_fd.get(), static_cast<off_t>(bytes)) != 0) return no_memory("ftruncate", bytes);
  if (::fallocate(memory_fd.get(), 0, 0, round_to_page(sizeof(Control))) != 0) {
    return no_memory("fallocate", sizeof(Control));
  }
  std::shared_ptr<Mapping> mapping = HAWSER_TRY_VALUE(map_whole(memory_fd.get(), bytes));
  std::unique_ptr<OwnSegment> segment(new OwnSegment(std::move(memory_fd), std::move(mapping)));
  Control& control = segment->control();
  control.version = kLayoutVersion;
  control.segment_bytes = bytes;
  control.magic = kMagic;
  segment->used_ = round_to_page(sizeof(Control));
  return segment;
}

Result<StreamHead*> OwnSegment::stream(std::uint64_t key, std::uint32_t slot_bytes, std::uint32_t credit,
                                       std::uint32_t receivers) {
  for (std::size_t probe = 0; probe < kDirectoryEntries; ++probe) {
    DirectoryEntry& entry = control().directory[(slot_of(key) + probe) % kDirectoryEntries];
    const std::uint64_t found = entry.key.load(std::memory_order_relaxed);
    if (found == key) return reinterpret_cast<StreamHead*>(mapping_->data() + entry.offset);
    if (found != 0) continue;
    const std::size_t bytes = round_to_page(stream_bytes(slot_bytes, credit, receivers));
    if (bytes > mapping_->bytes() - used_) {
      return Status(Code::kSystemError,
                    fmt::format("the staging segment of {} bytes is full: another stream of {} bytes does not "
                                "fit; lower NCCL_BUFFSIZE",
                                mapping_->bytes(), bytes));
    }
    if (::fallocate(memory_fd_.get(), 0, static_cast<off_t>(used_), static_cast<off_t>(bytes)) != 0) {
      return no_memory("fallocate", bytes);
    }
    auto* head = new (mapping_->data() + used_) StreamHead{slot_bytes, slot_stride(slot_bytes), credit, receivers};
    entry.offset = used_;
    used_ += bytes;
    entry.key.store(key, std::memory_order_release);  // partner: PeerSegment::find_stream
    return head;
  }
  return Status(Code::kSystemError, fmt::format("more than {} streams in one communicator", kDirectoryEntries));
}

Result<PeerSegment> PeerSegment::map(Fd memory_fd) {
  struct stat info {};
  if (::fstat(memory_fd.get(), &info) != 0) return Status(Code::kRemoteError, "a peer sent no shared segment");
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (bytes < sizeof(Control)) return Status(Code::kRemoteError, "a peer sent a shared segment that is too small");
  std::shared_ptr<Mapping> mapping = HAWSER_TRY_VALUE(map_whole(memory_fd.get(), bytes));
  PeerSegment segment(std::move(mapping));
  const Control& control = segment.control();
  if (control.magic != kMagic || control.version != kLayoutVersion || control.segment_bytes != bytes) {
    return Status(
        Code::kRemoteError,
        fmt::format("a peer's shared segment has layout version {}, this library has {}: all ranks must load the same "
                    "release of Hawser",
                    control.version, kLayoutVersion));
  }
  return segment;
}

StreamHead* PeerSegment::find_stream(std::uint64_t key, std::size_t bytes) const {
  for (std::size_t probe = 0; probe < kDirectoryEntries; ++probe) {
    const DirectoryEntry& entry = control().directory[(slot_of(key) + probe) % kDirectoryEntries];
    const std::uint64_t found = entry.key.load(std::memory_order_acquire);  // partner: OwnSegment::stream
    if (found == 0) return nullptr;
    if (found != key) continue;
    const std::size_t end = mapping_->bytes();
    if (bytes > end || entry.offset > end - bytes || entry.offset % kPair != 0) return nullptr;
    return reinterpret_cast<StreamHead*>(mapping_->data() + entry.offset);
  }
  return nullptr;
}

}  // namespace hawser::transport::shm
