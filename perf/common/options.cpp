// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "perf/common/exit_codes.h"

namespace hawser::perf {
namespace {

constexpr int kMostRanks = 1 << 16;
constexpr int kMost = 1 << 30;

// What the command line says as text, before it is understood.
struct Texts {
  std::string min_bytes, max_bytes, step_bytes, sizes;
  std::string op = "sum";
  std::string type = "float";
  std::string root = "0";
  int average = 1;
  int parallel_init = 0;
  std::map<std::string, std::string> without_meaning;  ///< by letter
};

// Options of nccl-tests that steer GPUs only. They are accepted so that existing command lines run.
struct WithoutMeaning {
  const char* letter;
  const char* name;
  const char* off;  ///< the value that asks for nothing
};
constexpr WithoutMeaning kWithoutMeaning[] = {
    {"z", "blocking", "0"},         {"y", "stream_null", "0"},           {"G", "cudagraph", "0"},
    {"C", "report_cputime", "0"},   {"R", "local_register", "0"},        {"x", "cta_policy", "0"},
    {"V", "device_cta_count", "0"}, {"S", "report_timestamps", "0"},     {"M", "memory", "0"},
    {"I", "per_iter_timing", "0"},  {"D", "device_implementation", "0"}, {"K", "per_iter_skip", "0"},
};

void add_sizes(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("-b,--minbytes", texts.min_bytes, "smallest size, with K, M, G (32M)");
  app.add_option("-e,--maxbytes", texts.max_bytes, "largest size (32M)");
  app.add_option("-i,--stepbytes", texts.step_bytes, "step between sizes (1M)");
  app.add_option("-f,--stepfactor", options.step_factor, "factor between sizes (off)");
  app.add_option("--sizes", texts.sizes, "exactly these sizes, comma separated; in place of -b -e -i -f");
}

void add_amounts(CLI::App& app, Options& options) {
  app.add_option("-t,--nthreads", options.threads, "threads per process (1)")
      ->check(CLI::Range(1, kMostRanks))
      ->type_name("N");
  app.add_option("-g,--ngpus", options.ranks_per_thread, "ranks per thread (1)")
      ->check(CLI::Range(1, kMostRanks))
      ->type_name("N");
  app.add_option("-n,--iters", options.iterations, "timed iterations (20); 0: as many as fill about 20 ms")
      ->check(CLI::Range(0, kMost))
      ->type_name("N");
  app.add_option("-m,--agg_iters", options.aggregated, "calls per iteration, in one group (1)")
      ->check(CLI::Range(1, kMostRanks))
      ->type_name("N");
  app.add_option("-w,--warmup_iters", options.warmup, "untimed iterations before each measurement (1)")
      ->check(CLI::Range(0, kMost))
      ->type_name("N");
  app.add_option("-N,--run_cycles", options.cycles, "how often the table is run (1); 0: for ever")
      ->check(CLI::Range(0, kMost))
      ->type_name("N");
  app.add_option("-c,--check", options.check, "checked calls per size (1); 0: no check")
      ->check(CLI::Range(0, kMost))
      ->type_name("N");
  app.add_option("-T,--timeout", options.timeout_s, "end with code 4 if a size takes longer, in seconds (0: never)")
      ->check(CLI::Range(0, kMost))
      ->type_name("N");
  app.add_option("-u,--unalign", options.unalign, "bytes by which buffers miss their alignment (0)")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
}

void add_choices(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("-o,--op", texts.op, "sum, prod, min, max, avg, mulsum or all (sum)");
  app.add_option("-d,--datatype", texts.type, "float, half, bfloat16, int8, ..., or all (float)");
  app.add_option("-r,--root", texts.root, "root rank, or all (0)");
  app.add_option("-p,--parallel_init", texts.parallel_init, "1: every thread initialises its own ranks (0)");
  app.add_option("-a,--average", texts.average, "figure of the ranks: 0 rank 0's, 1 mean, 2 min, 3 max (1)")
      ->check(CLI::Range(0, 3))
      ->type_name("N");
  app.add_option("-J,--output_file", options.json_path, "write a report in JSON");
}

void add_our_own(CLI::App& app, Options& options) {
  const std::map<std::string, Alloc> allocs{{"malloc", Alloc::kMalloc}, {"mem", Alloc::kMem}};
  const std::map<std::string, Stat> stats{{"mean", Stat::kMean}, {"median", Stat::kMedian}, {"min", Stat::kMin}};
  app.add_option("--alloc", options.alloc, "plain memory, or ncclMemAlloc's (malloc)")
      ->transform(CLI::CheckedTransformer(allocs).description(""))
      ->type_name("malloc|mem");
  app.add_option("--stat", options.stat, "figure of the iterations (mean: all timed as one)")
      ->transform(CLI::CheckedTransformer(stats).description(""))
      ->type_name("mean|median|min");
  app.add_flag_callback(
      "--touch", [&options] { options.touch = Touch::kEachIteration; }, "rewrite the inputs before every iteration");
}

void add_without_meaning(CLI::App& app, Texts& texts) {
  for (const WithoutMeaning& each : kWithoutMeaning)
    app.add_option(fmt::format("-{},--{}", each.letter, each.name), texts.without_meaning[each.letter],
                   "accepted; has no meaning on the host");
}

Refusal refuse(std::string text) { return {kExitBadSizes, std::move(text) + "\n"}; }

std::optional<Refusal> read_size(const std::string& text, const char* name, std::size_t& size) {
  if (text.empty()) return std::nullopt;
  const std::optional<std::size_t> parsed = parse_size(text);
  if (!parsed) return refuse(fmt::format("{} {} is not a size", name, text));
  size = *parsed;
  return std::nullopt;
}

std::optional<Refusal> read_sizes(const Texts& texts, Options& options) {
  if (auto refusal = read_size(texts.min_bytes, "--minbytes", options.min_bytes)) return refusal;
  if (auto refusal = read_size(texts.max_bytes, "--maxbytes", options.max_bytes)) return refusal;
  if (auto refusal = read_size(texts.step_bytes, "--stepbytes", options.step_bytes)) return refusal;
  for (std::size_t at = 0; at < texts.sizes.size();) {
    const std::size_t comma = std::min(texts.sizes.find(',', at), texts.sizes.size());
    const std::string text = texts.sizes.substr(at, comma - at);
    const std::optional<std::size_t> size = parse_size(text);
    if (!size) return refuse(fmt::format("--sizes: '{}' is not a size", text));
    options.sizes.push_back(*size);
    at = comma + 1;
  }
  if (options.min_bytes > options.max_bytes)
    return refuse(fmt::format("--minbytes {} is above --maxbytes {}", options.min_bytes, options.max_bytes));
  if (options.step_factor <= 1 && options.step_bytes == 0 && options.min_bytes < options.max_bytes)
    return refuse("--stepbytes 0 never reaches --maxbytes");
  return std::nullopt;
}

std::optional<Refusal> read_choices(const Texts& texts, Options& options) {
  if (texts.op == "all") {
    options.ops.assign(all_ops().begin(), all_ops().end());
  } else if (const std::optional<Op> op = op_named(texts.op)) {
    options.ops = {*op};
  } else {
    return refuse(fmt::format("--op {} is none of sum, prod, min, max, avg, mulsum, all", texts.op));
  }
  if (texts.type == "all") {
    options.types.clear();
    for (const TypeInfo& each : all_types()) options.types.push_back(each.type);
  } else if (const std::optional<ncclDataType_t> type = type_named(texts.type)) {
    options.types = {*type};
  } else {
    return refuse(fmt::format("--datatype {} is not known", texts.type));
  }
  const char* end = texts.root.data() + texts.root.size();
  const auto [at, error] = std::from_chars(texts.root.data(), end, options.root);
  if (texts.root == "all") options.root = -1;
  if (texts.root != "all" && (error != std::errc() || at != end || options.root < 0))
    return refuse(fmt::format("--root {} is neither a rank nor all", texts.root));
  options.average = static_cast<Average>(texts.average);
  options.parallel_init = texts.parallel_init != 0;
  return std::nullopt;
}

std::optional<Refusal> read_without_meaning(const Texts& texts, Options& options) {
  for (const WithoutMeaning& each : kWithoutMeaning) {
    const std::string& value = texts.without_meaning.at(each.letter);
    if (value.empty() || value == each.off) continue;
    if (std::string_view(each.letter) == "D")
      return Refusal{kExitNotImplemented, "kernels of the device API (-D) need a GPU; leave -D out\n"};
    options.notes.push_back(fmt::format("-{} {} has no meaning on the host and is ignored", each.letter, value));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> parse_size(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view kUnits = "KMGT";
  if (unit.size() > 1) return std::nullopt;
  if (unit.size() == 1) {
    const std::size_t power = kUnits.find(static_cast<char>(unit[0] & ~0x20));  // either case
    if (power == std::string_view::npos) return std::nullopt;
    value = std::ldexp(value, 10 * static_cast<int>(power + 1));
  }
  constexpr double kMostBytes = 1e15;
  if (value > kMostBytes) return std::nullopt;
  return static_cast<std::size_t>(value);
}

std::variant<Options, Refusal> parse_options(std::string_view program, int argc, const char* const* argv) {
  Options options;
  Texts texts;
  CLI::App app("Times and checks a collective of the NCCL API. Takes the options of nccl-tests.", std::string(program));
  add_sizes(app, options, texts);
  add_amounts(app, options);
  add_choices(app, options, texts);
  add_our_own(app, options);
  add_without_meaning(app, texts);
  try {  // CLI11 reports by exceptions; they end here.
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Refusal{kExitOk, app.help()};
  } catch (const CLI::ExtrasError& error) {  // nccl-tests shows its usage, too, and ends with 0
    return Refusal{kExitOk, fmt::format("{}\n{}", error.what(), app.help())};
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  if (auto refusal = read_sizes(texts, options)) return *refusal;
  if (auto refusal = read_choices(texts, options)) return *refusal;
  if (auto refusal = read_without_meaning(texts, options)) return *refusal;
  return options;
}

std::vector<std::size_t> sizes_of(const Options& options) {
  if (!options.sizes.empty()) return options.sizes;
  std::vector<std::size_t> sizes;
  for (std::size_t size = options.min_bytes; size <= options.max_bytes;) {
    sizes.push_back(size);
    const std::size_t next = options.step_factor > 1 ? size * options.step_factor : size + options.step_bytes;
    if (next <= size) break;
    size = next;
  }
  return sizes;
}

}  // namespace hawser::perf
