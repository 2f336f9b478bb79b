// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "rank_processes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

namespace hawser::tests {
namespace {

using Clock = std::chrono::steady_clock;

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

RankProcesses::RankProcesses(int ranks, const Body& body) : outcomes_(static_cast<std::size_t>(ranks), INT_MIN) {
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  board_ = new (memory) Board();
  const pid_t parent = getpid();
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(99);
      const int outcome = body(rank, *board_);
      std::fflush(nullptr);
      // exit() and not _exit(): leak checkers and coverage report there.
      std::exit(outcome);  // NOLINT(concurrency-mt-unsafe)
    }
    pids_.push_back(child);
  }
}

RankProcesses::~RankProcesses() {
  wait(std::chrono::milliseconds(0));
  munmap(board_, sizeof(Board));
}

void RankProcesses::signal(int rank, int number) const { kill(pid(rank), number); }

bool RankProcesses::await_stage(int rank, int stage, std::chrono::milliseconds limit) const {
  const auto deadline = Clock::now() + limit;
  while (board_->stage[static_cast<std::size_t>(rank)].load() < stage) {
    if (Clock::now() >= deadline) return false;
    nap();
  }
  return true;
}

std::vector<int> RankProcesses::wait(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
    while (outcomes_[rank] == INT_MIN) {
      int status = 0;
      const pid_t ended = waitpid(pids_[rank], &status, WNOHANG);
      if (ended == pids_[rank]) {
        outcomes_[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
      } else if (Clock::now() >= deadline) {
        kill(pids_[rank], SIGKILL);
        waitpid(pids_[rank], &status, 0);
        outcomes_[rank] = -1;
      } else {
        nap();
      }
    }
  }
  return outcomes_;
}

ncclComm_t join(int rank, int ranks, Board& board) {
  if (rank == 0) {
    if (ncclGetUniqueId(&board.id) != ncclSuccess) {
      say(board, rank, ncclGetLastError(nullptr));
      board.has_id.store(-1);
      return nullptr;
    }
    board.has_id.store(1);
  }
  while (board.has_id.load() == 0) nap();
  ncclComm_t comm = nullptr;
  if (board.has_id.load() < 0 || ncclCommInitRank(&comm, ranks, board.id, rank) != ncclSuccess) {
    say(board, rank, ncclGetLastError(nullptr));
    return nullptr;
  }
  return comm;
}

void say(Board& board, int rank, const std::string& text) {
  auto& place = board.text[static_cast<std::size_t>(rank)];
  std::strncpy(place.data(), text.c_str(), place.size() - 1);
}

std::string text_of(const Board& board, int rank) { return board.text[static_cast<std::size_t>(rank)].data(); }

}  // namespace hawser::tests
