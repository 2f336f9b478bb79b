// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/line_mux.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace hawser::run {
namespace {

TEST(LineMux, LabelsAllButRankZero) {
  LineMux mux(3, Labels::kOthers);
  EXPECT_EQ(mux.feed(0, "a\nb\n"), "a\nb\n");
  EXPECT_EQ(mux.feed(2, "c\nd\n"), "[2] c\n[2] d\n");
}

TEST(LineMux, LabelsAllIfAsked) {
  LineMux mux(2, Labels::kAll);
  EXPECT_EQ(mux.feed(0, "a\n\n"), "[0] a\n[0] \n");
}

TEST(LineMux, KeepsUnfinishedLinesBack) {
  LineMux mux(3, Labels::kOthers);
  EXPECT_EQ(mux.feed(1, "he"), "");
  EXPECT_EQ(mux.feed(2, "other\n"), "[2] other\n");
  EXPECT_EQ(mux.feed(1, "llo\nnext"), "[1] hello\n");
  EXPECT_EQ(mux.finish(1), "[1] next\n");
  EXPECT_EQ(mux.finish(1), "");
}

TEST(LineMux, LeavesRankZeroWithoutLineEndAsItIs) {
  LineMux mux(2, Labels::kOthers);
  EXPECT_EQ(mux.feed(0, "no end"), "");
  EXPECT_EQ(mux.finish(0), "no end");
}

TEST(LineMux, ShowsAPromptAndKeepsOthersOutOfItsLine) {
  LineMux mux(2, Labels::kOthers);
  EXPECT_FALSE(mux.holds_prompt());
  EXPECT_EQ(mux.feed(0, "name? "), "");
  EXPECT_TRUE(mux.holds_prompt());
  EXPECT_EQ(mux.flush_prompt(), "name? ");
  EXPECT_FALSE(mux.holds_prompt());
  EXPECT_EQ(mux.feed(0, "thanks\n"), "thanks\n");
  EXPECT_EQ(mux.feed(0, "again? "), "");
  EXPECT_EQ(mux.flush_prompt(), "again? ");
  EXPECT_EQ(mux.feed(1, "x\n"), "\n[1] x\n");
}

TEST(LineMux, LabelledRanksHaveNoPrompt) {
  LineMux mux(1, Labels::kAll);
  EXPECT_EQ(mux.feed(0, "name? "), "");
  EXPECT_FALSE(mux.holds_prompt());
  EXPECT_EQ(mux.flush_prompt(), "");
}

TEST(LineMux, EndlessLineIsNotKept) {
  LineMux mux(2, Labels::kOthers);
  std::string out;
  const std::string piece(1 << 16, 'x');
  for (int i = 0; i < 64; ++i) out += mux.feed(1, piece);
  EXPECT_GT(out.size(), piece.size());
  EXPECT_EQ(out.find('\n'), std::string::npos);
  EXPECT_EQ(out.substr(0, 5), "[1] x");
  EXPECT_EQ(out.find("[1]", 1), std::string::npos) << "labelled once";
}

// Whatever pieces the lines come in, every line comes out whole, with its label, and in its rank's order.
TEST(LineMux, RandomPiecesGiveWholeLines) {
  std::mt19937 random(3);
  constexpr int kRanks = 4;
  LineMux mux(kRanks, Labels::kAll);
  std::string todo[kRanks];
  for (int rank = 0; rank < kRanks; ++rank)
    for (int line = 0; line < 50; ++line)
      todo[rank] += fmt::format("{}:{}\n", line, std::string(random() % 40, static_cast<char>('a' + rank)));
  std::string out;
  for (int left = kRanks; left > 0;) {
    const auto rank = static_cast<int>(random() % kRanks);
    std::string& text = todo[rank];
    if (text.empty()) continue;
    const std::size_t some = 1 + random() % text.size() % 30;
    out += mux.feed(rank, text.substr(0, some));
    text.erase(0, some);
    if (text.empty()) --left;
  }
  int next[kRanks] = {};
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const int rank = line[1] - '0';
    const std::string start = fmt::format("[{}] {}:", rank, next[rank]++);
    ASSERT_EQ(line.substr(0, start.size()), start);
    EXPECT_EQ(line.find_first_not_of(static_cast<char>('a' + rank), start.size()), std::string::npos) << line;
  }
  for (const int each : next) EXPECT_EQ(each, 50);
}

}  // namespace
}  // namespace hawser::run
