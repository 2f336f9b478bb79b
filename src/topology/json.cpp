// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "topology/json.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace hawser::topology {
namespace {

using Json = nlohmann::json;
constexpr const char* kFormat = "hawser-topology-1";
constexpr std::size_t kMaxRanks = std::size_t{1} << 20;

Status bad(std::string_view what) { return {Code::kInvalidArgument, fmt::format("topology: {}", what)}; }

/// A number of an object within [low, high]; never throws.
template <class T>
Result<T> number(const Json& object, const char* key, double low, double high) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return bad(fmt::format("'{}' is missing or not a number", key));
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < low || value > high) {
    return bad(fmt::format("'{}' is {}, not within {} and {}", key, value, low, high));
  }
  return static_cast<T>(value);
}

Result<LinkCost> link(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return bad(fmt::format("'{}' is missing or not an object", key));
  LinkCost cost;
  cost.alpha_s = HAWSER_TRY_VALUE(number<double>(*found, "alpha_s", 0, 10));
  cost.beta_s_per_byte = HAWSER_TRY_VALUE(number<double>(*found, "beta_s_per_byte", 0, 1));
  return cost;
}

Result<RankPlace> place(const Json& object) {
  if (!object.is_object()) return bad("an entry of 'ranks' is not an object");
  constexpr double kMostPids = 1U << 30;
  RankPlace place;
  place.node = HAWSER_TRY_VALUE(number<int>(object, "node", 0, kMaxRanks));
  place.local_rank = HAWSER_TRY_VALUE(number<int>(object, "local_rank", 0, kMaxRanks));
  place.numa = HAWSER_TRY_VALUE(number<int>(object, "numa", 0, kMaxRanks));
  place.pid = HAWSER_TRY_VALUE(number<std::int64_t>(object, "pid", 0, kMostPids));
  const auto host = object.find("host");
  if (host == object.end() || !host->is_string()) return bad("'host' is missing or not a string");
  place.host = host->get<std::string>();
  return place;
}

Json link_json(const LinkCost& cost) { return {{"alpha_s", cost.alpha_s}, {"beta_s_per_byte", cost.beta_s_per_byte}}; }

Result<Topology> parse(const Json& json) {
  if (!json.is_object() || json.value("format", Json()) != Json(kFormat)) {
    return bad(fmt::format("not a file of format '{}'", kFormat));
  }
  const auto ranks = json.find("ranks");
  if (ranks == json.end() || !ranks->is_array() || ranks->empty() || ranks->size() > kMaxRanks) {
    return bad("'ranks' is missing, empty or too long");
  }
  constexpr double kMostBytes = 1e15;
  Topology topology;
  for (const Json& entry : *ranks) topology.ranks.push_back(HAWSER_TRY_VALUE(place(entry)));
  topology.nodes = HAWSER_TRY_VALUE(number<int>(json, "nodes", 1, kMaxRanks));
  topology.cores_per_node = HAWSER_TRY_VALUE(number<int>(json, "cores_per_node", 1, kMaxRanks));
  topology.max_ranks_per_node = HAWSER_TRY_VALUE(number<int>(json, "max_ranks_per_node", 1, kMaxRanks));
  topology.last_level_cache_bytes =
      HAWSER_TRY_VALUE(number<std::uint64_t>(json, "last_level_cache_bytes", 0, kMostBytes));
  topology.intra = HAWSER_TRY_VALUE(link(json, "intra"));
  topology.inter = HAWSER_TRY_VALUE(link(json, "inter"));
  topology.gamma_s_per_byte = HAWSER_TRY_VALUE(number<double>(json, "gamma_s_per_byte", 0, 1));
  topology.cross_line_s_per_byte = HAWSER_TRY_VALUE(number<double>(json, "cross_line_s_per_byte", 0, 1));
  topology.dram_s_per_byte = HAWSER_TRY_VALUE(number<double>(json, "dram_s_per_byte", 0, 1));
  for (const RankPlace& rank : topology.ranks) {
    if (rank.node >= topology.nodes)
      return bad(fmt::format("a rank lives on node {} of {}", rank.node, topology.nodes));
  }
  return topology;
}

}  // namespace

std::string to_json(const Topology& topology) {
  Json ranks = Json::array();
  for (const RankPlace& rank : topology.ranks) {
    ranks.push_back({{"node", rank.node},
                     {"local_rank", rank.local_rank},
                     {"numa", rank.numa},
                     {"host", rank.host},
                     {"pid", rank.pid}});
  }
  const Json json = {{"format", kFormat},
                     {"ranks", ranks},
                     {"nodes", topology.nodes},
                     {"cores_per_node", topology.cores_per_node},
                     {"max_ranks_per_node", topology.max_ranks_per_node},
                     {"last_level_cache_bytes", topology.last_level_cache_bytes},
                     {"intra", link_json(topology.intra)},
                     {"inter", link_json(topology.inter)},
                     {"gamma_s_per_byte", topology.gamma_s_per_byte},
                     {"cross_line_s_per_byte", topology.cross_line_s_per_byte},
                     {"dram_s_per_byte", topology.dram_s_per_byte}};
  // A host name is bytes from outside: what is not UTF-8 is replaced, since dump() would throw.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Topology> from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return bad("not JSON");
  return parse(json);
}

Status dump(const Topology& topology, const std::string& path) {
  std::ofstream file(path);
  file << to_json(topology);
  file.close();
  if (!file) return {Code::kSystemError, fmt::format("topology: cannot write '{}': {}", path, std::strerror(errno))};
  return {};
}

Result<Topology> load(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return Status(Code::kSystemError, fmt::format("topology: cannot read '{}': {}", path, std::strerror(errno)));
  Result<Topology> topology = from_json(text.str());
  if (topology.is_ok()) return topology;
  return Status(topology.status().code(), fmt::format("{} (in '{}')", topology.status().message(), path));
}

}  // namespace hawser::topology
