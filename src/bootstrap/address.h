// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// An IPv4 or IPv6 address with port and scope: a value, with its text, its 24 bytes on the wire and its sockaddr.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "bootstrap/wire.h"

namespace hawser::bootstrap {

enum class Family : std::uint8_t { kNone = 0, kIpv4 = 4, kIpv6 = 6 };

struct SocketAddress {
  std::array<std::byte, 16> bytes{};  ///< network order; IPv4 uses the first four
  std::uint32_t scope = 0;            ///< interface index of an IPv6 link-local address, valid on its own host only
  std::uint16_t port = 0;
  Family family = Family::kNone;

  bool operator==(const SocketAddress&) const = default;
  [[nodiscard]] bool is_loopback() const;
  [[nodiscard]] bool is_link_local() const;
};

/// A sockaddr as system calls take it.
struct RawAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
  [[nodiscard]] sockaddr* pointer() { return reinterpret_cast<sockaddr*>(&storage); }
};

inline constexpr std::size_t kAddressBytes = 24;
/// How many addresses an id or a rank carries at most.
inline constexpr std::size_t kMaxAddresses = 3;

RawAddress raw_address(const SocketAddress& address);
/// Nothing if it is neither IPv4 nor IPv6.
std::optional<SocketAddress> from_raw(const sockaddr& raw);

/// "10.0.0.1:4444", "[fe80::1%2]:4444".
std::string text_of(const SocketAddress& address);
/// All of them, separated by commas.
std::string text_of(const std::vector<SocketAddress>& addresses);

void write_address(Writer& writer, const SocketAddress& address);
/// Nothing if the family is unknown.
std::optional<SocketAddress> read_address(Reader& reader);
/// A count and the addresses.
void write_addresses(Writer& writer, const std::vector<SocketAddress>& addresses);
/// Nothing if there are none, more than kMaxAddresses, or one that is not an address with a port.
std::optional<std::vector<SocketAddress>> read_addresses(Reader& reader);

/// Resolves NCCL_COMM_ID's "host:port" or "[IPv6]:port", at most kMaxAddresses; asks DNS if host is a name.
/// kInvalidArgument naming the variable and its grammar.
Result<std::vector<SocketAddress>> resolve_comm_id(std::string_view comm_id);

}  // namespace hawser::bootstrap
