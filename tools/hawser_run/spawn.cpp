// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace hawser::run {
namespace {

Status system_error(const char* what) {
  return {Code::kSystemError, fmt::format("{}: {}", what, std::strerror(errno))};
}

struct Pair {
  Fd ours;
  Fd theirs;
};

Result<Pair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2");
  return Pair{Fd(ends[0]), Fd(ends[1])};
}

Result<Pair> make_socket() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair");
  return Pair{Fd(ends[0]), Fd(ends[1])};
}

void set_variable(const char* name, int value) { ::setenv(name, fmt::to_string(value).c_str(), 1); }

void set_environment(const RankSpec& spec, int exchange_fd) {
  for (const std::string& each : spec.variables) {
    const std::size_t equals = each.find('=');
    // A name alone (as other launchers allow) means: pass it on, and the ranks inherit everything anyway.
    if (equals == std::string::npos) continue;
    ::setenv(each.substr(0, equals).c_str(), each.c_str() + equals + 1, 1);
  }
  set_variable("HAWSER_RANK", spec.rank);
  set_variable("HAWSER_RANKS", spec.ranks);
  set_variable("HAWSER_LOCAL_RANK", spec.rank);
  set_variable("HAWSER_LOCAL_RANKS", spec.ranks);
  set_variable("HAWSER_RUN_FD", exchange_fd);
}

void bind_to(const std::vector<int>& processors) {
  if (processors.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int each : processors) CPU_SET(static_cast<std::size_t>(each), &set);
  // A refusal costs speed, not correctness.
  ::sched_setaffinity(0, sizeof(set), &set);
}

void restore_signals() {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool connect_streams(const RankSpec& spec, const Fd& out, const Fd& error, const Fd& exchange) {
  const int input = spec.stdin_fd >= 0 ? spec.stdin_fd : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) return false;
  if (input != STDIN_FILENO && ::dup2(input, STDIN_FILENO) < 0) return false;
  if (::dup2(out.get(), STDOUT_FILENO) < 0 || ::dup2(error.get(), STDERR_FILENO) < 0) return false;
  return ::fcntl(exchange.get(), F_SETFD, 0) == 0;
}

// Runs in the child; returns errno if the program cannot be run.
int become_rank(const RankSpec& spec, pid_t launcher, const Fd& out, const Fd& error, const Fd& exchange) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The launcher may have died before prctl took effect; nobody will read this code then.
  if (::getppid() != launcher) return ECHILD;
  if (!connect_streams(spec, out, error, exchange)) return errno;
  bind_to(spec.processors);
  set_environment(spec, exchange.get());
  restore_signals();
  std::vector<char*> arguments;
  for (const std::string& each : spec.program) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  return errno;
}

// The child's errno, or 0 once exec has closed its end of the pipe.
int read_outcome(const Fd& outcome) {
  int code = 0;
  ssize_t got = 0;
  do got = ::read(outcome.get(), &code, sizeof(code));
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof(code)) ? code : 0;
}

}  // namespace

Result<Child> spawn(const RankSpec& spec) {
  Pair out = HAWSER_TRY_VALUE(make_pipe());
  Pair error = HAWSER_TRY_VALUE(make_pipe());
  Pair exchange = HAWSER_TRY_VALUE(make_socket());
  Pair outcome = HAWSER_TRY_VALUE(make_pipe());
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork");
  if (pid == 0) {
    const int code = become_rank(spec, launcher, out.theirs, error.theirs, exchange.theirs);
    if (::write(outcome.theirs.get(), &code, sizeof(code)) < 0) ::_exit(126);
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // by both, so that neither can come too late
  outcome.theirs.reset();
  if (const int code = read_outcome(outcome.ours); code != 0) {
    ::waitpid(pid, nullptr, 0);
    const Code kind = code == ENOENT || code == ENOTDIR ? Code::kInvalidArgument : Code::kSystemError;
    return Status(kind, fmt::format("cannot run '{}': {}", spec.program.front(), std::strerror(code)));
  }
  return Child{pid, std::move(out.ours), std::move(error.ours), std::move(exchange.ours)};
}

}  // namespace hawser::run
