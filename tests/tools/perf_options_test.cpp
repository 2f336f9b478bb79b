// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/common/exit_codes.h"
#include "perf/common/options.h"
#include "perf/common/statistics.h"

namespace hawser::perf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::variant<Options, Refusal> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "all_reduce_perf");
  return parse_options("all_reduce_perf", static_cast<int>(arguments.size()), arguments.data());
}

Options accepted(std::vector<const char*> arguments) {
  auto parsed = parse(std::move(arguments));
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) ADD_FAILURE() << refusal->text;
  return std::holds_alternative<Options>(parsed) ? std::get<Options>(parsed) : Options{};
}

Refusal refused(std::vector<const char*> arguments) {
  auto parsed = parse(std::move(arguments));
  EXPECT_TRUE(std::holds_alternative<Refusal>(parsed));
  return std::holds_alternative<Refusal>(parsed) ? std::get<Refusal>(parsed) : Refusal{-1, ""};
}

TEST(PerfOptions, DefaultsAreThoseOfNcclTests) {
  const Options options = accepted({});
  EXPECT_EQ(options.threads, 1);
  EXPECT_EQ(options.ranks_per_thread, 1);
  EXPECT_EQ(options.min_bytes, 32U << 20);
  EXPECT_EQ(options.max_bytes, 32U << 20);
  EXPECT_EQ(options.step_bytes, 1U << 20);
  EXPECT_EQ(options.iterations, 20);
  EXPECT_EQ(options.warmup, 1);
  EXPECT_EQ(options.aggregated, 1);
  EXPECT_EQ(options.cycles, 1);
  EXPECT_EQ(options.check, 1);
  EXPECT_THAT(options.types, ElementsAre(ncclFloat32));
  EXPECT_THAT(options.ops, ElementsAre(Op::kSum));
  EXPECT_EQ(options.average, Average::kMean);
  EXPECT_EQ(options.timeout_s, 0);
}

TEST(PerfOptions, LettersLongNamesAndGluedValues) {
  const Options letters = accepted({"-b", "8",  "-e128M",   "-f", "2",  "-n",  "5",  "-w",       "3",   "-t", "2",
                                    "-g", "4",  "-c",       "0",  "-o", "max", "-d", "bfloat16", "-a",  "3",  "-m",
                                    "2",  "-J", "out.json", "-N", "0",  "-T",  "9",  "-r",       "all", "-p", "1"});
  const Options names = accepted({"--minbytes=8",
                                  "--maxbytes",
                                  "128M",
                                  "--stepfactor",
                                  "2",
                                  "--iters",
                                  "5",
                                  "--warmup_iters",
                                  "3",
                                  "--nthreads",
                                  "2",
                                  "--ngpus",
                                  "4",
                                  "--check",
                                  "0",
                                  "--op",
                                  "max",
                                  "--datatype",
                                  "bfloat16",
                                  "--average",
                                  "3",
                                  "--agg_iters",
                                  "2",
                                  "--output_file",
                                  "out.json",
                                  "--run_cycles",
                                  "0",
                                  "--timeout",
                                  "9",
                                  "--root",
                                  "all",
                                  "--parallel_init",
                                  "1"});
  for (const Options& each : {letters, names}) {
    EXPECT_EQ(each.min_bytes, 8U);
    EXPECT_EQ(each.max_bytes, 128U << 20);
    EXPECT_EQ(each.step_factor, 2U);
    EXPECT_EQ(each.iterations, 5);
    EXPECT_EQ(each.warmup, 3);
    EXPECT_EQ(each.threads, 2);
    EXPECT_EQ(each.ranks_per_thread, 4);
    EXPECT_EQ(each.check, 0);
    EXPECT_THAT(each.ops, ElementsAre(Op::kMax));
    EXPECT_THAT(each.types, ElementsAre(ncclBfloat16));
    EXPECT_EQ(each.average, Average::kMax);
    EXPECT_EQ(each.aggregated, 2);
    EXPECT_EQ(each.json_path, "out.json");
    EXPECT_EQ(each.cycles, 0);
    EXPECT_EQ(each.timeout_s, 9);
    EXPECT_EQ(each.root, -1);
    EXPECT_TRUE(each.parallel_init);
  }
}

