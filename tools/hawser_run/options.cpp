// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>

namespace hawser::run {
namespace {

constexpr int kMaxRanks = 4096;
constexpr double kMaxTimeoutSeconds = 1e8;

Status refused(std::string text) { return {Code::kInvalidUsage, std::move(text)}; }

// What stands behind the options: the program and its arguments, perhaps behind "--".
Result<std::vector<std::string>> program_of(std::vector<std::string> rest) {
  if (!rest.empty() && rest.front() == "--") {
    rest.erase(rest.begin());
  } else if (!rest.empty() && rest.front().starts_with('-')) {
    return refused(fmt::format("unknown option {}", rest.front()));
  }
  if (rest.empty()) return refused("no program is given");
  return rest;
}

Status check(const Options& options, double timeout_s) {
  if (options.ranks < 1 || options.ranks > kMaxRanks)
    return refused(fmt::format("-n {}: the number of ranks must be 1 to {}", options.ranks, kMaxRanks));
  if (!std::isfinite(timeout_s) || timeout_s < 0 || timeout_s > kMaxTimeoutSeconds)
    return refused(fmt::format("--timeout {}: seconds, 0 (no limit) to {}", timeout_s, kMaxTimeoutSeconds));
  for (const std::string& each : options.variables)
    if (each.empty() || each.front() == '=') return refused(fmt::format("-x {}: NAME=VALUE is wanted", each));
  return {};
}

}  // namespace

Result<Options> parse_options(int argc, const char* const* argv) {
  Options options;
  double timeout_s = 0;
  bool label_all = false;
  const std::map<std::string, Bind> bindings{{"auto", Bind::kAuto}, {"none", Bind::kNone}, {"core", Bind::kCore}};
  CLI::App app("Starts N ranks of a program on this host.", "hawser-run");
  app.prefix_command();
  app.add_option("-n,--ranks", options.ranks, "number of ranks")->required();
  app.add_flag("--label", label_all, "label the lines of all ranks; by default rank 0's are left as they are");
  app.add_option("--timeout", timeout_s, "end the ranks after so many seconds and exit with 124; 0: no limit");
  app.add_option("-x", options.variables, "NAME=VALUE: set a variable for the ranks; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--bind", options.bind,
                 "core: ranks go round the cores; none; auto (default): core if there is one for each of several ranks")
      ->transform(CLI::CheckedTransformer(bindings, CLI::ignore_case).description(""))
      ->type_name("auto|none|core");
  app.add_flag("--as-nccl", options.as_nccl, "let the program load Hawser in place of NCCL");
  app.footer(
      "The program gets HAWSER_RANK, HAWSER_RANKS, HAWSER_LOCAL_RANK and HAWSER_LOCAL_RANKS. The exit code is that\n"
      "of the first rank that failed, 128 + N if signal N ended it.\n");
  try {  // CLI11 reports by exceptions; they end here.
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return refused(error.what());
  }
  HAWSER_TRY(check(options, timeout_s));
  if (timeout_s > 0) options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(timeout_s * 1e3)));
  if (label_all) options.labels = Labels::kAll;
  options.program = HAWSER_TRY_VALUE(program_of(app.remaining()));
  return options;
}

}  // namespace hawser::run
