// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The asking end against the serving end, and against a serving end that lies.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/fd.h"
#include "hawser_run/switchboard.h"
#include "perf/common/launch.h"
#include "perf/common/run_protocol.h"

namespace hawser::perf {
namespace {

struct Line {
  Fd asking;
  Fd serving;
};

Line make_line() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

// Serves two ranks with a switchboard until both have hung up.
void serve(run::Switchboard& board, const Line (&lines)[2]) {
  bool is_open[] = {true, true};
  while (is_open[0] || is_open[1]) {
    pollfd fds[2];
    for (int rank = 0; rank < 2; ++rank)
      fds[rank] = {is_open[rank] ? lines[rank].serving.get() : -1,
                   static_cast<short>(board.due(rank).empty() ? POLLIN : POLLIN | POLLOUT), 0};
    ::poll(fds, 2, -1);
    for (int rank = 0; rank < 2; ++rank) {
      if ((fds[rank].revents & POLLOUT) != 0) {
        const ssize_t sent = ::send(fds[rank].fd, board.due(rank).data(), board.due(rank).size(), MSG_NOSIGNAL);
        ASSERT_TRUE(board.wrote(rank, static_cast<std::size_t>(std::max<ssize_t>(sent, 0))).is_ok());
      }
      if ((fds[rank].revents & (POLLIN | POLLHUP)) == 0) continue;
      char buffer[4096];
      const ssize_t got = ::recv(fds[rank].fd, buffer, sizeof(buffer), 0);
      if (got <= 0) {
        is_open[rank] = false;
        board.leave(rank);
      } else {
        ASSERT_TRUE(board.receive(rank, {buffer, static_cast<std::size_t>(got)}).is_ok());
      }
    }
  }
}

TEST(SocketExchange, TwoRanksThroughASwitchboard) {
  Line lines[2] = {make_line(), make_line()};
  run::Switchboard board(2);
  std::thread server([&] { serve(board, lines); });
  std::thread other([&] {
    const auto exchange = make_socket_exchange(lines[1].asking.get(), {.process = 1, .processes = 2});
    const auto id = exchange->get("id");
    EXPECT_TRUE(id.is_ok() && id.value() == std::string(1000, 'i'));
    for (int round = 0; round < 20; ++round) {
      const auto all = exchange->gather("one" + std::to_string(round));
      ASSERT_TRUE(all.is_ok()) << all.status().message();
      EXPECT_EQ(all.value()[0], "zero" + std::to_string(round));
    }
    EXPECT_TRUE(exchange->barrier().is_ok());
    lines[1].asking.reset();
  });
  const auto exchange = make_socket_exchange(lines[0].asking.get(), {.process = 0, .processes = 2});
  EXPECT_TRUE(exchange->put("id", std::string(1000, 'i')).is_ok());
  for (int round = 0; round < 20; ++round) {
    const auto all = exchange->gather("zero" + std::to_string(round));
    ASSERT_TRUE(all.is_ok()) << all.status().message();
    EXPECT_EQ(all.value()[1], "one" + std::to_string(round));
  }
  EXPECT_TRUE(exchange->barrier().is_ok());
  other.join();
  EXPECT_EQ(exchange->gather("too late").status().code(), Code::kSystemError);
  lines[0].asking.reset();
  server.join();
}

TEST(SocketExchange, RefusesTooLongKeysAndValues) {
  Line line = make_line();
  const auto exchange = make_socket_exchange(line.asking.get(), {.process = 0, .processes = 2});
  EXPECT_FALSE(exchange->put("", "v").is_ok());
  EXPECT_FALSE(exchange->put(std::string(run_protocol::kMaxKeyBytes + 1, 'k'), "v").is_ok());
  EXPECT_FALSE(exchange->put("k", std::string(run_protocol::kMaxValueBytes + 1, 'v')).is_ok());
}

// What a serving end answers to a gather of two, before it hangs up.
Status gather_against(std::string_view answer) {
  Line line = make_line();
  EXPECT_EQ(::send(line.serving.get(), answer.data(), answer.size(), 0), static_cast<ssize_t>(answer.size()));
  ::shutdown(line.serving.get(), SHUT_WR);
  return make_socket_exchange(line.asking.get(), {.process = 0, .processes = 2})->gather("x").status();
}

std::string answer(run_protocol::Answer kind, std::string_view body, std::uint32_t claimed) {
  const run_protocol::Header header{claimed, static_cast<std::uint8_t>(kind), {}};
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)).append(body);
}

TEST(SocketExchange, LyingAnswersAreErrors) {
  using namespace std::string_literals;
  using run_protocol::Answer;
  const std::string good("\1\0\0\0a\0\0\0\0", 9);
  EXPECT_TRUE(gather_against(answer(Answer::kOk, good, 9)).is_ok());
  EXPECT_FALSE(gather_against("").is_ok());
  EXPECT_FALSE(gather_against("abc").is_ok());
  EXPECT_FALSE(gather_against(answer(Answer::kOk, good, 0xffffffff)).is_ok());
  EXPECT_FALSE(gather_against(answer(Answer::kOk, good, 10)).is_ok());
  EXPECT_FALSE(gather_against(answer(Answer::kOk, good.substr(0, 5), 5)).is_ok());
  EXPECT_FALSE(gather_against(answer(Answer::kOk, "\1\0"s, 2)).is_ok());
  EXPECT_FALSE(gather_against(answer(Answer::kOk, "\xff\xff\xff\xff"s, 4)).is_ok());
  const Status refused = gather_against(answer(Answer::kError, "because", 7));
  EXPECT_NE(refused.message().find("because"), std::string::npos);
}

}  // namespace
}  // namespace hawser::perf
