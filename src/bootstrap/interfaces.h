// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Which of this host's addresses to listen on: NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY, and what tells hosts apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/status.h"
#include "bootstrap/address.h"

namespace hawser::bootstrap {

/// One address of one interface that is up. Port 0.
struct Interface {
  std::string name;
  SocketAddress address;

  bool operator==(const Interface&) const = default;
};

/// Every IPv4 and IPv6 address of the interfaces that are up and running. kSystemError if the kernel does not say.
Result<std::vector<Interface>> list_interfaces();

/// At most kMaxAddresses of `interfaces`, best first: the first address of every matching interface before the second
/// of any, link-local after global, loopback last. Without NCCL_SOCKET_IFNAME: neither lo nor docker*, but loopback in
/// a slot that is left, so that ranks of the same host get through whatever its firewall says. Pure.
/// kInvalidUsage if NCCL_SOCKET_IFNAME or NCCL_SOCKET_FAMILY match nothing, kSystemError if there is nothing at all.
Result<std::vector<SocketAddress>> select_addresses(const std::vector<Interface>& interfaces, const Config& config);

/// A number that two processes share exactly if they can meet on the loopback interface: a hash of the boot id and the
/// network namespace.
std::uint64_t host_hash();
/// This host's name, for messages.
std::string host_name();

}  // namespace hawser::bootstrap
