// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "perf/common/launch.h"
#include "perf/common/process_id.h"

namespace hawser::perf {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PerfLaunch : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hawser-launch-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Runs `body` in a child process, which exits with what it returns.
  template <class Body>
  static pid_t start(Body body) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(body());
    return pid;
  }
  static int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  }

  fs::path folder_;
};

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST_F(PerfLaunch, AloneWithoutALauncher) {
  const auto launch = join_launch(environment({}));
  ASSERT_TRUE(launch.is_ok());
  EXPECT_EQ(launch.value().place, Place{});
  const auto all = launch.value().exchange->gather("me");
  ASSERT_TRUE(all.is_ok());
  EXPECT_THAT(all.value(), testing::ElementsAre("me"));
  EXPECT_TRUE(launch.value().exchange->put("k", "v").is_ok());
  EXPECT_EQ(launch.value().exchange->get("k").value(), "v");
  EXPECT_FALSE(launch.value().exchange->get("other").is_ok());
}

TEST_F(PerfLaunch, ReadsTheVariablesOfEveryLauncher) {
  const std::map<std::string, std::string> dialects[] = {
      {{"OMPI_COMM_WORLD_RANK", "2"},
       {"OMPI_COMM_WORLD_SIZE", "4"},
       {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
       {"PMIX_NAMESPACE", "77"}},
      {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}},
      {{"SLURM_PROCID", "2"},
       {"SLURM_NTASKS", "4"},
       {"SLURM_LOCALID", "0"},
       {"SLURM_NTASKS_PER_NODE", "2"},
       {"SLURM_JOB_ID", "5"},
       {"SLURM_STEP_ID", "1"}},
  };
  for (auto variables : dialects) {
    variables["TMPDIR"] = folder_.string();
    // In a child, because leaving waits for the other processes of the job, which are not there.
    EXPECT_EQ(wait_for(start([&] {
                const auto launch = join_launch(environment(variables));
                const Place wanted{.process = 2, .processes = 4, .local_process = 0, .local_processes = 2};
                ::_exit(launch.is_ok() && launch.value().place == wanted ? 0 : 1);
                return 0;
              })),
              0)
        << variables.begin()->first;
  }
}

TEST_F(PerfLaunch, RefusesWhatIsNoPlace) {
  for (const auto& [rank, size] : {std::pair{"2", "2"}, {"-1", "2"}, {"x", "2"}, {"0", "0"}, {"0", ""}}) {
    const auto launch = join_launch(environment({{"HAWSER_RANK", rank}, {"HAWSER_RANKS", size}}));
    ASSERT_FALSE(launch.is_ok());
    EXPECT_EQ(launch.status().code(), Code::kInvalidUsage);
  }
}

TEST_F(PerfLaunch, RefusesADescriptorThatIsNoSocket) {
  for (const char* fd : {"0", "9999", "x"}) {
    const auto launch = join_launch(environment({{"HAWSER_RANK", "0"}, {"HAWSER_RANKS", "2"}, {"HAWSER_RUN_FD", fd}}));
    ASSERT_FALSE(launch.is_ok());
    EXPECT_THAT(launch.status().message(), HasSubstr("HAWSER_RUN_FD"));
  }
}

// Four processes put, get and gather; nobody may leave before everybody has read, and nothing is left behind.
TEST_F(PerfLaunch, FilesJoinProcesses) {
  constexpr int kProcesses = 4;
  const std::string job = (folder_ / "job").string();
  std::vector<pid_t> pids;
  for (int process = 0; process < kProcesses; ++process) {
    pids.push_back(start([&] {
      auto made = make_file_exchange(job, {.process = process, .processes = kProcesses});
      if (!made.is_ok()) return 1;
      const std::unique_ptr<Exchange> exchange = std::move(made).value();
      if (process == 0 && !exchange->put("id", "secret\nwith lines").is_ok()) return 2;
      const auto id = exchange->get("id");
      if (!id.is_ok() || id.value() != "secret\nwith lines") return 3;
      for (int round = 0; round < 20; ++round) {
        const auto all = exchange->gather(std::to_string(100 * process + round));
        if (!all.is_ok() || all.value().size() != kProcesses) return 4;
        for (int each = 0; each < kProcesses; ++each)
          if (all.value()[static_cast<std::size_t>(each)] != std::to_string(100 * each + round)) return 5;
      }
      return 0;
    }));
  }
  for (const pid_t each : pids) EXPECT_EQ(wait_for(each), 0);
  EXPECT_FALSE(fs::exists(job));
}

TEST_F(PerfLaunch, ValuesOfTheDeadAreNotBelieved) {
  const std::string job = (folder_ / "job").string();
  // A process that leaves without a farewell, as a killed one does.
  EXPECT_EQ(wait_for(start([&] {
              auto made = make_file_exchange(job, {.process = 0, .processes = 2});
              if (!made.is_ok() || !made.value()->put("id", "stale").is_ok()) return 1;
              ::_exit(0);
              return 0;
            })),
            0);
  ASSERT_FALSE(fs::is_empty(job));
  const pid_t reader = start([&] {
    auto made = make_file_exchange(job, {.process = 1, .processes = 2});
    if (!made.is_ok()) return 1;
    const auto id = made.value()->get("id");
    ::_exit(id.is_ok() && id.value() == "fresh" ? 0 : 2);
    return 0;
  });
  const pid_t writer = start([&] {
    auto made = make_file_exchange(job, {.process = 0, .processes = 2});
    if (!made.is_ok() || !made.value()->put("id", "fresh").is_ok()) return 1;
    // Stays until the reader is done: its parent ends it.
    while (true) ::pause();
  });
  EXPECT_EQ(wait_for(reader), 0);
  ::kill(writer, SIGKILL);
  EXPECT_EQ(wait_for(writer), 1000);
}

TEST_F(PerfLaunch, RefusesAFolderThatOthersCanEnter) {
  const fs::path job = folder_ / "job";
  fs::create_directory(job);
  ASSERT_EQ(::chmod(job.c_str(), 0755), 0);
  const auto made = make_file_exchange(job.string(), {.process = 0, .processes = 2});
  ASSERT_FALSE(made.is_ok());
  EXPECT_THAT(made.status().message(), HasSubstr("TMPDIR"));
  fs::create_directory_symlink(folder_, folder_ / "link");
  EXPECT_FALSE(make_file_exchange((folder_ / "link").string(), {.process = 0, .processes = 2}).is_ok());
}

TEST_F(PerfLaunch, ProcessIds) {
  const std::string self = process_id(::getpid());
  EXPECT_TRUE(is_alive(self));
  EXPECT_FALSE(is_alive(self + "1")) << "another start time";
  for (const char* bad : {"", "-", "1", "x-1", "-1-1", "999999999-1"}) EXPECT_FALSE(is_alive(bad)) << bad;
}

}  // namespace
}  // namespace hawser::perf
