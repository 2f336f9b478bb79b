// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// hawser-explain: for a collective, a size and a number of ranks, which algorithms could do it, what they are predicted to cost, what they
// do cost here, and the plan that the library would run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "base/config.h"
#include "comm/tuning.h"
#include "measure.h"
#include "topology/detect.h"
#include "topology/json.h"

namespace hawser::explain {
namespace {

struct Options {
  std::string collective = "all_reduce";
  std::string bytes = "1M";
  std::string type = "float";
  std::string op = "sum";
  int ranks = 2;
  int rank = 0;
  std::string topology_file;
  bool has_measuring = false;
  bool has_plan = true;
};

template <class Enum>
Result<Enum> by_name(const std::string& name, int count, const char* what) {
  std::string known;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    if (name == name_of(value)) return value;
    known += fmt::format(" {}", name_of(value));
  }
  return Status(Code::kInvalidArgument, fmt::format("unknown {} '{}'; known are:{}", what, name, known));
}

Result<std::size_t> parse_bytes(const std::string& text) {
  std::size_t used = 0;
  std::uint64_t value = 0;
  for (; used < text.size() && text[used] >= '0' && text[used] <= '9' && used < 15; ++used) {
    value = value * 10 + static_cast<std::uint64_t>(text[used] - '0');
  }
  const std::string unit = text.substr(used);
  if (used > 0 && unit.empty()) return value;
  if (used > 0 && unit == "K") return value << 10;
  if (used > 0 && unit == "M") return value << 20;
  if (used > 0 && unit == "G") return value << 30;
  return Status(Code::kInvalidArgument, fmt::format("'{}' is no size: digits, then nothing, K, M or G", text));
}

/// Elements as the API counts them, so that bytes_of() comes out at `bytes` or just below.
std::size_t count_for(const algorithms::Call& call, std::size_t bytes, int ranks) {
  algorithms::Call one = call;
  one.count = 1;
  const std::size_t unit = algorithms::bytes_of(one, ranks);
  return bytes / std::max<std::size_t>(unit, 1);
}

Result<topology::Topology> topology_for(const Options& options) {
  if (!options.topology_file.empty()) return topology::load(options.topology_file);
  topology::Topology topology = topology::uniform(options.ranks, options.ranks);
  const topology::Machine machine = topology::detect();
  topology.cores_per_node = machine.cores;
  topology.last_level_cache_bytes = machine.cache_bytes;
  return topology;
}

std::string microseconds(double seconds) { return fmt::format("{:.2f}", seconds * 1e6); }

std::string measured(const Options& options, const algorithms::Call& call, const algorithms::Choice& candidate) {
  if (!options.has_measuring) return "-";
  const Result<double> seconds = measure_s(call, options.ranks, std::string(candidate.algorithm->name()));
  return seconds.is_ok() ? microseconds(seconds.value()) : "failed: " + seconds.status().message();
}

Status explain(const Options& options) {
  algorithms::Call call;
  call.collective = HAWSER_TRY_VALUE(by_name<Collective>(options.collective, kCollectiveCount, "collective"));
  call.type = HAWSER_TRY_VALUE(by_name<DataType>(options.type, kDataTypeCount, "type"));
  call.op = HAWSER_TRY_VALUE(by_name<ReduceOp>(options.op, kReduceOpCount, "operation"));
  call.count = count_for(call, HAWSER_TRY_VALUE(parse_bytes(options.bytes)), options.ranks);
  const Config config = HAWSER_TRY_VALUE(read_config());
  const topology::Topology topology = HAWSER_TRY_VALUE(topology_for(options));
  if (options.rank < 0 || options.rank >= topology.size()) {
    return {Code::kInvalidArgument, fmt::format("rank {} of {} ranks", options.rank, topology.size())};
  }
  const std::vector<algorithms::Choice> candidates = algorithms::candidates(call, topology);
  fmt::print("{} of {} {} ({} bytes, {}), {} ranks on {} host(s), {} core(s) each\n\n", options.collective, call.count,
             options.type, algorithms::bytes_of(call, topology.size()), options.op, topology.size(), topology.nodes,
             topology.cores_per_node);
  fmt::print("  {:<20} {:>14} {:>14}  {}\n", "algorithm", "predicted us", "measured us", "what it does");
  for (const algorithms::Choice& candidate : candidates) {
    fmt::print("  {:<20} {:>14} {:>14}  {}\n", candidate.algorithm->name(), microseconds(candidate.cost_s),
               measured(options, call, candidate), candidate.algorithm->summary());
    std::fflush(stdout);
  }
  const algorithms::Choice choice = HAWSER_TRY_VALUE(algorithms::select(call, topology, config.algorithm));
  const plan::Plan plan = choice.algorithm->build(call, topology, options.rank);
  const comm::Tuning tuning = comm::tune(plan, call, topology, config);
  fmt::print("\nchosen: {}{}, tiles of {} bytes, credit {}\n", choice.algorithm->name(),
             config.algorithm.empty() ? ", the cheapest predicted" : " (by HAWSER_ALGO or NCCL_ALGO)",
             tuning.tile_bytes, tuning.credit);
  if (options.has_plan) fmt::print("\n{}", plan::print(plan));
  return {};
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Which algorithms could do a collective, what they cost, and the plan that would run.",
               "hawser-explain");
  bool has_no_plan = false;
  app.add_option("collective", options.collective, "all_reduce, all_gather, all_to_all")->capture_default_str();
  app.add_option("-b,--bytes", options.bytes, "size as nccl-tests counts it, e.g. 64K")->capture_default_str();
  app.add_option("-n,--ranks", options.ranks, "number of ranks")->capture_default_str()->check(CLI::Range(1, 4096));
  app.add_option("-d,--type", options.type, "element type")->capture_default_str();
  app.add_option("-o,--op", options.op, "reduction")->capture_default_str();
  app.add_option("-r,--rank", options.rank, "whose plan to print")->capture_default_str();
  app.add_option("-t,--topology", options.topology_file, "topology file (HAWSER_TOPO_DUMP_FILE writes one)");
  app.add_flag("-m,--measure", options.has_measuring, "run every candidate here, in as many processes as ranks");
  app.add_flag("--no-plan", has_no_plan, "print the table only");
  CLI11_PARSE(app, argc, argv);
  options.has_plan = !has_no_plan;
  const Status outcome = explain(options);
  if (!outcome.is_ok()) fmt::print(stderr, "hawser-explain: {}\n", outcome.message());
  return outcome.is_ok() ? 0 : 1;
}

}  // namespace
}  // namespace hawser::explain

int main(int argc, char** argv) { return hawser::explain::run(argc, argv); }
