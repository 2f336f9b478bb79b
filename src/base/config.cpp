// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The table itself: one row per variable says how it is documented, how it is parsed and where its value goes.
#include "base/config.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <utility>

namespace hawser {

namespace {

using std::chrono::milliseconds;

/// Takes a value into a Config; nothing if the value does not follow the row's grammar.
using Take = std::optional<Config> (*)(Config, std::string_view value);

struct Row {
  Variable variable;
  Take take;
};

std::optional<std::string> parse_text(std::string_view value) { return std::string(value); }

std::optional<std::string> parse_family(std::string_view value) {
  if (value != "AF_INET" && value != "AF_INET6") return std::nullopt;
  return std::string(value);
}

/// "host:port" or "[v6 address]:port". Whether the host exists is for bootstrap to find out.
std::optional<std::string> parse_host_port(std::string_view value) {
  const std::size_t colon = value.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view host = value.substr(0, colon);
  const std::string_view port = value.substr(colon + 1);
  if (host.find(':') != std::string_view::npos && (host.front() != '[' || host.back() != ']')) return std::nullopt;
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number == 0) return std::nullopt;
  return std::string(value);
}

/// Power of two that a suffix stands for; nothing if it is no suffix.
std::optional<int> parse_suffix(std::string_view suffix) {
  if (suffix.empty()) return 0;
  if (suffix.size() > 1) return std::nullopt;
  constexpr std::string_view lower = "kmg";
  constexpr std::string_view upper = "KMG";
  const std::size_t place = std::min(lower.find(suffix), upper.find(suffix));
  if (place == std::string_view::npos) return std::nullopt;
  return static_cast<int>(place + 1) * 10;
}

std::optional<std::size_t> parse_bytes(std::string_view value) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::optional<int> shift = parse_suffix(value.substr(static_cast<std::size_t>(end - value.data())));
  if (!shift || number > (std::numeric_limits<std::size_t>::max() >> *shift)) return std::nullopt;
  return number << *shift;
}

std::optional<std::size_t> parse_tile(std::string_view value) {
  const std::optional<std::size_t> bytes = parse_bytes(value);
  if (!bytes || *bytes == 0 || *bytes % 64 != 0) return std::nullopt;
  return bytes;
}

std::optional<std::size_t> parse_staging(std::string_view value) {
  constexpr std::size_t least = std::size_t{64} << 10;
  constexpr std::size_t most = std::size_t{1} << 30;
  const std::optional<std::size_t> bytes = parse_bytes(value);
  if (!bytes || *bytes < least || *bytes > most) return std::nullopt;
  return bytes;
}

std::optional<milliseconds> parse_seconds(std::string_view value) {
  constexpr double most = 1e9;
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), seconds, std::chars_format::fixed);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  if (!(seconds >= 0.001) || !(seconds <= most)) return std::nullopt;
  return std::chrono::round<milliseconds>(std::chrono::duration<double>(seconds));
}

std::optional<bool> parse_switch(std::string_view value) {
  if (value == "0") return false;
  if (value == "1") return true;
  return std::nullopt;
}

/// The Take that stores what Parse makes of the value in Member.
template <auto Member, auto Parse>
std::optional<Config> store(Config config, std::string_view value) {
  auto parsed = Parse(value);
  if (!parsed) return std::nullopt;
  config.*Member = *std::move(parsed);
  return config;
}

/// Read by read_log_config(), not into a Config.
constexpr Take kForLog = nullptr;

