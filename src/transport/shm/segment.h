// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A rank's own shared segment (a memfd: nothing of it outlives the last process that maps it) and a peer's, mapped
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/status.h"
#include "transport/shm/layout.h"

namespace hawser::transport::shm {

/// The segment that this rank owns: control page, then streams. Address space is reserved at once, memory when a stream
/// is added.
class OwnSegment {
 public:
  /// `limit_bytes`: the most that all streams may take.
  static Result<std::unique_ptr<OwnSegment>> create(std::size_t limit_bytes);

  [[nodiscard]] Control& control() const { return *reinterpret_cast<Control*>(mapping_->data()); }
  [[nodiscard]] int memory_fd() const { return memory_fd_.get(); }
  [[nodiscard]] const std::shared_ptr<Mapping>& mapping() const { return mapping_; }
  /// Address of a stream with this key; added and announced in the directory on first demand. kSystemError, with what
  /// to do, if memory or the segment is exhausted.
  Result<StreamHead*> stream(std::uint64_t key, std::uint32_t slot_bytes, std::uint32_t credit,
                             std::uint32_t receivers);

 private:
  OwnSegment(Fd memory_fd, std::shared_ptr<Mapping> mapping)
      : memory_fd_(std::move(memory_fd)), mapping_(std::move(mapping)) {}

  Fd memory_fd_;
  std::shared_ptr<Mapping> mapping_;
  std::size_t used_ = 0;
};

/// A peer's segment.
class PeerSegment {
 public:
  /// Maps a segment received as a descriptor; kRemoteError if it is not a segment of this version.
  static Result<PeerSegment> map(Fd memory_fd);
  /// Shares the mapping of a rank of the same process (so that race detectors see one address).
  static PeerSegment share(std::shared_ptr<Mapping> mapping) { return PeerSegment(std::move(mapping)); }

  [[nodiscard]] Control& control() const { return *reinterpret_cast<Control*>(mapping_->data()); }
  /// The stream, `bytes` long, or null while its owner has not announced it (or announced nonsense).
  [[nodiscard]] StreamHead* find_stream(std::uint64_t key, std::size_t bytes) const;

 private:
  explicit PeerSegment(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
  /// Shared among the ranks of one process as above.
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace hawser::transport::shm
