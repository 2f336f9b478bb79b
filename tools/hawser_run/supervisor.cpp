// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/supervisor.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace hawser::run {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{2000};      // between SIGTERM and SIGKILL
constexpr milliseconds kPromptDelay{50};  // a piece of a line that is followed by nothing for so long is shown
constexpr milliseconds kDrainLimit{1000};
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGCHLD};

bool asks_to_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT; }

void set_nonblocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

bool would_block() { return errno == EAGAIN || errno == EINTR; }

int exit_code_of(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? info.si_status : kExitSignalBase + info.si_status;
}

std::string describe(int rank, const siginfo_t& info) {
  if (info.si_code == CLD_EXITED)
    return fmt::format("rank {} (pid {}) exited with code {}", rank, info.si_pid, info.si_status);
  return fmt::format("rank {} (pid {}) was ended by signal {} ({})", rank, info.si_pid, info.si_status,
                     ::strsignal(info.si_status));
}

}  // namespace

// What one entry of the poll set is about.
struct Supervisor::Watch {
  enum class Kind { kSignals, kInput, kOut, kError, kExchangeIn, kExchangeOut } kind;
  int rank = -1;
};

Supervisor::Supervisor(const Options& options)
    : options_(options),
      out_(options.ranks, options.labels),
      error_(options.ranks, options.labels),
      switchboard_(options.ranks) {}

int Supervisor::run() {
  if (const Status started = start(); !started.is_ok()) {
    const int code = started.code() == Code::kInvalidArgument ? kExitNotFound : kExitCannotRun;
    fail(code, started.message());
  }
  while (!all_exited()) serve_once();
  // What ranks have left behind in their process groups ends with the job. The ranks are not reaped yet, so the ids
  // still belong to them.
  signal_ranks(SIGKILL);
  drain();
  reap();
  return failure_.value_or(0);
}

Status Supervisor::start() {
  HAWSER_TRY(open_signals());
  HAWSER_TRY(input_.open());
  const std::vector<std::vector<int>> places = place_ranks(options_.bind, options_.ranks, allowed_cores());
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const RankSpec spec{.rank = rank,
                        .ranks = options_.ranks,
                        .program = options_.program,
                        .variables = options_.variables,
                        .processors = places[static_cast<std::size_t>(rank)],
                        .stdin_fd = rank == 0 ? input_.rank_0_stdin() : -1};
    ranks_.push_back({.child = HAWSER_TRY_VALUE(spawn(spec))});
    const Child& child = ranks_.back().child;
    for (const Fd* each : {&child.out, &child.error, &child.exchange}) set_nonblocking(*each);
  }
  input_.started();
  if (options_.timeout) time_limit_ = Clock::now() + *options_.timeout;
  return {};
}

Status Supervisor::open_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int each : kSignals) sigaddset(&set, each);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.is_open()) return {Code::kSystemError, fmt::format("signalfd: {}", std::strerror(errno))};
  return {};
}

std::vector<Supervisor::Watch> Supervisor::watches(std::vector<pollfd>& fds) const {
  std::vector<Watch> list;
  const auto add = [&](pollfd fd, Watch watch) {
    if (fd.fd < 0) return;
    fds.push_back(fd);
    list.push_back(watch);
  };
  add({signals_.get(), POLLIN, 0}, {Watch::Kind::kSignals});
  add(input_.interest(), {Watch::Kind::kInput});
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    const Child& child = ranks_[static_cast<std::size_t>(rank)].child;
    add({child.out.get(), POLLIN, 0}, {Watch::Kind::kOut, rank});
    add({child.error.get(), POLLIN, 0}, {Watch::Kind::kError, rank});
    add({child.exchange.get(), POLLIN, 0}, {Watch::Kind::kExchangeIn, rank});
    if (!switchboard_.due(rank).empty()) add({child.exchange.get(), POLLOUT, 0}, {Watch::Kind::kExchangeOut, rank});
  }
  return list;
}

