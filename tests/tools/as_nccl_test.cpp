// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/as_nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

namespace hawser::run {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// A folder of its own, removed at the end.
class AsNccl : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hawser-as-nccl-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path make_file(const fs::path& name, mode_t mode = 0644, std::string_view content = "") {
    fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  fs::path folder_;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(AsNccl, FindsTheLibraryOfAnInstallation) {
  const fs::path library = make_file("lib/libnccl.so.2");
  const auto found = find_library(folder_ / "bin" / "hawser-run");
  ASSERT_TRUE(found.is_ok()) << found.status().message();
  EXPECT_EQ(found.value(), library);
}

TEST_F(AsNccl, FindsTheLibraryOfABuildTree) {
  const fs::path library = make_file("lib/libnccl.so.2");
  const auto found = find_library(folder_ / "tools" / "hawser_run" / "hawser-run");
  ASSERT_TRUE(found.is_ok()) << found.status().message();
  EXPECT_EQ(found.value(), library);
}

TEST_F(AsNccl, SaysWhereItLooked) {
  const auto found = find_library(folder_ / "bin" / "hawser-run");
  ASSERT_FALSE(found.is_ok());
  EXPECT_THAT(found.status().message(), HasSubstr((folder_ / "lib").string()));
}

TEST_F(AsNccl, PutsTheLibraryInFront) {
  const auto alone = preload_variables("/opt/h/lib/libnccl.so.2", nullptr, "");
  ASSERT_TRUE(alone.is_ok());
  EXPECT_THAT(alone.value(), ElementsAre("LD_PRELOAD=/opt/h/lib/libnccl.so.2", "LD_LIBRARY_PATH=/opt/h/lib"));
  const auto before = preload_variables("/opt/h/lib/libnccl.so.2", "/a.so", "/b:/c");
  ASSERT_TRUE(before.is_ok());
  EXPECT_THAT(before.value(),
              ElementsAre("LD_PRELOAD=/opt/h/lib/libnccl.so.2:/a.so", "LD_LIBRARY_PATH=/opt/h/lib:/b:/c"));
}

TEST_F(AsNccl, RefusesPathsThatTheLoaderWouldSplit) {
  for (const char* path : {"/a b/libnccl.so.2", "/a:b/libnccl.so.2", "/$LIB/libnccl.so.2"})
    EXPECT_EQ(preload_variables(path, nullptr, nullptr).status().code(), Code::kInvalidArgument) << path;
}

TEST_F(AsNccl, SeesDtRpathOnly) {
  EXPECT_EQ(overriding_rpath(HAWSER_TEST_RPATH_PROGRAM), "/nowhere/lib");
  EXPECT_EQ(overriding_rpath(HAWSER_TEST_RUNPATH_PROGRAM), std::nullopt);
  EXPECT_EQ(overriding_rpath("/proc/self/status"), std::nullopt);
  EXPECT_EQ(overriding_rpath(folder_ / "missing"), std::nullopt);
  EXPECT_EQ(overriding_rpath(folder_), std::nullopt);
}

// Cuts and random bytes in the headers: no crash, no endless read, whatever it says.
TEST_F(AsNccl, DamagedProgramsAreHarmless) {
  const std::string whole = read_file(HAWSER_TEST_RPATH_PROGRAM);
  ASSERT_GT(whole.size(), 4096U);
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole.substr(0, 1 + random() % whole.size());
    for (int i = 0; i < 8; ++i)
      damaged[random() % std::min<std::size_t>(damaged.size(), 1024)] = static_cast<char>(random());
    const auto rpath = overriding_rpath(make_file("damaged", 0644, damaged));
    EXPECT_LE(rpath.value_or("").size(), 4096U);
  }
}

TEST_F(AsNccl, ResolvesProgramsAsTheShellDoes) {
  const fs::path program = make_file("bin/prog", 0755);
  make_file("first/prog", 0644);  // not executable
  const std::string path = (folder_ / "first").string() + ":" + (folder_ / "bin").string();
  EXPECT_EQ(resolve_program("prog", path.c_str()), program);
  EXPECT_EQ(resolve_program(program.string(), ""), program);
  EXPECT_EQ(resolve_program("no-such-program", path.c_str()), fs::path());
}

}  // namespace
}  // namespace hawser::run
