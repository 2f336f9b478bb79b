// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The command line of the *_perf programs: the options of nccl-tests 2.19 with its letters, long names, defaults and
// exit codes, and a few of our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "perf/common/types.h"

namespace hawser::perf {

/// How the figures of the ranks become one (-a).
enum class Average : std::uint8_t { kRank0 = 0, kMean = 1, kMin = 2, kMax = 3 };
/// Which figure of the iterations a rank reports (--stat). kMean times all iterations as one, back to back.
enum class Stat : std::uint8_t { kMean, kMedian, kMin };
enum class Alloc : std::uint8_t {
  kMalloc,  ///< plain memory, page aligned
  kMem,     ///< ncclMemAlloc
};
enum class Touch : std::uint8_t {
  kNever,
  kEachIteration,  ///< inputs are rewritten before every iteration, which is then timed by itself
};

struct Options {
  int threads = 1;
  int ranks_per_thread = 1;
  std::size_t min_bytes = std::size_t{32} << 20;
  std::size_t max_bytes = std::size_t{32} << 20;
  std::size_t step_bytes = std::size_t{1} << 20;
  std::size_t step_factor = 0;     ///< above 1: sizes grow by this factor, and not by step_bytes
  std::vector<std::size_t> sizes;  ///< --sizes: exactly these; empty: as the four above say
  int iterations = 20;             ///< 0: as many as fill about 20 ms
  int aggregated = 1;
  int warmup = 1;
  int cycles = 1;  ///< 0: for ever
  int check = 1;   ///< checked calls per cell
  std::vector<ncclDataType_t> types{ncclFloat32};
  std::vector<Op> ops{Op::kSum};
  int root = 0;  ///< -1: all
  Average average = Average::kMean;
  Stat stat = Stat::kMean;
  Alloc alloc = Alloc::kMalloc;
  Touch touch = Touch::kNever;
  int timeout_s = 0;  ///< 0: none
  int unalign = 0;    ///< bytes by which buffers miss their alignment
  bool parallel_init = false;
  std::string json_path;           ///< empty: none
  std::vector<std::string> notes;  ///< accepted options that mean nothing without a GPU, a sentence each
};

/// The program is to print `text` and end.
struct Refusal {
  int exit_code;
  std::string text;
};

std::variant<Options, Refusal> parse_options(std::string_view program, int argc, const char* const* argv);

/// The sizes in bytes that the options ask for, in the order of the table.
std::vector<std::size_t> sizes_of(const Options& options);

/// "8", "32K", "1.5M", "2G", "1T" in bytes.
std::optional<std::size_t> parse_size(std::string_view text);

}  // namespace hawser::perf
