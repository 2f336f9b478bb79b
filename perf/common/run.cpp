// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/run.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
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

// Made before anything is measured, so that a path that cannot be written is seen at once.
std::optional<ReportFile> open_report(const std::string& path) {
  if (path.empty()) return std::nullopt;
  Result<ReportFile> file = create_report_file(path);
  if (!file.is_ok()) {
    fmt::print("# skipping json output; {}\n", file.status().message());
    return std::nullopt;
  }
  fmt::print("# Writing JSON output to {}\n", file.value().name);
  return std::move(file).value();
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
  const bool is_first = launch.value().place.process == 0;
  const std::optional<ReportFile> file = is_first ? open_report(options.json_path) : std::nullopt;
  Report report(collective.program(), std::vector<std::string>(argv, argv + argc), options, version);
  const int code = Session(collective, options, launch.value(), report).run();
  if (!file) return code;
  if (const Status written = write_report(*file, report.text()); !written.is_ok()) {
    fmt::print(stderr, "{}\n", written.message());
    return code == kExitOk ? kExitSystem : code;
  }
  return code;
}

}  // namespace hawser::perf
