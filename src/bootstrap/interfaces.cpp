// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/interfaces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <system_error>
#include <tuple>

#include "bootstrap/crypto.h"

namespace hawser::bootstrap {
namespace {

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

/// NCCL_SOCKET_IFNAME: [^][=]name[,name...]. ^ means all but these, = means whole names, not prefixes.
class NameFilter {
 public:
  explicit NameFilter(std::string_view text) {
    is_exclusive_ = text.starts_with('^');
    if (is_exclusive_) text.remove_prefix(1);
    is_exact_ = text.starts_with('=');
    if (is_exact_) text.remove_prefix(1);
    while (!text.empty()) {
      const auto comma = std::min(text.find(','), text.size());
      if (comma > 0) names_.emplace_back(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
  }
  [[nodiscard]] bool accepts(std::string_view name) const {
    const bool is_named = std::ranges::any_of(
        names_, [&](const std::string& entry) { return is_exact_ ? name == entry : name.starts_with(entry); });
    return is_named != is_exclusive_;
  }

 private:
  bool is_exclusive_ = false;
  bool is_exact_ = false;
  std::vector<std::string> names_;
};

std::vector<SocketAddress> best_of(const std::vector<Interface>& candidates) {
  std::map<std::string, int> seen;
  std::vector<std::tuple<int, int, std::size_t>> order;  // class, how many of this interface before, place in list
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const SocketAddress& address = candidates[i].address;
    const int distance = address.is_loopback() ? 2 : address.is_link_local() ? 1 : 0;
    order.emplace_back(distance, distance == 0 ? seen[candidates[i].name]++ : 0, i);
  }
  std::ranges::sort(order);
  std::vector<SocketAddress> best;
  for (const auto& entry : order) {
    if (best.size() < kMaxAddresses) best.push_back(candidates[std::get<2>(entry)].address);
  }
  return best;
}

std::string names_of(const std::vector<Interface>& interfaces) {
  std::set<std::string> names;
  for (const Interface& entry : interfaces) names.insert(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status no_interface(const std::vector<Interface>& interfaces, const Config& config) {
  if (config.socket_ifname.empty() && config.socket_family.empty())
    return Status(Code::kSystemError,
                  "no network interface is up, not even loopback: bring one up (ip link set lo up)");
  return Status(Code::kInvalidUsage,
                fmt::format("NCCL_SOCKET_IFNAME=\"{}\" with NCCL_SOCKET_FAMILY=\"{}\" match no address of this host, "
                            "whose interfaces are: {}",
                            config.socket_ifname, config.socket_family, names_of(interfaces)));
}

}  // namespace

Result<std::vector<Interface>> list_interfaces() {
  ifaddrs* head = nullptr;
  if (::getifaddrs(&head) != 0)
    return Status(Code::kSystemError, fmt::format("getifaddrs failed ({}): the network interfaces cannot be listed",
                                                  std::generic_category().message(errno)));
  const std::unique_ptr<ifaddrs, FreeInterfaces> list(head);
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    constexpr unsigned kAlive = IFF_UP | IFF_RUNNING;
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & kAlive) != kAlive) continue;
    if (const auto address = from_raw(*entry->ifa_addr)) interfaces.push_back({entry->ifa_name, *address});
  }
  return interfaces;
}

Result<std::vector<SocketAddress>> select_addresses(const std::vector<Interface>& interfaces, const Config& config) {
  if (!config.socket_family.empty() && config.socket_family != "AF_INET" && config.socket_family != "AF_INET6")
    return Status(Code::kInvalidArgument,
                  fmt::format("NCCL_SOCKET_FAMILY=\"{}\" is neither AF_INET nor AF_INET6", config.socket_family));
  const bool is_default = config.socket_ifname.empty();
  const NameFilter filter(is_default ? "^docker" : config.socket_ifname);
  std::vector<Interface> matching;
  std::vector<Interface> loopbacks;
  for (const Interface& entry : interfaces) {
    const bool is_ipv6 = entry.address.family == Family::kIpv6;
    if (!config.socket_family.empty() && is_ipv6 != (config.socket_family == "AF_INET6")) continue;
    if (!filter.accepts(entry.name)) continue;
    (is_default && (entry.name == "lo" || entry.address.is_loopback()) ? loopbacks : matching).push_back(entry);
  }
  std::vector<SocketAddress> chosen = best_of(matching);
  const std::vector<SocketAddress> spare = best_of(loopbacks);
  if (!spare.empty() && chosen.size() < kMaxAddresses) chosen.push_back(spare.front());
  if (chosen.empty()) return no_interface(interfaces, config);
  return chosen;
}

std::uint64_t host_hash() {
  std::string boot_id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot_id);
  struct stat space {};
  ::stat("/proc/self/ns/net", &space);
  const std::string text = fmt::format("{} {} {}", boot_id, space.st_ino, boot_id.empty() ? host_name() : "");
  const Secret digest = derive(Secret{}, "host", std::as_bytes(std::span(text)));
  return Reader(digest).number<std::uint64_t>();
}

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return std::string(name).substr(0, 64);
}

}  // namespace hawser::bootstrap
