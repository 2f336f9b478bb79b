// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The one table of environment variables. Nothing else in the library reads the environment: a communicator takes a
// Config once, when it is created. docs/environment.md is generated from variables(); a test compares them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hawser {

/// One row of the table.
struct Variable {
  std::string_view name;          ///< e.g. "HAWSER_TIMEOUT_S"
  std::string_view grammar;       ///< e.g. "seconds, may be fractional", "list of prefixes; ^ excludes, = exact"
  std::string_view default_text;  ///< as documentation shows it
  std::string_view meaning;       ///< one sentence
};

/// Every variable that the library reads, in the order of docs/environment.md.
std::span<const Variable> variables();

/// The values in force, each documented in variables(). A value type.
struct Config {
  std::string comm_id;             ///< NCCL_COMM_ID: host:port of a fixed root; empty: none
  std::string secret;              ///< HAWSER_SECRET: shared secret for NCCL_COMM_ID; empty: none
  std::string socket_ifname;       ///< NCCL_SOCKET_IFNAME
  std::string socket_family;       ///< NCCL_SOCKET_FAMILY: AF_INET, AF_INET6 or empty
  std::string host_id;             ///< NCCL_HOSTID: overrides what tells hosts apart; empty: boot id and host name
  std::string algorithm;           ///< HAWSER_ALGO, else NCCL_ALGO: forced algorithm; empty: the cheapest
  std::string topology_file;       ///< HAWSER_TOPO_FILE: load the topology; empty: measure
  std::string topology_dump_file;  ///< HAWSER_TOPO_DUMP_FILE
  std::optional<std::size_t> tile_bytes;             ///< HAWSER_TILE: forced tile size
  std::size_t staging_bytes = std::size_t{4} << 20;  ///< NCCL_BUFFSIZE: staging memory per rank for one channel set
  std::optional<std::chrono::milliseconds> timeout;  ///< HAWSER_TIMEOUT_S: none by default
  std::chrono::milliseconds stuck_warning{10'000};   ///< HAWSER_STUCK_WARN_S
  std::chrono::milliseconds init_timeout{300'000};   ///< HAWSER_INIT_TIMEOUT_S
  std::optional<bool> nt_stores;                     ///< HAWSER_NT: 0 never, 1 always, unset by measurement
};

/// Reads the environment. kInvalidArgument with the variable's name, its value and its grammar if one does not parse.
Result<Config> read_config();

/// What the log takes from the environment, as text: it is read before any communicator exists and cannot fail.
struct LogConfig {
  std::string level;  ///< NCCL_DEBUG
  std::string file;   ///< NCCL_DEBUG_FILE
};

LogConfig read_log_config();

}  // namespace hawser
