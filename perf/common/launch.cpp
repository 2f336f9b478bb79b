// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/launch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "perf/common/process_id.h"

namespace hawser::perf {
namespace {

// The variables by which one kind of launcher tells a process its place; local_* may be null.
struct Dialect {
  const char* process;
  const char* processes;
  const char* local_process;
  const char* local_processes;
  const char* job;
};

constexpr Dialect kHawser{"HAWSER_RANK", "HAWSER_RANKS", "HAWSER_LOCAL_RANK", "HAWSER_LOCAL_RANKS", "HAWSER_RUN_FD"};
constexpr Dialect kOthers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_ID"},
};

Status refused(std::string text) { return {Code::kInvalidUsage, std::move(text)}; }

std::optional<int> parse_number(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc() || end != view.data() + view.size()) return std::nullopt;
  return value;
}

// Empty: this launcher did not start us.
Result<std::optional<Place>> read_place(const Dialect& dialect, const Environment& environment) {
  const char* process = environment(dialect.process);
  const char* processes = environment(dialect.processes);
  if (process == nullptr || processes == nullptr) return std::optional<Place>();
  const std::optional<int> rank = parse_number(process);
  const std::optional<int> size = parse_number(processes);
  if (!rank || !size || *size < 1 || *rank < 0 || *rank >= *size)
    return refused(fmt::format("{} {} and {} {} are not a rank and a number of ranks", dialect.process, process,
                               dialect.processes, processes));
  Place place{*rank, *size, *rank, *size};
  const std::optional<int> local = parse_number(environment(dialect.local_process));
  const std::optional<int> local_size = parse_number(environment(dialect.local_processes));
  if (local && local_size && *local >= 0 && *local < *local_size) {
    place.local_process = *local;
    place.local_processes = *local_size;
  }
  return std::optional(place);
}

// A name that all processes of the job share: its id where the launcher gives one, else the launcher's own process,
// which is the parent of them all.
std::string job_name(const Dialect& dialect, const Environment& environment) {
  const char* chosen = environment("HAWSER_JOB_ID");
  std::string name = chosen != nullptr ? chosen : "";
  if (name.empty() && environment(dialect.job) != nullptr) {
    name = environment(dialect.job);
    if (const char* step = environment("SLURM_STEP_ID"); step != nullptr) name += fmt::format("-{}", step);
  }
  if (name.empty()) name = process_id(::getppid());
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
  return name;
}

std::string folder_of(const Dialect& dialect, const Environment& environment) {
  const char* base = environment("TMPDIR");
  return fmt::format("{}/hawser-perf-{}-{}", base != nullptr && *base == '/' ? base : "/tmp", ::geteuid(),
                     job_name(dialect, environment));
}

Result<Launch> join_hawser_run(const Place& place, const Environment& environment) {
  const std::optional<int> fd = parse_number(environment(kHawser.job));
  struct stat info {};
  if (!fd || ::fstat(*fd, &info) != 0 || !S_ISSOCK(info.st_mode))
    return refused(
        "HAWSER_RANK is set, but HAWSER_RUN_FD names no open socket: start the program by hawser-run, and let "
        "wrappers between the two pass descriptors on");
  return Launch{place, make_socket_exchange(*fd, place)};
}

// The exchange of a process that is alone: it only ever hears itself.
class SoloExchange final : public Exchange {
 public:
  Status put(std::string_view key, std::string_view value) override {
    pairs_.emplace_back(key, value);
    return {};
  }
  Result<std::string> get(std::string_view key) override {
    const auto found =
        std::find_if(pairs_.rbegin(), pairs_.rend(), [&](const auto& pair) { return pair.first == key; });
    if (found != pairs_.rend()) return found->second;
    return Status(Code::kSystemError, fmt::format("nobody has put '{}', and this process is alone", key));
  }
  Result<std::vector<std::string>> gather(std::string_view value) override {
    return std::vector<std::string>{std::string(value)};
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace

Result<Launch> join_launch(const Environment& environment) {
  if (const auto place = HAWSER_TRY_VALUE(read_place(kHawser, environment)))
    return join_hawser_run(*place, environment);
  for (const Dialect& each : kOthers) {
    const auto place = HAWSER_TRY_VALUE(read_place(each, environment));
    if (!place || place->processes == 1) continue;
    return Launch{*place, HAWSER_TRY_VALUE(make_file_exchange(folder_of(each, environment), *place))};
  }
  return Launch{Place{}, std::make_unique<SoloExchange>()};
}

}  // namespace hawser::perf
