// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/report.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace hawser::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 2;  // of nccl-tests' reports
constexpr int kMostNames = 10000;

std::string now_text() { return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr))); }

// nccl-tests writes truth values as strings.
const char* text_of(bool value) { return value ? "true" : "false"; }

// Only what steers the library or names the place in the run: reports are passed around, environments hold secrets.
Json environment() {
  Json list = Json::array();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable(*each);
    const bool is_wanted =
        variable.starts_with("NCCL_") || variable.starts_with("HAWSER_") || variable.starts_with("LD_PRELOAD=");
    if (is_wanted && !variable.starts_with("HAWSER_SECRET=")) list.push_back(variable);
  }
  return list;
}

Json config_of(const Options& options) {
  Json config;
  config["nthreads"] = options.threads;
  config["ngpus"] = options.ranks_per_thread;
  config["minimum_bytes"] = options.min_bytes;
  config["maximum_bytes"] = options.max_bytes;
  if (options.step_factor > 1) {
    config["step_factor"] = options.step_factor;
  } else {
    config["step_bytes"] = options.step_bytes;
  }
  config["warmup_iters"] = options.warmup;
  config["iterations"] = options.iterations;
  config["aggregated_iterations"] = options.aggregated;
  config["validation"] = options.check;
  config["graph"] = 0;
  config["blocking_collectives"] = text_of(false);
  config["per_iter_timing"] = text_of(false);
  config["parallel_init"] = text_of(options.parallel_init);
  config["alloc"] = options.alloc == Alloc::kMem ? "mem" : "malloc";
  config["touch"] = text_of(options.touch == Touch::kEachIteration);
  constexpr const char* kStats[] = {"mean", "median", "min"};
  config["stat"] = kStats[static_cast<std::size_t>(options.stat)];
  return config;
}

Json json_of(const std::optional<Figures>& figures) {
  if (!figures) return nullptr;
  Json json;
  json["time"] = figures->time_us;
  json["alg_bw"] = figures->algorithm_gbps;
  json["bus_bw"] = figures->bus_gbps;
  json["nwrong"] = figures->wrong ? Json(static_cast<double>(*figures->wrong)) : Json(nullptr);
  return json;
}

Result<Fd> open_new(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.is_open()) return file;
  const Code code = errno == EEXIST ? Code::kInvalidUsage : Code::kSystemError;
  return Status(code, fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace

std::string format_rank(const RankInfo& rank) {
  return fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n", rank.rank, rank.group,
                     rank.pid, rank.host, rank.device, rank.device_hex, rank.device_info);
}

Report::Report(std::string_view program, const std::vector<std::string>& arguments, const Options& options,
               int library_version)
    : program_(program) {
  json_["version"] = kFormatVersion;
  json_["start_time"] = now_text();
  json_["args"] = arguments;
  json_["env"] = environment();
  json_["nccl_version"] = library_version;
  json_["config"] = config_of(options);
  json_["results"] = Json::array();
  json_["errors"] = Json::array();
}

void Report::add_ranks(const std::vector<RankInfo>& ranks) {
  Json list = Json::array();
  for (const RankInfo& each : ranks) {
    list.push_back({{"rank", each.rank},
                    {"group", each.group},
                    {"pid", each.pid},
                    {"hostname", each.host},
                    {"device", each.device},
                    {"device_hex", each.device_hex},
                    {"device_info", each.device_info}});
  }
  json_["config"]["devices"] = std::move(list);
}

void Report::add_row(const Row& row) {
  Json json;
  json["size"] = row.bytes;
  json["count"] = row.count;
  json["type"] = row.type;
  json["redop"] = row.op;
  json["root"] = fmt::format("{:>6}", row.root);
  json["out_of_place"] = json_of(row.out_of_place);
  json["in_place"] = json_of(row.in_place);
  json["actual_iterations"] = row.iterations;
  json["experiment_name"] = program_;
  json_["results"].push_back(std::move(json));
}

void Report::add_error(std::string_view sentence) { json_["errors"].push_back(sentence); }

void Report::set_summary(int failed_checks, double average_gbps, std::optional<double> min_gbps) {
  json_["out_of_bounds"] = {{"count", failed_checks}, {"okay", text_of(failed_checks == 0)}};
  json_["average_bus_bandwidth"] = {{"bandwidth", average_gbps},
                                    {"okay", min_gbps ? text_of(is_fast_enough(average_gbps, min_gbps)) : "unchecked"}};
}

std::string Report::text() const {
  Json whole = json_;
  // The errors stand behind the summary, the end behind all.
  Json errors = std::move(whole["errors"]);
  whole.erase("errors");
  whole["errors"] = std::move(errors);
  whole["end_time"] = now_text();
  // Arguments may hold any bytes; what is no UTF-8 is replaced.
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ReportFile> create_report_file(const std::string& path) {
  std::string name = path;
  Result<Fd> file = open_new(name);
  for (int i = 0; !file.is_ok() && file.status().code() == Code::kInvalidUsage && i < kMostNames; ++i) {
    name = fmt::format("{}.{}", path, i);
    file = open_new(name);
  }
  if (!file.is_ok()) return file.status();
  return ReportFile{std::move(file).value(), std::move(name)};
}

Status write_report(const ReportFile& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(file.fd.get(), text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return {Code::kSystemError, fmt::format("{}: {}", file.name, std::strerror(errno))};
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

}  // namespace hawser::perf
