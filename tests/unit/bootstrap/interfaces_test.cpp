// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/interfaces.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>

#include "support.h"

namespace hawser::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SocketAddress ip(const char* text) {
  SocketAddress address;
  const bool is_ipv6 = std::string_view(text).find(':') != std::string_view::npos;
  address.family = is_ipv6 ? Family::kIpv6 : Family::kIpv4;
  EXPECT_EQ(::inet_pton(is_ipv6 ? AF_INET6 : AF_INET, text, address.bytes.data()), 1) << text;
  return address;
}

std::vector<Interface> machine() {
  return {{"lo", ip("127.0.0.1")},     {"docker0", ip("172.17.0.1")}, {"eth0", ip("10.0.0.5")},
          {"eth1", ip("10.1.0.5")},    {"ib0", ip("10.2.0.5")},       {"lo", ip("::1")},
          {"eth0", ip("2001:db8::5")}, {"eth0", ip("fe80::5")},       {"eth10", ip("10.3.0.5")}};
}

std::vector<std::string> chosen(const std::vector<Interface>& interfaces, const std::string& names,
                                const std::string& family = "") {
  Config config;
  config.socket_ifname = names;
  config.socket_family = family;
  const auto addresses = select_addresses(interfaces, config);
  if (!addresses.is_ok()) return {"error " + std::to_string(static_cast<int>(addresses.status().code()))};
  std::vector<std::string> texts;
  for (const SocketAddress& address : addresses.value()) {
    std::string text = text_of(address);
    texts.push_back(text.substr(0, text.rfind(":0")));  // port 0
  }
  return texts;
}

TEST(Interfaces, DefaultTakesOneAddressOfEachButNeitherLoopbackNorDocker) {
  EXPECT_THAT(chosen(machine(), ""), ElementsAre("10.0.0.5", "10.1.0.5", "10.2.0.5"));
}

TEST(Interfaces, DefaultFillsAFreePlaceWithLoopback) {
  EXPECT_THAT(chosen({{"lo", ip("127.0.0.1")}, {"eth0", ip("10.0.0.5")}}, ""), ElementsAre("10.0.0.5", "127.0.0.1"));
}

TEST(Interfaces, DefaultUsesLoopbackWhenThereIsNothingElse) {
  EXPECT_THAT(chosen({{"lo", ip("127.0.0.1")}, {"docker0", ip("172.17.0.1")}}, ""), ElementsAre("127.0.0.1"));
}

TEST(Interfaces, NamesArePrefixes) {
  EXPECT_THAT(chosen(machine(), "eth1"), ElementsAre("10.1.0.5", "10.3.0.5"));
  EXPECT_THAT(chosen(machine(), "ib,eth10"), ElementsAre("10.2.0.5", "10.3.0.5"));
  EXPECT_THAT(chosen(machine(), "docker"), ElementsAre("172.17.0.1"));
}

TEST(Interfaces, EqualsSignMeansWholeNames) {
  EXPECT_THAT(chosen(machine(), "=eth1"), ElementsAre("10.1.0.5"));
  EXPECT_THAT(chosen(machine(), "=lo", "AF_INET"), ElementsAre("127.0.0.1"));
}

TEST(Interfaces, CaretExcludes) {
  EXPECT_THAT(chosen(machine(), "^eth,docker,lo"), ElementsAre("10.2.0.5"));
  EXPECT_THAT(chosen(machine(), "^=eth1,docker0,eth10,ib0"), ElementsAre("10.0.0.5", "[2001:db8::5]", "[fe80::5]"));
}

TEST(Interfaces, FamilyFilters) {
  EXPECT_THAT(chosen(machine(), "eth0", "AF_INET6"), ElementsAre("[2001:db8::5]", "[fe80::5]"));
  EXPECT_THAT(chosen(machine(), "eth0", "AF_INET"), ElementsAre("10.0.0.5"));
}

TEST(Interfaces, WhatMatchesNothingIsNamed) {
  Config config;
  config.socket_ifname = "mlx";
  const Status outcome = select_addresses(machine(), config).status();
  EXPECT_EQ(outcome.code(), Code::kInvalidUsage);
  EXPECT_THAT(outcome.message(), HasSubstr("NCCL_SOCKET_IFNAME"));
  EXPECT_THAT(outcome.message(), HasSubstr("docker0, eth0, eth1, eth10, ib0, lo"));
  config.socket_family = "AF_UNIX";
  EXPECT_EQ(select_addresses(machine(), config).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(select_addresses({}, Config{}).status().code(), Code::kSystemError);
}

TEST(Interfaces, ThisMachineHasSome) {
  const auto interfaces = list_interfaces();
  ASSERT_TRUE(interfaces.is_ok()) << interfaces.status().message();
  EXPECT_TRUE(select_addresses(interfaces.value(), Config{}).is_ok());
  EXPECT_EQ(host_hash(), host_hash());
  EXPECT_FALSE(host_name().empty());
}

}  // namespace
}  // namespace hawser::bootstrap
