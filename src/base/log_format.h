// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The pure parts of the log: what NCCL_DEBUG and NCCL_DEBUG_FILE mean and how a line looks. Called by log.cpp alone.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/log.h"

namespace hawser::log {

/// What stands before the text of a line.
struct Origin {
  std::string_view host;  ///< up to its first dot
  long process = 0;
  long thread = 0;
  std::chrono::system_clock::time_point now{};
  std::chrono::milliseconds since_start{0};
};

/// The level that NCCL_DEBUG names; kNone if it names none. TRACE turns debug and trace on.
Level parse_level(std::string_view text);

/// NCCL_DEBUG_FILE with %h and %p replaced. %% stands for %; any other % stays.
std::string expand_file_name(std::string_view pattern, std::string_view host, long process);

/// The whole line, with its end; a warning begins with an empty line. Throws std::bad_alloc only.
std::string format_line(Level level, std::string_view text, const Origin& origin);

}  // namespace hawser::log
