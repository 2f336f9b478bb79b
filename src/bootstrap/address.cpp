// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace hawser::bootstrap {
namespace {

struct HostPort {
  std::string host;
  std::uint16_t port;
};

std::optional<HostPort> split_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) return std::nullopt;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;  // an IPv6 address without brackets: where it ends would be a guess
  }
  if (host.empty()) return std::nullopt;
  return HostPort{std::string(host), port};
}

struct FreeList {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

}  // namespace

bool SocketAddress::is_loopback() const {
  if (family == Family::kIpv4) return bytes[0] == std::byte{127};
  std::array<std::byte, 16> loopback{};
  loopback[15] = std::byte{1};
  return family == Family::kIpv6 && bytes == loopback;
}

bool SocketAddress::is_link_local() const {
  if (family == Family::kIpv4) return bytes[0] == std::byte{169} && bytes[1] == std::byte{254};
  return family == Family::kIpv6 && bytes[0] == std::byte{0xfe} && (bytes[1] & std::byte{0xc0}) == std::byte{0x80};
}

RawAddress raw_address(const SocketAddress& address) {
  RawAddress raw;
  if (address.family == Family::kIpv4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.bytes.data(), sizeof in.sin_addr);
    std::memcpy(&raw.storage, &in, sizeof in);
    raw.size = sizeof in;
    return raw;
  }
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(address.port);
  in6.sin6_scope_id = address.scope;
  std::memcpy(&in6.sin6_addr, address.bytes.data(), sizeof in6.sin6_addr);
  std::memcpy(&raw.storage, &in6, sizeof in6);
  raw.size = sizeof in6;
  return raw;
}

std::optional<SocketAddress> from_raw(const sockaddr& raw) {
  SocketAddress address;
  if (raw.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &raw, sizeof in);
    address.family = Family::kIpv4;
    address.port = ntohs(in.sin_port);
    std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    return address;
  }
  if (raw.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in6{};
  std::memcpy(&in6, &raw, sizeof in6);
  address.family = Family::kIpv6;
  address.port = ntohs(in6.sin6_port);
  address.scope = in6.sin6_scope_id;
  std::memcpy(address.bytes.data(), &in6.sin6_addr, sizeof in6.sin6_addr);
  return address;
}

std::string text_of(const SocketAddress& address) {
  char buffer[INET6_ADDRSTRLEN] = "";
  const bool is_ipv4 = address.family == Family::kIpv4;
  ::inet_ntop(is_ipv4 ? AF_INET : AF_INET6, address.bytes.data(), buffer, sizeof buffer);
  if (is_ipv4) return fmt::format("{}:{}", buffer, address.port);
  if (address.scope != 0) return fmt::format("[{}%{}]:{}", buffer, address.scope, address.port);
  return fmt::format("[{}]:{}", buffer, address.port);
}

std::string text_of(const std::vector<SocketAddress>& addresses) {
  std::vector<std::string> texts;
  for (const SocketAddress& address : addresses) texts.push_back(text_of(address));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void write_address(Writer& writer, const SocketAddress& address) {
  writer.bytes(address.bytes).number(address.scope).number(address.port);
  writer.number(static_cast<std::uint16_t>(address.family));
}

std::optional<SocketAddress> read_address(Reader& reader) {
  SocketAddress address;
  address.bytes = reader.array<16>();
  address.scope = reader.number<std::uint32_t>();
  address.port = reader.number<std::uint16_t>();
  const auto family = reader.number<std::uint16_t>();
  if (reader.has_failed() || (family != 4 && family != 6)) return std::nullopt;
  address.family = family == 4 ? Family::kIpv4 : Family::kIpv6;
  return address;
}

void write_addresses(Writer& writer, const std::vector<SocketAddress>& addresses) {
  writer.number(static_cast<std::uint16_t>(std::min(addresses.size(), kMaxAddresses)));
  for (std::size_t i = 0; i < std::min(addresses.size(), kMaxAddresses); ++i) write_address(writer, addresses[i]);
}

std::optional<std::vector<SocketAddress>> read_addresses(Reader& reader) {
  const auto count = reader.number<std::uint16_t>();
  if (count == 0 || count > kMaxAddresses) return std::nullopt;
  std::vector<SocketAddress> addresses;
  for (std::uint16_t i = 0; i < count; ++i) {
    const auto address = read_address(reader);
    if (!address || address->port == 0) return std::nullopt;
    addresses.push_back(*address);
  }
  return addresses;
}

Result<std::vector<SocketAddress>> resolve_comm_id(std::string_view comm_id) {
  const auto parts = split_host_port(comm_id);
  if (!parts)
    return Status(
        Code::kInvalidArgument,
        fmt::format("NCCL_COMM_ID \"{}\" is not host:port or [IPv6 address]:port with a port of 1 to 65535", comm_id));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(parts->host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, FreeList> list(found);
  if (error != 0)
    return Status(Code::kInvalidArgument, fmt::format("NCCL_COMM_ID \"{}\": host {} cannot be resolved ({})", comm_id,
                                                      parts->host, ::gai_strerror(error)));
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    auto address = from_raw(*entry->ai_addr);
    if (!address || addresses.size() == kMaxAddresses) continue;
    address->port = parts->port;
    if (std::ranges::find(addresses, *address) == addresses.end()) addresses.push_back(*address);
  }
  if (addresses.empty())
    return Status(Code::kInvalidArgument,
                  fmt::format("NCCL_COMM_ID \"{}\": host {} has no IPv4 or IPv6 address", comm_id, parts->host));
  return addresses;
}

}  // namespace hawser::bootstrap
