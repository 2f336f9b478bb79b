// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One rank's end of a communicator: owns its transport, its plans and their executions. ncclComm_t is a pointer to it. Calls come from one
// thread at a time (src/group); abort() and async_error() from any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "base/config.h"
#include "base/status.h"
#include "bootstrap/bootstrap.h"
#include "executor/engine.h"
#include "topology/topology.h"
#include "transport/transport.h"

namespace hawser::comm {

class Communicator {
 public:
  struct InitArgs {
    bootstrap::UniqueId id{};
    int rank = 0;
    int ranks = 0;
    int device = 0;
    bool blocking = true;
  };
  /// Collective over all ranks. Fails as bootstrap::Bootstrap::join and transport::shm::create do.
  static Result<std::unique_ptr<Communicator>> create(const InitArgs& args);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return topology_.size(); }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const topology::Topology& topology() const { return topology_; }
  [[nodiscard]] const executor::Context& context() const { return context_; }
  /// Whether a handle from outside points to a living communicator, as far as a magic word can tell.
  static bool is_valid(const Communicator* communicator) {
    return communicator->magic_.load(std::memory_order_relaxed) == kMagic;
  }

  /// Runs a collective on the calling thread; returns when this rank's part is done.
  Status run(const algorithms::Call& call, const executor::Buffers& buffers);
  /// The same, prepared for the engine to run beside others. Valid until the next run() or release_batch().
  Result<executor::Call> prepare(const algorithms::Call& call, const executor::Buffers& buffers);
  /// To be called around engine work on prepared calls: notes what began, keeps the first error.
  Status begin(const algorithms::Call& call);
  Status end(Status outcome);
  void release_batch() { retired_.clear(); }

  /// The first error that the communicator met; success if none. Any thread; notices dead peers.
  Status async_error();
  /// Tells peers that this rank leaves in order. The communicator takes no calls after it.
  Status finalize();
  /// Ends whatever a thread is doing in it with kInvalidUsage, within a second whatever peers do, and tells peers. Any thread.
  void abort();

 private:
  static constexpr std::uint64_t kMagic = 0x4861777365724331ULL;
  static constexpr std::size_t kCacheEntries = 256;

  Communicator(const InitArgs& args, Config config);
  Status connect(const InitArgs& args);
  Result<std::unique_ptr<executor::Execution>> build(const algorithms::Call& call);
  Status fail(Status failure);
  [[nodiscard]] std::string describe(const executor::Blocked& blocked) const;
  /// Waits until no thread is inside run() any more, at most a second.
  bool await_idle();

  struct CacheEntry {
    algorithms::Call call;
    std::unique_ptr<executor::Execution> execution;
    executor::StorePolicy stores;
  };
  /// The table's place for a call, filled with its execution: one load and one compare if it is there.
  Result<CacheEntry*> find(const algorithms::Call& call);

  std::atomic<std::uint64_t> magic_{kMagic};
  int rank_ = 0;
  int device_ = 0;
  Config config_;
  topology::Topology topology_;
  std::unique_ptr<transport::Transport> transport_;
  std::optional<executor::PortTable> ports_;
  executor::Context context_;
  std::array<CacheEntry, kCacheEntries> cache_;
  std::vector<std::unique_ptr<executor::Execution>>
      retired_;  ///< replaced in the cache while a batch may still use them
  algorithms::Call current_;
  std::uint64_t calls_ = 0;

  std::atomic<std::uint32_t> abort_{0};   ///< stored by abort(), polled by waiters
  std::atomic<std::uint32_t> inside_{0};  ///< 1 while a thread runs a call; partner: await_idle
  std::atomic<bool> has_failed_{false};   ///< published after first_error_
  std::atomic<bool> has_left_{false};
  mutable std::mutex error_mutex_;  ///< protects first_error_; no other lock is taken under it
  Status first_error_;
};

}  // namespace hawser::comm
