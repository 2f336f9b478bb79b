// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/exchange.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>

#include "topology/detect.h"
#include "topology/json.h"
#include "transport/shm/shm_transport.h"

namespace hawser::comm {
namespace {

constexpr std::uint32_t kFormat = 0x68690001;  // "hi", version 1
constexpr std::size_t kMaxText = 1024;

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Ranks share memory if they run on one kernel and see one network namespace (abstract sockets end at its border).
std::string host_identity(const Config& config, const std::string& host) {
  if (!config.host_id.empty()) return config.host_id;
  struct stat space {};
  const auto inode = ::stat("/proc/self/ns/net", &space) == 0 ? static_cast<std::uint64_t>(space.st_ino) : 0;
  return fmt::format("{}/{}/{}", first_line("/proc/sys/kernel/random/boot_id"), host, inode);
}

class Writer {
 public:
  template <class T>
  void number(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(value));
  }
  void text(std::string_view value) {
    const std::string_view shortened = value.substr(0, kMaxText);
    number(static_cast<std::uint32_t>(shortened.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(shortened.data());
    bytes_.insert(bytes_.end(), bytes, bytes + shortened.size());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what Writer wrote; past the end it yields zeros and remembers that it did.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T number() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      is_good_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  std::string text() {
    const auto size = number<std::uint32_t>();
    if (!is_good_ || size > kMaxText || size > bytes_.size()) {
      is_good_ = false;
      return {};
    }
    std::string value(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  [[nodiscard]] bool is_good() const { return is_good_ && bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool is_good_ = true;
};

}  // namespace

Result<PeerInfo> introduce(const Config& config, std::string control_address) {
  PeerInfo info;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) info.host = name.data();
  info.host_key = hash_text(host_identity(config, info.host));
  info.process_token = HAWSER_TRY_VALUE(transport::shm::process_token());
  info.pid = ::getpid();
  const topology::Machine machine = topology::detect();
  info.cores = machine.cores;
  info.numa = machine.numa;
  info.cache_bytes = machine.cache_bytes;
  info.staging_bytes = config.staging_bytes;
  info.tile_bytes = config.tile_bytes.value_or(0);
  if (!config.topology_file.empty()) {
    const topology::Topology loaded = HAWSER_TRY_VALUE(topology::load(config.topology_file));
    info.topology_hash = hash_text(topology::to_json(loaded));
  }
  info.control_address = std::move(control_address);
  info.algorithm = config.algorithm;
  return info;
}

std::vector<std::byte> encode(const PeerInfo& info) {
  Writer writer;
  writer.number(kFormat);
  writer.number(info.host_key);
  writer.number(info.process_token);
  writer.number(info.pid);
  writer.number(info.cores);
  writer.number(info.numa);
  writer.number(info.cache_bytes);
  writer.number(info.staging_bytes);
  writer.number(info.tile_bytes);
  writer.number(info.topology_hash);
  writer.text(info.host);
  writer.text(info.control_address);
  writer.text(info.algorithm);
  return writer.take();
}

Result<PeerInfo> decode(std::span<const std::byte> bytes, int rank) {
  Reader reader(bytes);
  const auto format = reader.number<std::uint32_t>();
  PeerInfo info;
  info.host_key = reader.number<std::uint64_t>();
  info.process_token = reader.number<std::uint64_t>();
  info.pid = reader.number<std::int64_t>();
  info.cores = reader.number<std::int32_t>();
  info.numa = reader.number<std::int32_t>();
  info.cache_bytes = reader.number<std::uint64_t>();
  info.staging_bytes = reader.number<std::uint64_t>();
  info.tile_bytes = reader.number<std::uint64_t>();
  info.topology_hash = reader.number<std::uint64_t>();
  info.host = reader.text();
  info.control_address = reader.text();
  info.algorithm = reader.text();
  if (format != kFormat || !reader.is_good()) {
    return Status(
        Code::kRemoteError,
        fmt::format("rank {} introduced itself in another format: all ranks must load the same release of Hawser",
                    rank));
  }
  return info;
}

Status check_agreement(std::span<const PeerInfo> infos) {
  for (std::size_t rank = 1; rank < infos.size(); ++rank) {
    const PeerInfo& first = infos.front();
    const PeerInfo& other = infos[rank];
    const char* variable = nullptr;
    if (first.staging_bytes != other.staging_bytes) variable = "NCCL_BUFFSIZE";
    if (first.tile_bytes != other.tile_bytes) variable = "HAWSER_TILE";
    if (first.topology_hash != other.topology_hash) variable = "HAWSER_TOPO_FILE (the file's content)";
    if (first.algorithm != other.algorithm) variable = "NCCL_ALGO (or HAWSER_ALGO)";
    if (variable == nullptr) continue;
    return {Code::kInvalidUsage,
            fmt::format("rank 0 on {} and rank {} on {} have different values of {}; set it alike on all ranks",
                        first.host, rank, other.host, variable)};
  }
  return {};
}

topology::Topology agree(std::span<const PeerInfo> infos) {
  std::map<std::uint64_t, std::pair<int, int>> nodes;  // host key: (index, ranks so far)
  topology::Topology topology = topology::uniform(static_cast<int>(infos.size()), static_cast<int>(infos.size()));
  topology.max_ranks_per_node = 0;
  topology.cores_per_node = INT32_MAX;
  topology.last_level_cache_bytes = UINT64_MAX;
  for (std::size_t rank = 0; rank < infos.size(); ++rank) {
    const PeerInfo& info = infos[rank];
    auto& [index, count] = nodes.try_emplace(info.host_key, static_cast<int>(nodes.size()), 0).first->second;
    topology::RankPlace& place = topology.ranks[rank];
    place = {.node = index, .local_rank = count++, .numa = info.numa, .host = info.host, .pid = info.pid};
    topology.max_ranks_per_node = std::max(topology.max_ranks_per_node, count);
    topology.cores_per_node = std::min(topology.cores_per_node, static_cast<int>(info.cores));
    topology.last_level_cache_bytes = std::min(topology.last_level_cache_bytes, info.cache_bytes);
  }
  topology.nodes = static_cast<int>(nodes.size());
  return topology;
}

Result<topology::Topology> with_costs_of_file(topology::Topology topology, const Config& config) {
  if (config.topology_file.empty()) return topology;
  const topology::Topology loaded = HAWSER_TRY_VALUE(topology::load(config.topology_file));
  topology.intra = loaded.intra;
  topology.inter = loaded.inter;
  topology.gamma_s_per_byte = loaded.gamma_s_per_byte;
  topology.cross_line_s_per_byte = loaded.cross_line_s_per_byte;
  topology.dram_s_per_byte = loaded.dram_s_per_byte;
  topology.last_level_cache_bytes = loaded.last_level_cache_bytes;
  return topology;
}

}  // namespace hawser::comm