TEST(PerfOptions, OurOwn) {
  const Options options = accepted({"--alloc", "mem", "--touch", "--stat", "median", "-n", "0", "--sizes", "8,1K,2M"});
  EXPECT_EQ(options.alloc, Alloc::kMem);
  EXPECT_EQ(options.touch, Touch::kEachIteration);
  EXPECT_EQ(options.stat, Stat::kMedian);
  EXPECT_EQ(options.iterations, 0);
  EXPECT_THAT(sizes_of(options), ElementsAre(8, 1024, 2 << 20));
}

TEST(PerfOptions, All) {
  const Options options = accepted({"-o", "all", "-d", "all"});
  EXPECT_THAT(options.ops, SizeIs(6));
  EXPECT_THAT(options.types, SizeIs(12));
}

TEST(PerfOptions, HelpAndUnknownOptionsEndWellAsInNcclTests) {
  EXPECT_EQ(refused({"-h"}).exit_code, 0);
  EXPECT_THAT(refused({"--help"}).text, HasSubstr("--minbytes"));
  const Refusal unknown = refused({"--frobnicate"});
  EXPECT_EQ(unknown.exit_code, 0);
  EXPECT_THAT(unknown.text, HasSubstr("--frobnicate"));
  EXPECT_THAT(unknown.text, HasSubstr("--minbytes"));
}

TEST(PerfOptions, BadValuesEndWith255) {
  const std::vector<const char*> cases[] = {{"-b", "8x"},
                                            {"-b", "-1"},
                                            {"-b", "1KB"},
                                            {"-b", "64", "-e", "32"},
                                            {"-i", "0", "-b", "8", "-e", "16"},
                                            {"-n", "many"},
                                            {"-t", "0"},
                                            {"-o", "xor"},
                                            {"-d", "float128"},
                                            {"-a", "4"},
                                            {"-r", "first"},
                                            {"--sizes", "8,,16"},
                                            {"--alloc", "gpu"},
                                            {"--stat", "max"}};
  for (const auto& each : cases) EXPECT_EQ(refused(each).exit_code, kExitBadSizes) << each[0] << " " << each[1];
}

TEST(PerfOptions, WhatMeansNothingWithoutAGpuIsNotedOnce) {
  EXPECT_THAT(accepted({"-G", "0", "-R", "0", "-z", "0"}).notes, SizeIs(0));
  const Options options = accepted({"-G", "4", "-R", "1"});
  ASSERT_THAT(options.notes, SizeIs(2));
  EXPECT_THAT(options.notes[0] + options.notes[1], testing::AllOf(HasSubstr("-G 4"), HasSubstr("-R 1")));
  EXPECT_EQ(refused({"-D", "1"}).exit_code, kExitNotImplemented);
}

TEST(PerfOptions, Sizes) {
  EXPECT_EQ(parse_size("8"), 8U);
  EXPECT_EQ(parse_size("1.5k"), 1536U);
  EXPECT_EQ(parse_size("2G"), std::size_t{2} << 30);
  for (const char* bad : {"", "K", "1KB", "-1", "1e400", "nan", "inf", "0x10", "1 K", "99999T"})
    EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  EXPECT_THAT(sizes_of(accepted({"-b", "8", "-e", "100", "-f", "4"})), ElementsAre(8, 32));
  EXPECT_THAT(sizes_of(accepted({"-b", "8", "-e", "24", "-i", "8"})), ElementsAre(8, 16, 24));
  EXPECT_THAT(sizes_of(accepted({"-b", "0", "-e", "8", "-f", "2"})), ElementsAre(0));
  EXPECT_THAT(sizes_of(accepted({"-b", "8", "-e", "8", "-i", "0"})), ElementsAre(8));
}

TEST(PerfStatistics, Figures) {
  const std::vector<double> odd{5, 1, 3}, even{4, 1, 3, 2};
  EXPECT_EQ(figure_of(Stat::kMean, odd), 3);
  EXPECT_EQ(figure_of(Stat::kMedian, odd), 3);
  EXPECT_EQ(figure_of(Stat::kMedian, even), 2.5);
  EXPECT_EQ(figure_of(Stat::kMin, even), 1);
  EXPECT_EQ(figure_of(Average::kRank0, odd), 5);
  EXPECT_EQ(figure_of(Average::kMean, even), 2.5);
  EXPECT_EQ(figure_of(Average::kMin, odd), 1);
  EXPECT_EQ(figure_of(Average::kMax, even), 4);
}

}  // namespace
}  // namespace hawser::perf
