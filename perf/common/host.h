// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the reports say about this host.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace hawser::perf {

/// Up to the first dot.
std::string host_name();
/// As /proc/cpuinfo names it; "CPU" if it does not.
std::string processor_name();
/// Bytes that can be had without swapping; empty if the kernel does not say.
std::optional<std::size_t> available_memory();

}  // namespace hawser::perf
