// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Starts one rank as a child process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace hawser::run {

/// How to start one rank. Borrowed for the call.
struct RankSpec {
  int rank = 0;
  int ranks = 1;
  const std::vector<std::string>& program;
  const std::vector<std::string>& variables;  ///< NAME=VALUE
  const std::vector<int>& processors;         ///< empty: not bound
  int stdin_fd = -1;                          ///< -1: /dev/null
};

/// A started rank and our ends of what connects us to it. It leads its own process group and dies with this process.
struct Child {
  pid_t pid = -1;
  Fd out;       ///< its stdout
  Fd error;     ///< its stderr
  Fd exchange;  ///< perf/common/run_protocol.h
};

/// Starts the rank. Fails, naming the program and the reason, if it cannot be run: kInvalidArgument if the program is
/// not there, kSystemError otherwise.
Result<Child> spawn(const RankSpec& spec);

}  // namespace hawser::run
