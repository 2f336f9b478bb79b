// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Nothing gets through the C border, and the last error is one whole text.
#include "api/guard.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "api/last_error.h"
#include "api/missing.h"

namespace hawser::api {
namespace {

TEST(Guard, SuccessLeavesTheLastErrorAlone) {
  set_last_error("before");
  EXPECT_EQ(guard([] { return Status(); }), ncclSuccess);
  EXPECT_STREQ(last_error(), "before");
}

TEST(Guard, EveryFailureIsItsOwnCodeAndItsSentence) {
  for (const Code code : {Code::kDeviceError, Code::kSystemError, Code::kInternalError, Code::kInvalidArgument,
                          Code::kInvalidUsage, Code::kRemoteError, Code::kTimeout}) {
    const std::string sentence = "sentence " + std::to_string(static_cast<int>(code));
    EXPECT_EQ(static_cast<int>(guard([&] { return Status(code, sentence); })), static_cast<int>(code));
    EXPECT_EQ(last_error(), sentence);
  }
}

TEST(Guard, InProgressIsNoFailure) {
  set_last_error("before");
  EXPECT_EQ(guard([] { return Status(Code::kInProgress, "still joining"); }), ncclInProgress);
  EXPECT_STREQ(last_error(), "before");
}

TEST(Guard, MemoryThatRanOutIsASystemError) {
  EXPECT_EQ(guard([]() -> Status { throw std::bad_alloc(); }), ncclSystemError);
  EXPECT_EQ(std::string(last_error()).rfind("out of memory", 0), 0U);
}

TEST(Guard, AnyOtherExceptionIsADefect) {
  EXPECT_EQ(guard([]() -> Status { throw std::runtime_error("x"); }), ncclInternalError);
  EXPECT_EQ(guard([]() -> Status { throw 7; }), ncclInternalError);
  EXPECT_NE(std::strstr(last_error(), "exception"), nullptr);
}

TEST(Missing, AnswersByType) {
  EXPECT_EQ(missing<ncclResult_t>("ncclX"), ncclInvalidUsage);
  EXPECT_EQ(missing<int>("ncclY"), -1);
  const ncclTeam team = missing<ncclTeam>("ncclZ");
  EXPECT_EQ(team.nRanks, 0);
  EXPECT_EQ(team.rank, 0);
  EXPECT_EQ(team.stride, 0);
  EXPECT_EQ(std::string(last_error()).rfind("ncclZ : not implemented", 0), 0U);
}

TEST(LastError, LongTextsAreCut) {
  set_last_error(std::string(5000, 'x'));
  EXPECT_EQ(std::strlen(last_error()), kLastErrorBytes - 1);
  set_last_error(std::string(kLastErrorBytes - 1, 'y'));
  EXPECT_EQ(std::string(last_error()), std::string(kLastErrorBytes - 1, 'y'));
}

TEST(LastError, NoCharacterIsCut) {
  // Two bytes each, the first at an odd place: the last one would be cut in half.
  std::string text = "x";
  for (int i = 0; i < 1000; ++i) text += "\xc3\xa9";
  set_last_error(text);
  const std::string kept = last_error();
  EXPECT_EQ(kept.size(), kLastErrorBytes - 1);
  set_last_error("x" + text);
  EXPECT_EQ(std::string(last_error()).size(), kLastErrorBytes - 2);
}

TEST(LastError, ShorterReplacesLonger) {
  set_last_error("a long sentence");
  set_last_error("short");
  EXPECT_STREQ(last_error(), "short");
  set_last_error("");
  EXPECT_STREQ(last_error(), "");
}

TEST(LastError, IsTheProcesssNotTheThreads) {
  std::jthread([] { set_last_error("from another thread"); }).join();
  EXPECT_STREQ(last_error(), "from another thread");
}

TEST(LastError, NobodySeesHalfOfOneAndHalfOfAnother) {
  constexpr int kRounds = 5000;
  set_last_error("aaaa");
  std::atomic<int> torn = 0;
  {
    std::vector<std::jthread> threads;
    for (const char letter : {'a', 'b', 'c'})
      threads.emplace_back([letter] {
        for (int round = 0; round < kRounds; ++round) set_last_error(std::string(4 + round % 700, letter));
      });
    threads.emplace_back([&torn] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string text = last_error();
        if (text.size() < 4 || text.find_first_not_of(text[0]) != std::string::npos) ++torn;
      }
    });
  }
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace hawser::api