int Supervisor::wait_ms() const {
  std::optional<Clock::time_point> next = time_limit_;
  if (kill_at_ && (!next || *kill_at_ < *next)) next = kill_at_;
  std::optional<milliseconds> wait;
  if (next) wait = std::max(std::chrono::ceil<milliseconds>(*next - Clock::now()), milliseconds(0));
  if ((out_.holds_prompt() || error_.holds_prompt()) && (!wait || kPromptDelay < *wait)) wait = kPromptDelay;
  constexpr milliseconds kLongest{3600 * 1000};
  return wait ? static_cast<int>(std::min(*wait, kLongest).count()) : -1;
}

void Supervisor::serve_once() {
  std::vector<pollfd> fds;
  const std::vector<Watch> list = watches(fds);
  const int ready = ::poll(fds.data(), fds.size(), wait_ms());
  if (ready == 0) {
    show(STDOUT_FILENO, out_.flush_prompt());
    show(STDERR_FILENO, error_.flush_prompt());
  }
  for (std::size_t i = 0; ready > 0 && i < fds.size(); ++i)
    if (fds[i].revents != 0) handle(list[i]);
  check_deadlines();
}

void Supervisor::handle(const Watch& watch) {
  switch (watch.kind) {
    case Watch::Kind::kSignals:
      return read_signals();
    case Watch::Kind::kInput:
      return input_.move();
    case Watch::Kind::kOut:
    case Watch::Kind::kError:
      return read_output(watch.rank, watch.kind == Watch::Kind::kError);
    case Watch::Kind::kExchangeIn:
      return read_exchange(watch.rank);
    case Watch::Kind::kExchangeOut:
      return write_exchange(watch.rank);
  }
}

void Supervisor::read_output(int rank, bool is_error) {
  Child& child = ranks_[static_cast<std::size_t>(rank)].child;
  Fd& fd = is_error ? child.error : child.out;
  LineMux& mux = is_error ? error_ : out_;
  const int sink = is_error ? STDERR_FILENO : STDOUT_FILENO;
  char buffer[65536];
  const ssize_t got = ::read(fd.get(), buffer, sizeof(buffer));
  if (got < 0 && would_block()) return;
  if (got > 0) return show(sink, mux.feed(rank, {buffer, static_cast<std::size_t>(got)}));
  show(sink, mux.finish(rank));
  fd.reset();
}

void Supervisor::read_exchange(int rank) {
  const Fd& fd = ranks_[static_cast<std::size_t>(rank)].child.exchange;
  if (!fd.is_open()) return;
  char buffer[65536];
  const ssize_t got = ::recv(fd.get(), buffer, sizeof(buffer), 0);
  if (got < 0 && would_block()) return;
  if (got <= 0) return close_exchange(rank, {});
  if (const Status read = switchboard_.receive(rank, {buffer, static_cast<std::size_t>(got)}); !read.is_ok())
    close_exchange(rank, read);
}

void Supervisor::write_exchange(int rank) {
  const Fd& fd = ranks_[static_cast<std::size_t>(rank)].child.exchange;
  if (!fd.is_open()) return;
  const std::string_view due = switchboard_.due(rank);
  const ssize_t sent = ::send(fd.get(), due.data(), due.size(), MSG_NOSIGNAL);
  if (sent < 0 && would_block()) return;
  if (sent < 0) return close_exchange(rank, {});
  if (const Status read = switchboard_.wrote(rank, static_cast<std::size_t>(sent)); !read.is_ok())
    close_exchange(rank, read);
}

void Supervisor::close_exchange(int rank, const Status& reason) {
  if (!reason.is_ok())
    show(STDERR_FILENO,
         fmt::format("hawser-run: rank {} broke the protocol of HAWSER_RUN_FD: {}\n", rank, reason.message()));
  ranks_[static_cast<std::size_t>(rank)].child.exchange.reset();
  switchboard_.leave(rank);
}

