// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/host.h"

#include <unistd.h>

#include <climits>
#include <fstream>

namespace hawser::perf {

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) return "localhost";
  const std::string whole(name);
  return whole.substr(0, whole.find('.'));
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
    if (at != std::string::npos) return line.substr(at);
  }
  return "CPU";
}

std::optional<std::size_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kilobytes = 0;
  for (std::string rest; file >> name >> kilobytes; std::getline(file, rest))
    if (name == "MemAvailable:") return kilobytes << 10;
  return std::nullopt;
}

}  // namespace hawser::perf
