// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/table.h"

#include <fmt/format.h>

namespace hawser::perf {
namespace {

constexpr int kTimeWidth = 7;
constexpr int kBandwidthWidth = 6;

std::string format_figures(const Figures& figures) {
  // As %g shows it: a large count loses digits, not its column.
  const std::string wrong = figures.wrong ? fmt::format("{:g}", static_cast<double>(*figures.wrong)) : "N/A";
  return fmt::format("  {}  {}  {}  {:>6}", format_number(figures.time_us, kTimeWidth),
                     format_number(figures.algorithm_gbps, kBandwidthWidth),
                     format_number(figures.bus_gbps, kBandwidthWidth), wrong);
}

std::string format_names(const char* size, const char* count, const char* type, const char* op, const char* root,
                         const char* time, const char* bandwidth[2], const char* wrong) {
  std::string line = fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", size, count, type, op, root);
  for (int half = 0; half < 2; ++half)
    line += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", time, bandwidth[0], bandwidth[1], wrong);
  return line + " \n";
}

}  // namespace

std::string format_number(double value, int width) {
  int digits = 0;
  for (double power = 1; value >= power && digits < width + 2; power *= 10) ++digits;
  if (digits < width - 2) return fmt::format("{:{}.2f}", value, width);
  if (digits < width - 1) return fmt::format("{:{}.1f}", value, width);
  if (digits <= width) return fmt::format("{:{}.0f}", value, width);
  return fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

std::string format_preamble(std::string_view program, const Options& options, const Versions& versions) {
  const bool by_factor = options.step_factor > 1;
  std::string text = fmt::format("# hawser perf nccl-headers={} nccl-library={}\n", versions.header, versions.library);
  text += fmt::format("# Collective test starting: {}\n", program);
  text += fmt::format(
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg iters: {} validation: "
      "{} graph: 0 unalign: {}\n",
      options.threads, options.ranks_per_thread, options.min_bytes, options.max_bytes,
      by_factor ? options.step_factor : options.step_bytes, by_factor ? "factor" : "bytes", options.warmup,
      options.iterations, options.aggregated, options.check, options.unalign);
  for (const std::string& each : options.notes) text += fmt::format("# note: {}\n", each);
  return text + "#\n# Using devices\n";
}

std::string format_header() {
  const char* names[] = {"algbw", "busbw"};
  const char* units[] = {"(GB/s)", "(GB/s)"};
  return fmt::format(
             "#\n# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place                       in-place          "
             "\n",
             "", "", "", "", "") +
         format_names("size", "count", "type", "redop", "root", "time", names, "#wrong") +
         format_names("(B)", "(elements)", "", "", "", "(us)", units, "");
}

std::string format_row(const Row& row) {
  const std::string left =
      fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.bytes, row.count, row.type, row.op, row.root);
  constexpr std::size_t kHalfWidth = 33;
  return left + (row.out_of_place ? format_figures(*row.out_of_place) : std::string(kHalfWidth, ' ')) +
         format_figures(row.in_place) + "\n";
}

bool is_fast_enough(double average_gbps, std::optional<double> min_gbps) {
  return !min_gbps || average_gbps >= 0.9 * *min_gbps;
}

std::string format_footer(std::string_view program, int failed_checks, double average_gbps,
                          std::optional<double> min_gbps) {
  const char* verdict = !min_gbps ? "" : is_fast_enough(average_gbps, min_gbps) ? "OK" : "FAILED";
  return fmt::format("# {:<20} : {} {}\n# {:<20} : {:g} {}\n#\n# Collective test concluded: {}\n#\n",
                     "Out of bounds values", failed_checks, failed_checks == 0 ? "OK" : "FAILED", "Avg bus bandwidth",
                     average_gbps, verdict, program);
}

}  // namespace hawser::perf