// Rows are taken in this order: where two variables set one value, the later row wins.
constexpr std::array kRows = {
    Row{{"NCCL_DEBUG", "VERSION, WARN, INFO or TRACE, in any case; anything else is silent", "silent",
         "How much the library writes to its log."},
        kForLog},
    Row{{"NCCL_DEBUG_FILE", "path; %h becomes the host name, %p the process id", "standard output",
         "Where the log goes; lines are appended to a file that exists."},
        kForLog},
    Row{{"NCCL_COMM_ID", "host:port, port 1 to 65535; IPv6 as [address]:port", "none",
         "Fixed address of rank 0 for every rank to meet at, in place of the addresses in the unique id; any but a "
         "loopback address needs HAWSER_SECRET too."},
        store<&Config::comm_id, parse_host_port>},
    Row{{"HAWSER_SECRET", "text", "none",
         "Secret that the ranks share, without which nobody joins a communicator made with NCCL_COMM_ID."},
        store<&Config::secret, parse_text>},
    Row{{"NCCL_SOCKET_IFNAME",
         "comma-separated prefixes of interface names; leading ^ excludes them, = wants the "
         "exact names",
         "all but docker*, loopback last", "Network interfaces over which ranks may meet."},
        store<&Config::socket_ifname, parse_text>},
    Row{{"NCCL_SOCKET_FAMILY", "AF_INET or AF_INET6", "both", "Address family over which ranks may meet."},
        store<&Config::socket_family, parse_family>},
    Row{{"NCCL_HOSTID", "text", "boot id, host name and network namespace",
         "What tells hosts apart: ranks with equal text share memory."},
        store<&Config::host_id, parse_text>},
    Row{{"NCCL_ALGO", "comma-separated algorithms, leading ^ excludes them; per collective as allreduce:ring;...",
         "the cheapest by measured cost", "Algorithms that may be chosen."},
        store<&Config::algorithm, parse_text>},
    Row{{"HAWSER_ALGO", "as NCCL_ALGO", "NCCL_ALGO",
         "The same, for programs whose NCCL_ALGO is meant for NCCL; it has precedence."},
        store<&Config::algorithm, parse_text>},
    Row{{"HAWSER_TOPO_FILE", "path", "none",
         "Topology to load, as HAWSER_TOPO_DUMP_FILE wrote it, in place of measuring."},
        store<&Config::topology_file, parse_text>},
    Row{{"HAWSER_TOPO_DUMP_FILE", "path", "none", "Where rank 0 writes the topology in force, as JSON."},
        store<&Config::topology_dump_file, parse_text>},
    Row{{"HAWSER_TILE", "bytes, a multiple of 64; K, M, G behind it for powers of 1024", "by measured cost",
         "Size of the tiles that long buffers are cut into."},
        store<&Config::tile_bytes, parse_tile>},
    Row{{"NCCL_BUFFSIZE", "bytes, 64K to 1G; K, M, G behind it for powers of 1024", "4M",
         "Staging memory of a rank for its messages to all others."},
        store<&Config::staging_bytes, parse_staging>},
    Row{{"HAWSER_TIMEOUT_S", "seconds, 0.001 or more", "none",
         "How long a collective may wait for a peer before it returns ncclTimeout."},
        store<&Config::timeout, parse_seconds>},
    Row{{"HAWSER_STUCK_WARN_S", "seconds, 0.001 or more", "10",
         "How long a collective waits for a peer before a warning names the peer and the operation."},
        store<&Config::stuck_warning, parse_seconds>},
    Row{{"HAWSER_INIT_TIMEOUT_S", "seconds, 0.001 or more", "300",
         "How long initialisation waits for missing ranks before it fails and names them."},
        store<&Config::init_timeout, parse_seconds>},
    Row{{"HAWSER_NT", "0 or 1", "by measured cost", "Non-temporal stores: 0 never, 1 always."},
        store<&Config::nt_stores, parse_switch>},
};

constexpr auto kVariables = [] {
  std::array<Variable, kRows.size()> variables;
  for (std::size_t i = 0; i < kRows.size(); ++i) variables[i] = kRows[i].variable;
  return variables;
}();

/// The variable's value; empty if it is unset. Table names are literals, so data() ends in a zero byte.
std::string_view environment(std::string_view name) {
  const char* value = std::getenv(name.data());
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

std::span<const Variable> variables() { return kVariables; }

Result<Config> read_config() {
  Config config;
  for (const auto& [variable, take] : kRows) {
    const std::string_view value = environment(variable.name);
    if (value.empty() || take == kForLog) continue;
    std::optional<Config> taken = take(std::move(config), value);
    if (!taken) {
      return Status(Code::kInvalidArgument, fmt::format("environment variable {} is \"{}\", expected: {}",
                                                        variable.name, value, variable.grammar));
    }
    config = *std::move(taken);
  }
  return config;
}

LogConfig read_log_config() {
  return {.level = std::string(environment("NCCL_DEBUG")), .file = std::string(environment("NCCL_DEBUG_FILE"))};
}

}  // namespace hawser
