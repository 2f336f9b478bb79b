// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The one logger. Every room writes through it; NCCL_DEBUG sets the level, NCCL_DEBUG_FILE the destination (stdout by
// default, as NCCL). Levels: warn = unexpected but goes on, info = once per communicator, debug = once per object,
// trace = per step. Errors are returned as Status, not logged. Text is lower case, "name value", rank first. Lines look
// like NCCL's: "host:pid:tid [dev] NCCL INFO text".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace hawser::log {

enum class Level : std::uint8_t { kNone, kVersion, kWarn, kInfo, kDebug, kTrace };

/// Whether a line of this level would be written. One relaxed load; any thread.
bool is_on(Level level);
/// Writes one line. Any thread. Never fails: a full disk loses the line.
void write(Level level, std::string_view text);

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (is_on(Level::kWarn)) write(Level::kWarn, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (is_on(Level::kInfo)) write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (is_on(Level::kDebug)) write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void trace(fmt::format_string<Args...> format, Args&&... args) {
  if (is_on(Level::kTrace)) write(Level::kTrace, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace hawser::log
