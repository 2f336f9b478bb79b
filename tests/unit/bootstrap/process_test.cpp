// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Ranks as processes, mixed with threads, killed, and roots across fork.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "bootstrap/bootstrap.h"
#include "bootstrap/roots.h"
#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_THREAD__)
constexpr bool kCanStartThreadsAfterFork = false;  // ThreadSanitizer ends such a child
#else
constexpr bool kCanStartThreadsAfterFork = true;
#endif

// What the threads of the parent own is lost in a forked child, and LeakSanitizer would call that a leak. Registered
// before anything of the library, so it runs after the library's exit handlers.
const pid_t parent = ::getpid();
const int registered = std::atexit([] {
  if (::getpid() != parent) ::_exit(0);
});

/// Runs `body` in a child, which ends with its value, without the parent's exit handlers.
pid_t in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Processes, MixWithThreads) {
  constexpr int kRanks = 6;
  constexpr int kThreads = 3;
  const Config config = loopback_config();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok());
  const auto body = [&](int rank) -> Status {
    const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id.value(), rank, kRanks, config, nullptr));
    HAWSER_TRY(gather_and_check(*bootstrap, 0));
    return bootstrap->barrier();
  };
  std::vector<pid_t> children;
  for (int rank = kThreads; rank < kRanks; ++rank)
    children.push_back(in_child([&, rank] { return body(rank).is_ok() ? 0 : 1; }));
  expect_all_ok(on_ranks(kThreads, body));
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
}

TEST(Processes, AKilledRankIsNamedToAllOthers) {
  constexpr int kRanks = 4;
  constexpr int kVictim = 3;
  const Config config = loopback_config();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.is_ok());
  const pid_t victim = in_child([&] {
    const auto bootstrap = Bootstrap::join(id.value(), kVictim, kRanks, config, nullptr);
    if (bootstrap.is_ok() && bootstrap.value()->barrier().is_ok()) ::raise(SIGKILL);
    return 1;
  });
  const TimePoint begun = Clock::now();
  const auto outcomes = on_ranks(kVictim, [&](int rank) -> Status {
    const auto bootstrap = HAWSER_TRY_VALUE(Bootstrap::join(id.value(), rank, kRanks, config, nullptr));
    HAWSER_TRY(bootstrap->barrier());
    return bootstrap->all_gather({}).status();
  });
  EXPECT_LT(Clock::now() - begun, Milliseconds(15'000));
  EXPECT_EQ(exit_code_of(victim), 128 + SIGKILL);
  for (const Status& outcome : outcomes) {
    EXPECT_EQ(outcome.code(), Code::kRemoteError);
    EXPECT_THAT(outcome.message(), HasSubstr("rank 3 on "));
  }
}

TEST(Processes, AKilledCreatorIsNoticed) {
  const Config config = loopback_config();
  if (!kCanStartThreadsAfterFork) GTEST_SKIP() << "ThreadSanitizer does not let a forked child start threads";
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t creator = in_child([&] {
    const auto id = create_unique_id(config);
    if (!id.is_ok() || ::write(pipe_ends[1], id.value().data(), id.value().size()) != 128) return 1;
    return ::pause();
  });
  UniqueId id;
  ASSERT_EQ(::read(pipe_ends[0], id.data(), id.size()), 128);
  Status outcome;
  std::jthread rank([&] { outcome = Bootstrap::join(id, 0, 2, config, nullptr).status(); });
  ::kill(creator, SIGKILL);
  EXPECT_EQ(exit_code_of(creator), 128 + SIGKILL);
  rank.join();
  EXPECT_EQ(outcome.code(), Code::kRemoteError);
  EXPECT_THAT(outcome.message(), HasSubstr("unique id"));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(Processes, AForkedChildMakesItsOwnRootsAndExits) {
  if (!kCanStartThreadsAfterFork) GTEST_SKIP() << "ThreadSanitizer does not let a forked child start threads";
  ASSERT_EQ(registered, 0);
  const Config config = loopback_config();
  const auto parents = create_unique_id(config);  // its thread is not in the child
  ASSERT_TRUE(parents.is_ok());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto own = create_unique_id(config);
    if (!own.is_ok() || running_roots() != 1) ::_exit(1);
    if (!Bootstrap::join(own.value(), 0, 1, config, nullptr).is_ok()) ::_exit(2);
    const auto unused = create_unique_id(config);  // still waiting when the child exits
    if (!unused.is_ok()) ::_exit(3);
    std::exit(0);  // with all exit handlers: they must not wait for the parent's threads
  }
  EXPECT_EQ(exit_code_of(child), 0);
  // The parent's root has not noticed anything.
  expect_all_ok(on_ranks(
      2, [&](int rank) -> Status { return Bootstrap::join(parents.value(), rank, 2, config, nullptr).status(); }));
}

}  // namespace
}  // namespace hawser::bootstrap
