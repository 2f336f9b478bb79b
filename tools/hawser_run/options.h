// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the command line of hawser-run asks for.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "hawser_run/binding.h"
#include "hawser_run/line_mux.h"

namespace hawser::run {

struct Options {
  int ranks = 0;
  Labels labels = Labels::kOthers;
  std::optional<std::chrono::milliseconds> timeout;
  std::vector<std::string> variables;  ///< NAME=VALUE
  Bind bind = Bind::kAuto;
  bool as_nccl = false;
  std::vector<std::string> program;  ///< with its arguments; never empty unless `help` is set
  std::string help;                  ///< --help was asked for: the text to print, and nothing else to do
};

/// kInvalidUsage with a sentence if the command line is not understood.
Result<Options> parse_options(int argc, const char* const* argv);

}  // namespace hawser::run