void Supervisor::read_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      note_exits();
    } else {
      forward(signal);
    }
  }
}

void Supervisor::forward(int signal) {
  // Ranks may choose to outlive one such signal, but not two.
  if (asks_to_end(signal) && ++stop_requests_ > 1) return end_ranks();
  signal_ranks(signal);
  if (signal == SIGTSTP) ::raise(SIGSTOP);
}

void Supervisor::note_exits() {
  std::optional<std::pair<int, siginfo_t>> worst;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    Rank& each = ranks_[static_cast<std::size_t>(rank)];
    siginfo_t info{};
    if (each.has_exited) continue;
    if (::waitid(P_PID, static_cast<id_t>(each.child.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) continue;
    if (info.si_pid == 0) continue;
    each.has_exited = true;
    const bool has_failed = info.si_code != CLD_EXITED || info.si_status != 0;
    // Of several that ended at once, one that a signal ended is the likelier cause.
    const bool explains = !worst || (worst->second.si_code == CLD_EXITED && info.si_code != CLD_EXITED);
    if (has_failed && explains) worst = {rank, info};
  }
  if (!worst || failure_) return;
  const bool others_run = !all_exited();
  fail(exit_code_of(worst->second),
       describe(worst->first, worst->second) + (others_run ? "; ending the other ranks" : ""));
}

void Supervisor::check_deadlines() {
  const Clock::time_point now = Clock::now();
  if (time_limit_ && now >= *time_limit_) {
    time_limit_.reset();
    if (!failure_) fail(kExitTimeout, fmt::format("the time limit of {} is over; ending all ranks", *options_.timeout));
  }
  if (kill_at_ && now >= *kill_at_) {
    kill_at_.reset();
    signal_ranks(SIGKILL);
  }
}

// Records the first failure and ends the job.
void Supervisor::fail(int exit_code, std::string_view sentence) {
  if (failure_) return;
  failure_ = exit_code;
  show(STDERR_FILENO, fmt::format("hawser-run: {}\n", sentence));
  end_ranks();
}

void Supervisor::end_ranks() {
  signal_ranks(SIGTERM);
  signal_ranks(SIGCONT);  // a stopped rank takes SIGTERM only then
  if (!kill_at_) kill_at_ = Clock::now() + kGrace;
}

void Supervisor::signal_ranks(int signal) const {
  for (const Rank& each : ranks_) ::kill(-each.child.pid, signal);
}

// Shows what is still in the pipes. Their other ends are closed now, unless something has left its process group.
void Supervisor::drain() {
  const Clock::time_point limit = Clock::now() + kDrainLimit;
  const auto is_open = [](const Rank& each) { return each.child.out.is_open() || each.child.error.is_open(); };
  while (std::any_of(ranks_.begin(), ranks_.end(), is_open) && Clock::now() < limit) {
    std::vector<pollfd> fds;
    const std::vector<Watch> list = watches(fds);
    if (::poll(fds.data(), fds.size(), static_cast<int>(kPromptDelay.count())) <= 0) continue;
    for (std::size_t i = 0; i < fds.size(); ++i)
      if (fds[i].revents != 0 && list[i].kind != Watch::Kind::kSignals) handle(list[i]);
  }
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    show(STDOUT_FILENO, out_.finish(rank));
    show(STDERR_FILENO, error_.finish(rank));
  }
}

void Supervisor::reap() {
  for (const Rank& each : ranks_) ::waitpid(each.child.pid, nullptr, 0);
}

void Supervisor::show(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(fd, text.data(), text.size());
    if (sent > 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {  // somebody has made our stdout non-blocking
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {  // nobody reads it any more
      if (failure_) return;
      failure_ = kExitSignalBase + SIGPIPE;
      return end_ranks();
    }
  }
}

bool Supervisor::all_exited() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& each) { return each.has_exited; });
}

}  // namespace hawser::run
