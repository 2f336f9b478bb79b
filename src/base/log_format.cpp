// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>

namespace hawser::log {

namespace {

/// The device that NCCL's lines name: the host device is number 0.
constexpr int kDevice = 0;

/// "2031-05-06 07:08:09", local time.
std::string format_time(std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return "-";
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {text.data(), length};
}

}  // namespace

Level parse_level(std::string_view text) {
  struct Name {
    std::string_view text;
    Level level;
  };
  // ABORT lies between INFO and TRACE in NCCL, and has no lines of its own.
  constexpr std::array names = {Name{"VERSION", Level::kVersion}, Name{"WARN", Level::kWarn},
                                Name{"INFO", Level::kInfo}, Name{"ABORT", Level::kInfo}, Name{"TRACE", Level::kTrace}};
  const auto is_same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
  const auto* const found =
      std::ranges::find_if(names, [&](const Name& name) { return std::ranges::equal(text, name.text, is_same); });
  return found == names.end() ? Level::kNone : found->level;
}

std::string expand_file_name(std::string_view pattern, std::string_view host, long process) {
  std::string path;
  while (!pattern.empty()) {
    const std::string_view start = pattern.substr(0, 2);
    const bool is_code = start == "%h" || start == "%p" || start == "%%";
    if (start == "%h") path += host;
    if (start == "%p") path += std::to_string(process);
    if (start == "%%" || !is_code) path += pattern.front();
    pattern.remove_prefix(is_code ? 2 : 1);
  }
  return path;
}

std::string format_line(Level level, std::string_view text, const Origin& origin) {
  const std::string who = fmt::format("{}:{}:{} [{}]", origin.host, origin.process, origin.thread, kDevice);
  switch (level) {
    case Level::kNone:
    case Level::kVersion:
      return fmt::format("{}\n", text);
    case Level::kWarn:
      return fmt::format("\n[{}] {} NCCL WARN {}\n", format_time(origin.now), who, text);
    case Level::kInfo:
      return fmt::format("{} NCCL INFO {}\n", who, text);
    case Level::kDebug:
    case Level::kTrace:
      return fmt::format("{} {} NCCL TRACE {}\n", who, origin.since_start.count(), text);
  }
  return {};
}

}  // namespace hawser::log
