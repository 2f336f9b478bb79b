// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/run.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "perf/common/exit_codes.h"
#include "perf/common/launch.h"
#include "perf/common/session.h"

namespace hawser::perf {
namespace {

int refuse(const Refusal& refusal) {
  const bool is_error = refusal.exit_code != kExitOk;
  std::fwrite(refusal.text.data(), 1, refusal.text.size(), is_error ? stderr : stdout);
  return refusal.exit_code;
}

void write_report(const Report& report, const Options& options) {
  if (options.json_path.empty()) return;
  const Result<std::string> name = report.write(options.json_path);
  if (name.is_ok()) {
    fmt::print("# Writing JSON output to {}\n", name.value());
  } else {
    fmt::print(stderr, "# skipping json output; {}\n", name.status().message());
  }
}

}  // namespace

int run(const Collective& collective, int argc, const char* const* argv) {
  const auto parsed = parse_options(collective.program(), argc, argv);
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) return refuse(*refusal);
  const Options& options = std::get<Options>(parsed);
  Result<Launch> launch = join_launch([](const char* name) { return std::getenv(name); });
  if (!launch.is_ok()) {
    fmt::print(stderr, "{}: {}\n", collective.program(), launch.status().message());
    return exit_code_of(launch.status().code());
  }
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return kExitNccl;
  Report report(collective.program(), std::vector<std::string>(argv, argv + argc), options, version);
  const int code = Session(collective, options, launch.value(), report).run();
  if (launch.value().place.process == 0) write_report(report, options);
  return code;
}

}  // namespace hawser::perf
