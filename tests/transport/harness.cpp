// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/transport/harness.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

#include "device/host_memory.h"

namespace hawser::transport::suite {
namespace {

using Clock = std::chrono::steady_clock;

void run_one(int rank, const RunOptions& options, const Connect& connect, const Body& body, Board& board) {
  try {
    Rank self;
    self.rank = rank;
    self.ranks = options.ranks;
    self.board = &board;
    self.transport = connect(rank, options.ranks, board);
    if (self.transport == nullptr) throw GaveUp{};
    body(self);
  } catch (const GaveUp&) {
    ADD_FAILURE() << "rank " << rank << " gave up";
    board.has_failed.store(1);
  }
}

/// Ranks [first, last) as threads of this process.
void run_threads(int first, int last, const RunOptions& options, const Connect& connect, const Body& body,
                 Board& board) {
  std::vector<std::jthread> threads;
  for (int rank = first + 1; rank < last; ++rank) {
    threads.emplace_back([&, rank] { run_one(rank, options, connect, body, board); });
  }
  run_one(first, options, connect, body, board);
}

/// The child's exit status as waitpid gives it; -1 and a failure if it does not end in time (it is killed then).
int reap(pid_t child) {
  const Clock::time_point deadline = Clock::now() + 2 * kPatience;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (Clock::now() < deadline) {
      ::poll(nullptr, 0, 1);
      continue;
    }
    ADD_FAILURE() << "a child did not end";
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -1;
  }
}

}  // namespace

SharedBoard::SharedBoard() {
  void* address = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(address, MAP_FAILED);
  mapping_ = Mapping(new (address) Board{}, sizeof(Board));
}

void await(Board& board, const char* what, const std::function<bool()>& is_met) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  for (std::uint32_t polls = 0; !is_met(); ++polls) {
    if (polls % 64 != 0) continue;
    ::sched_yield();
    if (board.has_failed.load() != 0) throw GaveUp{};
    if (Clock::now() < deadline) continue;
    ADD_FAILURE() << "waited in vain for " << what;
    throw GaveUp{};
  }
}

void barrier(Board& board, int ranks) {
  const std::uint32_t generation = board.generation.load();
  if (board.waiting.fetch_add(1) + 1 == static_cast<std::uint32_t>(ranks)) {
    board.waiting.store(0);
    board.generation.fetch_add(1);
    return;
  }
  await(board, "the other ranks at a barrier", [&] { return board.generation.load() != generation; });
}

void run_ranks(const RunOptions& options, const Connect& connect, const Body& body) {
  const SharedBoard shared;
  Board& board = shared.get();
  if (options.ranks_per_process >= options.ranks) return run_threads(0, options.ranks, options, connect, body, board);
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int first = 0; first < options.ranks; first += options.ranks_per_process) {
    const int last = std::min(options.ranks, first + options.ranks_per_process);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0) << std::strerror(errno);
    if (child == 0) {
      run_threads(first, last, options, connect, body, board);
      std::fflush(nullptr);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    const int status = reap(children[i]);
    if (options.victim == static_cast<int>(i) * options.ranks_per_process) {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the victim lives";
      continue;
    }
    EXPECT_TRUE(WIFEXITED(status)) << "child " << i << " ended by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0) << "child " << i << " reported failures";
    if (!WIFEXITED(status)) board.has_failed.store(1);
  }
}

std::vector<std::byte> pattern(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> content(bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (std::byte& byte : content) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::byte>(state >> 56);
  }
  return content;
}

bool holds_pattern(const std::byte* data, std::uint64_t seed, std::size_t bytes) {
  if (bytes == 0) return true;
  if (data == nullptr) return false;
  const std::vector<std::byte> expected = pattern(seed, bytes);
  return std::memcmp(data, expected.data(), bytes) == 0;
}

std::unique_ptr<SendPort> open_send(const Rank& rank, const StreamSpec& spec) {
  Result<std::unique_ptr<SendPort>> port = rank.transport->open_send(spec);
  if (port.is_ok()) return std::move(port).value();
  ADD_FAILURE() << port.status().message();
  throw GaveUp{};
}

std::unique_ptr<ReceivePort> open_receive(const Rank& rank, const StreamSpec& spec) {
  Result<std::unique_ptr<ReceivePort>> port = rank.transport->open_receive(spec);
  if (port.is_ok()) return std::move(port).value();
  ADD_FAILURE() << port.status().message();
  throw GaveUp{};
}

void await_credit(const Rank& rank, SendPort& port) {
  rank.await("credit", [&] { return port.has_credit(); });
}

Landing send(const Rank& rank, SendPort& port, std::uint64_t seed, std::uint32_t bytes) {
  await_credit(rank, port);
  const std::vector<std::byte> content = pattern(seed, bytes);
  const Places places = port.places(bytes);
  for (std::byte* place : places.data) {
    if (bytes > 0) std::memcpy(place, content.data(), bytes);
  }
  const Landing landing = places.landing;
  port.announce(bytes, hash_of(seed));
  return landing;
}

Message await_front(const Rank& rank, ReceivePort& port) {
  const Message* front = nullptr;
  rank.await("a message", [&] {
    front = port.front();
    return front != nullptr;
  });
  return *front;
}

Landing expect_message(const Rank& rank, ReceivePort& port, std::uint64_t seed, std::uint32_t bytes) {
  const Message message = await_front(rank, port);
  EXPECT_EQ(message.bytes, bytes) << "seed " << seed;
  EXPECT_EQ(message.call_hash, hash_of(seed)) << "seed " << seed;
  EXPECT_TRUE(holds_pattern(message.data, seed, std::min(bytes, message.bytes)))
      << "seed " << seed << " bytes " << bytes;
  port.release();
  return message.landing;
}

DeviceMemory::DeviceMemory(std::size_t bytes) {
  Result<void*> memory = device::allocate(bytes);
  EXPECT_TRUE(memory.is_ok()) << memory.status().message();
  if (memory.is_ok()) data_ = static_cast<std::byte*>(memory.value());
}

void DeviceMemory::reset() {
  if (data_ != nullptr) {
    EXPECT_TRUE(device::free(std::exchange(data_, nullptr)).is_ok());
  }
}

}  // namespace hawser::transport::suite
