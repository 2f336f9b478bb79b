// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The log starts once per process, so each test of the whole runs it in a child of its own.
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/log_format.h"

namespace hawser::log {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

/// Environment of a child: null leaves a variable unset.
struct Setting {
  const char* level = nullptr;
  const char* file = nullptr;
};

void put(const char* name, const char* value) {
  if (value == nullptr) {
    ::unsetenv(name);
  } else {
    ::setenv(name, value, 1);
  }
}

/// Runs `body` in a child and returns what that wrote to its standard output.
std::string output_of(const Setting& setting, const std::function<void()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    put("NCCL_DEBUG", setting.level);
    put("NCCL_DEBUG_FILE", setting.file);
    ::dup2(writer.get(), STDOUT_FILENO);
    body();
    ::_exit(0);
  }
  writer.reset();
  std::string output;
  std::array<char, 4096> piece{};
  for (ssize_t bytes = 0; (bytes = ::read(reader.get(), piece.data(), piece.size())) > 0;) {
    output.append(piece.data(), static_cast<std::size_t>(bytes));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return output;
}

void write_one_of_each() {
  write(Level::kVersion, "version 1");
  warn("rank {} warns", 0);
  info("rank {} informs", 1);
  debug("rank {} debugs", 2);
  trace("rank {} traces", 3);
}

int lines_with(const std::string& output, std::string_view part) {
  std::istringstream lines(output);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(part) != std::string::npos ? 1 : 0;
  return count;
}

Origin origin() { return {.host = "node7", .process = 12, .thread = 34, .since_start = std::chrono::milliseconds(56)}; }

TEST(ParseLevel, KnowsNcclsNamesInAnyCase) {
  EXPECT_EQ(parse_level("VERSION"), Level::kVersion);
  EXPECT_EQ(parse_level("warn"), Level::kWarn);
  EXPECT_EQ(parse_level("Info"), Level::kInfo);
  EXPECT_EQ(parse_level("ABORT"), Level::kInfo);
  EXPECT_EQ(parse_level("trace"), Level::kTrace);
  for (const char* other : {"", "none", "inf", "infos", "3"}) EXPECT_EQ(parse_level(other), Level::kNone) << other;
}

TEST(ExpandFileName, ReplacesHostAndProcess) {
  EXPECT_EQ(expand_file_name("/tmp/log.%h.%p", "node7", 12), "/tmp/log.node7.12");
  EXPECT_EQ(expand_file_name("%p%p%h", "n", 1), "11n");
  EXPECT_EQ(expand_file_name("100%%h %d %", "n", 1), "100%h %d %");
  EXPECT_EQ(expand_file_name("", "n", 1), "");
}

TEST(FormatLine, LooksLikeNccls) {
  EXPECT_EQ(format_line(Level::kVersion, "NCCL version 2", origin()), "NCCL version 2\n");
  EXPECT_EQ(format_line(Level::kInfo, "text", origin()), "node7:12:34 [0] NCCL INFO text\n");
  EXPECT_EQ(format_line(Level::kTrace, "text", origin()), "node7:12:34 [0] 56 NCCL TRACE text\n");
  EXPECT_THAT(format_line(Level::kWarn, "text", origin()),
              MatchesRegex("\n.[0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+. node7:12:34 .0. NCCL WARN text\n"));
}

TEST(Log, IsSilentUnlessAsked) {
  EXPECT_EQ(output_of({}, write_one_of_each), "");
  EXPECT_EQ(output_of({.level = "NONE"}, write_one_of_each), "");
}

TEST(Log, WritesItsLevelAndThoseAbove) {
  EXPECT_EQ(output_of({.level = "version"}, write_one_of_each), "version 1\n");

  const std::string warned = output_of({.level = "WARN"}, write_one_of_each);
  EXPECT_THAT(warned, HasSubstr("version 1\n"));
  EXPECT_EQ(lines_with(warned, "NCCL WARN rank 0 warns"), 1);
  EXPECT_EQ(lines_with(warned, "INFO"), 0);

  const std::string informed = output_of({.level = "info"}, write_one_of_each);
  EXPECT_THAT(informed, ContainsRegex("[^\n]+:[0-9]+:[0-9]+ .0. NCCL INFO rank 1 informs\n"));
  EXPECT_EQ(lines_with(informed, "TRACE"), 0);

  const std::string traced = output_of({.level = "TRACE"}, write_one_of_each);
  EXPECT_EQ(lines_with(traced, "NCCL TRACE rank"), 2);
}

TEST(Log, GoesToTheNamedFileAndAppends) {
  std::string folder = testing::TempDir() + "hawser_log_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string pattern = folder + "/log.%h";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(output_of({.level = "INFO", .file = pattern.c_str()}, [] { info("rank 1 informs"); }), "");
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1U);
  std::ifstream file(files.front());
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_EQ(lines_with(content.str(), "NCCL INFO rank 1 informs"), 2);
  std::filesystem::remove_all(folder);
}

TEST(Log, FallsBackToStandardOutputAndSaysSo) {
  const std::string output =
      output_of({.level = "WARN", .file = "/proc/no/such/folder/log"}, [] { warn("rank 0 warns"); });
  EXPECT_EQ(lines_with(output, "NCCL WARN NCCL_DEBUG_FILE /proc/no/such/folder/log cannot be opened"), 1);
  EXPECT_EQ(lines_with(output, "NCCL WARN rank 0 warns"), 1);
}

TEST(Log, LinesOfManyThreadsDoNotMix) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const std::string output = output_of({.level = "INFO"}, [] {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kThreads; ++rank) {
      threads.emplace_back([rank] {
        for (int line = 0; line < kLines; ++line) info("rank {} line {} end", rank, line);
      });
    }
  });
  EXPECT_EQ(lines_with(output, " end"), kThreads * kLines);
  for (int rank = 0; rank < kThreads; ++rank) {
    EXPECT_EQ(lines_with(output, fmt::format("NCCL INFO rank {} line 7 end", rank)), 1);
  }
  EXPECT_THAT(output, MatchesRegex("([^\n]+ NCCL INFO rank [0-9] line [0-9]+ end\n)+"));
}

}  // namespace
}  // namespace hawser::log
