// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "perf/common/report.h"

namespace hawser::perf {
namespace {

using testing::ElementsAre;

std::vector<std::string> keys_of(const nlohmann::ordered_json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

TEST(PerfReport, HasTheKeysOfNcclTests) {
  Report report("all_reduce_perf", {"prog", "-b", "\xff"}, Options{}, 23203);
  report.add_ranks({{.rank = 0, .pid = 7, .host = "h", .device_hex = "0000:00:00", .device_info = "CPU"}});
  report.add_row(
      {.bytes = 8, .count = 2, .type = "float", .op = "sum", .out_of_place = {}, .in_place = {1.5, 2, 3, 4}});
  report.add_error("no");
  report.set_summary(1, 2.5, std::nullopt);
  const auto json = nlohmann::ordered_json::parse(report.text());
  EXPECT_THAT(keys_of(json), ElementsAre("version", "start_time", "args", "env", "nccl_version", "config", "results",
                                         "out_of_bounds", "average_bus_bandwidth", "errors", "end_time"));
  EXPECT_EQ(json["nccl_version"], 23203);
  EXPECT_EQ(json["config"]["devices"][0]["pid"], 7);
  EXPECT_EQ(json["config"]["step_bytes"], 1 << 20);
  const auto& row = json["results"][0];
  EXPECT_THAT(keys_of(row), ElementsAre("size", "count", "type", "redop", "root", "out_of_place", "in_place",
                                        "actual_iterations", "experiment_name"));
  EXPECT_EQ(row["root"], "    -1");
  EXPECT_TRUE(row["out_of_place"].is_null());
  EXPECT_EQ(row["in_place"]["time"], 1.5);
  EXPECT_EQ(row["in_place"]["nwrong"], 4.0);
  EXPECT_EQ(json["out_of_bounds"]["count"], 1);
  EXPECT_EQ(json["out_of_bounds"]["okay"], "false");
  EXPECT_EQ(json["average_bus_bandwidth"]["okay"], "unchecked");
  EXPECT_EQ(json["errors"][0], "no");
}

TEST(PerfReport, KeepsSecretsToItself) {
  ::setenv("HAWSER_SECRET", "hush", 1);
  ::setenv("NCCL_DEBUG", "INFO", 1);
  const std::string text = Report("p", {}, Options{}, 1).text();
  EXPECT_EQ(text.find("hush"), std::string::npos);
  EXPECT_NE(text.find("NCCL_DEBUG=INFO"), std::string::npos);
  ::unsetenv("HAWSER_SECRET");
  ::unsetenv("NCCL_DEBUG");
}

TEST(PerfReport, WritesOverNothing) {
  std::string folder = (std::filesystem::temp_directory_path() / "hawser-report-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/out.json";
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    const auto file = create_report_file(path);
    ASSERT_TRUE(file.is_ok()) << file.status().message();
    ASSERT_TRUE(write_report(file.value(), std::to_string(i)).is_ok());
    names.push_back(file.value().name);
  }
  EXPECT_THAT(names, ElementsAre(path, path + ".0", path + ".1"));
  std::string first;
  std::ifstream(path) >> first;
  EXPECT_EQ(first, "0");
  EXPECT_FALSE(create_report_file(folder + "/missing/out.json").is_ok());
  std::filesystem::remove_all(folder);
}

TEST(PerfReport, RankLines) {
  EXPECT_EQ(
      format_rank({.rank = 3, .pid = 42, .host = "box", .device = 3, .device_hex = "0000:00:00", .device_info = "CPU"}),
      "#  Rank  3 Group  0 Pid     42 on        box device  3 [0000:00:00] CPU\n");
}

}  // namespace
}  // namespace hawser::perf
