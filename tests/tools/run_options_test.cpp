// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hawser_run/options.h"

namespace hawser::run {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Options> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "hawser-run");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(RunOptions, TheProgramKeepsItsOwnOptions) {
  const auto options = parse({"-n", "4", "prog", "-n", "7", "--label", "--", "-x"});
  ASSERT_TRUE(options.is_ok()) << options.status().message();
  EXPECT_EQ(options.value().ranks, 4);
  EXPECT_EQ(options.value().labels, Labels::kOthers);
  EXPECT_THAT(options.value().program, ElementsAre("prog", "-n", "7", "--label", "--", "-x"));
}

TEST(RunOptions, AllOptions) {
  const auto options = parse({"-n", "2", "--label", "--timeout", "1.5", "-x", "A=b c", "-x", "D=", "--bind", "core",
                              "--as-nccl", "--", "prog", "arg"});
  ASSERT_TRUE(options.is_ok()) << options.status().message();
  EXPECT_EQ(options.value().labels, Labels::kAll);
  EXPECT_EQ(options.value().timeout, milliseconds(1500));
  EXPECT_THAT(options.value().variables, ElementsAre("A=b c", "D="));
  EXPECT_EQ(options.value().bind, Bind::kCore);
  EXPECT_TRUE(options.value().as_nccl);
  EXPECT_THAT(options.value().program, ElementsAre("prog", "arg"));
}

TEST(RunOptions, Defaults) {
  const auto options = parse({"-n", "1", "prog"});
  ASSERT_TRUE(options.is_ok());
  EXPECT_EQ(options.value().timeout, std::nullopt);
  EXPECT_EQ(options.value().bind, Bind::kAuto);
  EXPECT_FALSE(options.value().as_nccl);
}

TEST(RunOptions, WhatIsRefusedAndWhy) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"prog"}, "--ranks"},
      {{"-n", "0", "prog"}, "-n 0"},
      {{"-n", "-3", "prog"}, "-n -3"},
      {{"-n", "99999", "prog"}, "-n 99999"},
      {{"-n", "x", "prog"}, "x"},
      {{"-n", "2"}, "no program"},
      {{"-n", "2", "--"}, "no program"},
      {{"-n", "2", "--wrong", "prog"}, "--wrong"},
      {{"-n", "2", "--timeout", "-1", "prog"}, "--timeout"},
      {{"-n", "2", "--timeout", "nan", "prog"}, "--timeout"},
      {{"-n", "2", "--bind", "socket", "prog"}, "socket"},
      {{"-n", "2", "-x", "=v", "prog"}, "-x =v"},
  };
  for (const auto& [arguments, word] : cases) {
    const auto options = parse(arguments);
    ASSERT_FALSE(options.is_ok()) << word;
    EXPECT_EQ(options.status().code(), Code::kInvalidUsage);
    EXPECT_THAT(options.status().message(), HasSubstr(word));
  }
}

TEST(RunOptions, Help) {
  const auto options = parse({"--help"});
  ASSERT_TRUE(options.is_ok());
  EXPECT_THAT(options.value().help, HasSubstr("--as-nccl"));
}

}  // namespace
}  // namespace hawser::run
