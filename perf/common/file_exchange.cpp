// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// An exchange through files of one folder, for launchers that offer nothing that could be used without linking MPI.
// A file holds the writer's process id and start time, a newline, and the value. A reader believes it only while that
// process lives: job ids come again, and a job that was killed leaves its files behind.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "base/fd.h"
#include "perf/common/launch.h"
#include "perf/common/process_id.h"
#include "perf/common/run_protocol.h"

namespace hawser::perf {
namespace {

constexpr std::chrono::seconds kPatience{300};
constexpr std::chrono::seconds kFarewellPatience{5};
constexpr std::chrono::microseconds kPause{500};

Status failed(const std::string& folder, std::string_view what) {
  return {Code::kSystemError, fmt::format("exchange in {}: {}", folder, what)};
}

// Keys become file names.
std::string file_name(std::string_view key) {
  std::string name = "v-";
  for (const char c : key) fmt::format_to(std::back_inserter(name), "{:02x}", static_cast<unsigned char>(c));
  return name;
}

class FileExchange final : public Exchange {
 public:
  FileExchange(std::string folder, Fd fd, const Place& place)
      : folder_(std::move(folder)), fd_(std::move(fd)), place_(place), self_(process_id(::getpid())) {
    ::unlinkat(fd_.get(), file_name(farewell(place_.process)).c_str(), 0);  // an earlier job's of the same name
  }

  // The others may still read what this process has put, and believe it only while this process lives. So all stay
  // until process 0 has heard that everybody is done and has removed the folder.
  ~FileExchange() override {
    if (!put(farewell(place_.process), {}).is_ok()) return;
    const auto limit = std::chrono::steady_clock::now() + kFarewellPatience;
    const auto wait_until = [limit](const auto& has_come) {
      while (!has_come() && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(kPause);
    };
    if (place_.process != 0) {
      wait_until([this] { return is_folder_gone(); });
      return;
    }
    for (int each = 0; each < place_.processes; ++each)
      wait_until([&] { return ::faccessat(fd_.get(), file_name(farewell(each)).c_str(), F_OK, 0) == 0; });
    remove_folder();
  }

  Status put(std::string_view key, std::string_view value) override {
    if (value.size() > run_protocol::kMaxValueBytes || key.size() > run_protocol::kMaxKeyBytes / 4)
      return failed(folder_, fmt::format("a key of {} and a value of {} bytes are too long", key.size(), value.size()));
    const std::string name = file_name(key);
    const std::string draft = fmt::format("t-{}", place_.process);
    const Fd file(::openat(fd_.get(), draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    const std::string text = fmt::format("{}\n{}", self_, value);
    if (!file.is_open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return failed(folder_, std::strerror(errno));
    // Readers see the whole value or none.
    if (::renameat(fd_.get(), draft.c_str(), fd_.get(), name.c_str()) != 0)
      return failed(folder_, std::strerror(errno));
    return {};
  }

  Result<std::string> get(std::string_view key) override {
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < limit) {
      if (std::optional<std::string> value = read(file_name(key))) return *std::move(value);
      std::this_thread::sleep_for(kPause);
    }
    return failed(folder_, fmt::format("no living process has put '{}' within {} s. All {} processes must run on this "
                                       "host, as one user and with one HAWSER_JOB_ID",
                                       key, kPatience.count(), place_.processes));
  }

  Result<std::vector<std::string>> gather(std::string_view value) override {
    ++round_;
    HAWSER_TRY(put(round_key(round_, place_.process), value));
    std::vector<std::string> values;
    for (int each = 0; each < place_.processes; ++each)
      values.push_back(HAWSER_TRY_VALUE(get(round_key(round_, each))));
    // Everybody has entered this round, so nobody reads the one before.
    if (round_ > 1) ::unlinkat(fd_.get(), file_name(round_key(round_ - 1, place_.process)).c_str(), 0);
    return values;
  }

 private:
  static std::string farewell(int process) { return fmt::format("done.{}", process); }
  static std::string round_key(std::uint64_t round, int process) { return fmt::format("{}.{}", round, process); }

  std::optional<std::string> read(const std::string& name) const {
    const Fd file(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open()) return std::nullopt;
    std::string text(run_protocol::kMaxValueBytes + 128, '\0');
    const ssize_t got = ::read(file.get(), text.data(), text.size());
    if (got <= 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(got));
    const std::size_t line_end = text.find('\n');
    if (line_end == std::string::npos || !is_alive(text.substr(0, line_end))) return std::nullopt;
    return text.substr(line_end + 1);
  }

  bool is_folder_gone() const {
    struct stat info {};
    return ::fstat(fd_.get(), &info) != 0 || info.st_nlink == 0;
  }

  void remove_folder() const {
    const std::unique_ptr<DIR, int (*)(DIR*)> list(::opendir(folder_.c_str()), ::closedir);
    for (const dirent* entry = nullptr; list && (entry = ::readdir(list.get())) != nullptr;)
      ::unlinkat(fd_.get(), entry->d_name, 0);  // refuses "." and ".."
    ::rmdir(folder_.c_str());
  }

  std::string folder_;
  Fd fd_;
  Place place_;
  std::string self_;
  std::uint64_t round_ = 0;
};

}  // namespace

Result<std::unique_ptr<Exchange>> make_file_exchange(const std::string& folder, const Place& place) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed(folder, std::strerror(errno));
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.is_open()) return failed(folder, std::strerror(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return failed(folder, std::strerror(errno));
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return failed(folder, "belongs to another user or is open to others; set TMPDIR to a folder of your own");
  return std::unique_ptr<Exchange>(std::make_unique<FileExchange>(folder, std::move(fd), place));
}

}  // namespace hawser::perf
