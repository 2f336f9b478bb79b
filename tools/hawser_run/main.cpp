// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// hawser-run: starts N ranks of a program on this host. It does not link the library.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>

#include "hawser_run/as_nccl.h"
#include "hawser_run/options.h"
#include "hawser_run/supervisor.h"

namespace {

using hawser::Code;
using hawser::Result;
using hawser::Status;
using hawser::run::Options;

// A pipe or socket of ours must never become one of the three standard descriptors.
void hold_standard_descriptors() {
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0 && fd <= STDERR_FILENO;) fd = ::open("/dev/null", O_RDWR);
}

Status load_as_nccl(Options& options) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {Code::kSystemError, fmt::format("/proc/self/exe: {}", error.message())};
  const auto library = HAWSER_TRY_VALUE(hawser::run::find_library(self));
  const auto variables = HAWSER_TRY_VALUE(
      hawser::run::preload_variables(library, std::getenv("LD_PRELOAD"), std::getenv("LD_LIBRARY_PATH")));
  options.variables.insert(options.variables.begin(), variables.begin(), variables.end());
  const auto program = hawser::run::resolve_program(options.program.front(), std::getenv("PATH"));
  if (const auto rpath = hawser::run::overriding_rpath(program)) {
    fmt::print(
        stderr,
        "hawser-run: warning: {} has DT_RPATH ({}), which the loader searches before LD_LIBRARY_PATH. LD_PRELOAD "
        "still binds it to {}, but a library that it opens by path may find another NCCL there.\n",
        program.string(), *rpath, library.string());
  }
  return {};
}

int run(int argc, const char* const* argv) {
  hold_standard_descriptors();
  Result<Options> parsed = hawser::run::parse_options(argc, argv);
  if (!parsed.is_ok()) {
    fmt::print(stderr, "hawser-run: {}\nTry hawser-run --help.\n", parsed.status().message());
    return hawser::run::kExitUsage;
  }
  Options& options = parsed.value();
  if (!options.help.empty()) {
    fmt::print("{}", options.help);
    return 0;
  }
  if (options.as_nccl) {
    if (const Status loaded = load_as_nccl(options); !loaded.is_ok()) {
      fmt::print(stderr, "hawser-run: {}\n", loaded.message());
      return hawser::run::kExitCannotRun;
    }
  }
  return hawser::run::Supervisor(options).run();
}

}  // namespace

int main(int argc, char** argv) {
  try {  // only the standard library could throw, and only for want of memory
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return hawser::run::kExitCannotRun;
  }
}
