// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Runs the ranks of a transport test, as threads or as forked processes, and gives them what tests need beside the
// transport under test: a barrier, shared words, waits with a deadline, contents that show where they came from.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/fd.h"
#include "transport/transport.h"

namespace hawser::transport::suite {

inline constexpr int kMaxRanks = 16;
inline constexpr auto kPatience = std::chrono::seconds(20);

/// Ends a rank's body early, after the failure was reported to GoogleTest.
struct GaveUp {};

/// What all ranks of a run share, in memory that forked processes share, too.
struct Board {
  struct Name {
    std::atomic<std::uint32_t> is_set;
    char address[128];
    std::uint64_t token;
  };
  std::atomic<std::uint32_t> waiting;
  std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> has_failed;  ///< somebody gave up: nobody need wait for it
  std::array<std::atomic<std::uint64_t>, 64> words;
  std::array<Name, kMaxRanks> names;
};

/// A zeroed Board that children forked later share.
class SharedBoard {
 public:
  SharedBoard();
  [[nodiscard]] Board& get() const { return *reinterpret_cast<Board*>(mapping_.data()); }

 private:
  Mapping mapping_;
};

/// Waits until `is_met`, yielding in between. Past the deadline, or when another rank has given up: reports a failure
/// that names `what`, and throws GaveUp.
void await(Board& board, const char* what, const std::function<bool()>& is_met);
/// Until `ranks` ranks have come here.
void barrier(Board& board, int ranks);

/// One rank's view of a run.
struct Rank {
  int rank = 0;
  int ranks = 0;
  std::unique_ptr<Transport> transport;
  Board* board = nullptr;

  void barrier() const { suite::barrier(*board, ranks); }
  /// A barrier of fewer than all, when some have died.
  void barrier_of(int count) const { suite::barrier(*board, count); }
  void await(const char* what, const std::function<bool()>& is_met) const { suite::await(*board, what, is_met); }
  [[nodiscard]] std::atomic<std::uint64_t>& word(std::size_t index) const { return board->words.at(index); }
};
using Body = std::function<void(Rank&)>;
/// Makes the transport of one rank: a collective call, on the rank's own thread. Null after a reported failure.
using Connect = std::function<std::unique_ptr<Transport>(int rank, int ranks, Board& board)>;

/// How ranks become threads and processes.
struct RunOptions {
  int ranks = 2;
  int ranks_per_process = kMaxRanks;  ///< at least `ranks`: all are threads of this process, nothing is forked
  int victim = -1;                    ///< this rank's process is expected to be killed
};
/// Connects all ranks and runs `body` on each. Failures in threads and children become failures of the current test.
void run_ranks(const RunOptions& options, const Connect& connect, const Body& body);

/// `bytes` bytes that depend on the seed and the position.
std::vector<std::byte> pattern(std::uint64_t seed, std::size_t bytes);
/// Whether `data` holds pattern(seed, bytes).
bool holds_pattern(const std::byte* data, std::uint64_t seed, std::size_t bytes);

/// Opens an end; on failure reports it and throws GaveUp.
std::unique_ptr<SendPort> open_send(const Rank& rank, const StreamSpec& spec);
std::unique_ptr<ReceivePort> open_receive(const Rank& rank, const StreamSpec& spec);
void await_credit(const Rank& rank, SendPort& port);
/// Sends pattern(seed, bytes) by whatever places() names, once there is credit. Returns how it landed.
Landing send(const Rank& rank, SendPort& port, std::uint64_t seed, std::uint32_t bytes);
/// The next message, once it is there.
Message await_front(const Rank& rank, ReceivePort& port);
/// Waits for the next message, expects pattern(seed, bytes) and hash_of(seed) in it, and releases it. Returns how it landed.
Landing expect_message(const Rank& rank, ReceivePort& port, std::uint64_t seed, std::uint32_t bytes);
/// The call hash that send() puts on a message.
constexpr std::uint32_t hash_of(std::uint64_t seed) { return static_cast<std::uint32_t>(seed * 2654435761U + 17); }

/// Memory of device/host_memory.h, freed at the end.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory() { reset(); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void reset();
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

}  // namespace hawser::transport::suite
