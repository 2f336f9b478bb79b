// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/binding.h"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>
#include <map>
#include <utility>

namespace hawser::run {
namespace {

int read_topology(int processor, const char* name) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", processor, name));
  int value = -1;
  file >> value;
  return file ? value : -1;
}

std::vector<int> allowed_processors() {
  // More processors than a cpu_set_t holds: the caller then binds nothing, which is always correct.
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int each = 0; each < CPU_SETSIZE; ++each)
    if (CPU_ISSET(static_cast<std::size_t>(each), &set)) processors.push_back(each);
  return processors;
}

}  // namespace

std::vector<std::vector<int>> allowed_cores() {
  std::vector<std::vector<int>> cores;
  std::map<std::pair<int, int>, std::size_t> known;
  for (const int processor : allowed_processors()) {
    const int core = read_topology(processor, "core_id");
    const int package = read_topology(processor, "physical_package_id");
    // Without topology (some containers hide it) every processor counts as a core.
    const auto key = core < 0 ? std::pair{-1, processor} : std::pair{package < 0 ? 0 : package, core};
    const auto [place, is_new] = known.try_emplace(key, cores.size());
    if (is_new) cores.emplace_back();
    cores[place->second].push_back(processor);
  }
  return cores;
}

std::vector<std::vector<int>> place_ranks(Bind bind, int ranks, const std::vector<std::vector<int>>& cores) {
  std::vector<std::vector<int>> places(static_cast<std::size_t>(ranks));
  const bool fits = ranks > 1 && static_cast<std::size_t>(ranks) <= cores.size();
  if (cores.empty() || bind == Bind::kNone || (bind == Bind::kAuto && !fits)) return places;
  for (std::size_t rank = 0; rank < places.size(); ++rank) places[rank] = cores[rank % cores.size()];
  return places;
}

}  // namespace hawser::run
