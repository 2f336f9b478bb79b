// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A line is put together on the caller's side and written by one write(2), so that lines of threads and processes that
// share a file never mix. Nothing is buffered, so nothing has to be flushed or destroyed when the process ends.
#include "base/log.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/config.h"
#include "base/log_format.h"

namespace hawser::log {

namespace {

/// Levels below are those of Level; this one says that the environment has not been read yet.
constexpr std::uint8_t kUnread = 255;

/// Where lines go. All members are trivially destructible: threads may log until the very end of the process.
struct Sink {
  std::once_flag once;
  std::atomic<std::uint8_t> level = kUnread;  // release after the members below, acquire before them
  int fd = STDOUT_FILENO;
  std::array<char, 256> host{};
  std::chrono::steady_clock::time_point start;
};

constinit Sink sink;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the one log

/// Up to its first dot, as NCCL shows it.
void read_host_name() {
  if (::gethostname(sink.host.data(), sink.host.size() - 1) != 0) {
    sink.host = {"unknown"};
    return;
  }
  const std::string_view name = sink.host.data();
  sink.host.at(std::min(name.size(), name.find('.'))) = '\0';
}

void write_all(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(sink.fd, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_line(Level level, std::string_view text) {
  const Origin origin = {
      .host = sink.host.data(),
      .process = ::getpid(),
      .thread = ::syscall(SYS_gettid),
      .now = std::chrono::system_clock::now(),
      .since_start =
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - sink.start),
  };
  write_all(format_line(level, text, origin));
}

/// Appends, as ranks that share a file must not cut off each other's lines.
int open_log(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
}

void start_log() {
  const LogConfig config = read_log_config();
  const Level level = parse_level(config.level);
  sink.start = std::chrono::steady_clock::now();
  read_host_name();
  const std::string path = expand_file_name(config.file, sink.host.data(), ::getpid());
  const int fd = level == Level::kNone || path.empty() ? STDOUT_FILENO : open_log(path);
  const int error = errno;
  if (fd >= 0) sink.fd = fd;
  sink.level.store(static_cast<std::uint8_t>(level), std::memory_order_release);
  if (fd < 0 && level >= Level::kWarn) {
    write_line(Level::kWarn, fmt::format("NCCL_DEBUG_FILE {} cannot be opened: {}; the log goes to standard output",
                                         path, std::strerror(error)));
  }
}

/// Out of line, so that is_on() stays small. Without memory to read the environment there is no log.
std::uint8_t level_after_start() noexcept {
  try {
    std::call_once(sink.once, start_log);
  } catch (...) {
    sink.level.store(static_cast<std::uint8_t>(Level::kNone), std::memory_order_release);
  }
  return sink.level.load(std::memory_order_acquire);
}

}  // namespace

bool is_on(Level level) {
  std::uint8_t on = sink.level.load(std::memory_order_relaxed);
  if (on == kUnread) [[unlikely]]
    on = level_after_start();
  return static_cast<std::uint8_t>(level) <= on;
}

void write(Level level, std::string_view text) {
  // is_on() starts the log; the acquire behind it makes the sink visible to a thread that did not start it.
  if (!is_on(level) || sink.level.load(std::memory_order_acquire) == kUnread) return;
  try {
    write_line(level, text);
  } catch (...) {
    return;  // no memory for the line: it is lost, as log.h says
  }
}

}  // namespace hawser::log
