// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Names a process for good: numbers come again, a number with its start time does not. Used by perf/common/launch.cpp.
#pragma once

#include <sys/types.h>

#include <string>

namespace hawser::perf {

/// "pid-start time" of a process; empty if there is none.
std::string process_id(pid_t pid);

/// Whether the process that process_id() named still runs. False for text that is no such name.
bool is_alive(const std::string& id);

}  // namespace hawser::perf
