// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/process_id.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>

namespace hawser::perf {

std::string process_id(pid_t pid) {
  constexpr int kStartTimeField = 22;  // of /proc/<pid>/stat
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string line((std::istreambuf_iterator<char>(file)), {});
  std::size_t at = line.rfind(')');  // ends field 2, the name, which may hold anything
  for (int field = 2; field < kStartTimeField && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return fmt::format("{}-{}", pid, line.substr(at + 1, line.find(' ', at + 1) - at - 1));
}

bool is_alive(const std::string& id) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), pid);
  if (error != std::errc() || pid <= 0 || end == id.data() + id.size() || *end != '-') return false;
  return process_id(pid) == id;
}

}  // namespace hawser::perf
