// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

namespace hawser {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Starts every test without any variable of the table; the process ends with the last test, so nothing is put back.
class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Variable& variable : variables()) ::unsetenv(variable.name.data());
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }

  static Config config() {
    Result<Config> result = read_config();
    EXPECT_TRUE(result.is_ok()) << result.status().message();
    return result.is_ok() ? result.value() : Config();
  }
};

TEST_F(ConfigTest, DefaultsAreThoseOfTheHeader) {
  const Config read = config();
  EXPECT_EQ(read.comm_id, "");
  EXPECT_EQ(read.staging_bytes, std::size_t{4} << 20);
  EXPECT_EQ(read.timeout, std::nullopt);
  EXPECT_EQ(read.stuck_warning, milliseconds(10'000));
  EXPECT_EQ(read.init_timeout, milliseconds(300'000));
  EXPECT_EQ(read.nt_stores, std::nullopt);
  EXPECT_EQ(read.tile_bytes, std::nullopt);
}

TEST_F(ConfigTest, EveryVariableReachesItsField) {
  set("NCCL_COMM_ID", "[::1]:4000");
  set("HAWSER_SECRET", "open sesame");
  set("NCCL_SOCKET_IFNAME", "^docker,lo");
  set("NCCL_SOCKET_FAMILY", "AF_INET6");
  set("NCCL_HOSTID", "left");
  set("NCCL_ALGO", "ring");
  set("HAWSER_TOPO_FILE", "in.json");
  set("HAWSER_TOPO_DUMP_FILE", "out.json");
  set("HAWSER_TILE", "96K");
  set("NCCL_BUFFSIZE", "8388608");
  set("HAWSER_TIMEOUT_S", "2.5");
  set("HAWSER_STUCK_WARN_S", "0.25");
  set("HAWSER_INIT_TIMEOUT_S", "7");
  set("HAWSER_NT", "0");
  const Config read = config();
  EXPECT_EQ(read.comm_id, "[::1]:4000");
  EXPECT_EQ(read.secret, "open sesame");
  EXPECT_EQ(read.socket_ifname, "^docker,lo");
  EXPECT_EQ(read.socket_family, "AF_INET6");
  EXPECT_EQ(read.host_id, "left");
  EXPECT_EQ(read.algorithm, "ring");
  EXPECT_EQ(read.topology_file, "in.json");
  EXPECT_EQ(read.topology_dump_file, "out.json");
  EXPECT_EQ(read.tile_bytes, std::size_t{96} << 10);
  EXPECT_EQ(read.staging_bytes, std::size_t{8} << 20);
  EXPECT_EQ(read.timeout, milliseconds(2500));
  EXPECT_EQ(read.stuck_warning, milliseconds(250));
  EXPECT_EQ(read.init_timeout, milliseconds(7000));
  EXPECT_EQ(read.nt_stores, false);
}

TEST_F(ConfigTest, HawserAlgoHasPrecedence) {
  set("HAWSER_ALGO", "flat");
  set("NCCL_ALGO", "ring");
  EXPECT_EQ(config().algorithm, "flat");
}

TEST_F(ConfigTest, AnEmptyValueMeansUnset) {
  set("HAWSER_TILE", "");
  set("HAWSER_TIMEOUT_S", "");
  set("NCCL_SOCKET_FAMILY", "");
  EXPECT_EQ(config().tile_bytes, std::nullopt);
  EXPECT_EQ(config().timeout, std::nullopt);
}

TEST_F(ConfigTest, TheErrorNamesVariableValueAndGrammar) {
  set("HAWSER_TILE", "100");
  const Status status = read_config().status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("HAWSER_TILE"));
  EXPECT_THAT(status.message(), HasSubstr("\"100\""));
  EXPECT_THAT(status.message(), HasSubstr("a multiple of 64"));
}

struct Malformed {
  const char* name;
  const char* value;
};

class MalformedTest : public ConfigTest, public testing::WithParamInterface<Malformed> {};

TEST_P(MalformedTest, IsRefused) {
  set(GetParam().name, GetParam().value);
  const Status status = read_config().status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << GetParam().name << "=" << GetParam().value;
  EXPECT_THAT(status.message(), HasSubstr(GetParam().name));
}

INSTANTIATE_TEST_SUITE_P(Values, MalformedTest,
                         testing::Values(Malformed{"NCCL_COMM_ID", "host"}, Malformed{"NCCL_COMM_ID", ":4000"},
                                         Malformed{"NCCL_COMM_ID", "host:0"}, Malformed{"NCCL_COMM_ID", "host:65536"},
                                         Malformed{"NCCL_COMM_ID", "host:12x"}, Malformed{"NCCL_COMM_ID", "::1:4000"},
                                         Malformed{"NCCL_SOCKET_FAMILY", "inet"}, Malformed{"HAWSER_TILE", "0"},
                                         Malformed{"HAWSER_TILE", "-64"}, Malformed{"HAWSER_TILE", "64KB"},
                                         Malformed{"HAWSER_TILE", "64k "},
                                         Malformed{"HAWSER_TILE", "18446744073709551615K"},
                                         Malformed{"HAWSER_TILE", "K"}, Malformed{"NCCL_BUFFSIZE", "1K"},
                                         Malformed{"NCCL_BUFFSIZE", "2G"}, Malformed{"HAWSER_TIMEOUT_S", "0"},
                                         Malformed{"HAWSER_TIMEOUT_S", "-1"}, Malformed{"HAWSER_TIMEOUT_S", "1s"},
                                         Malformed{"HAWSER_TIMEOUT_S", "nan"}, Malformed{"HAWSER_TIMEOUT_S", "inf"},
                                         Malformed{"HAWSER_STUCK_WARN_S", "ten"},
                                         Malformed{"HAWSER_INIT_TIMEOUT_S", "1e12"}, Malformed{"HAWSER_NT", "2"},
                                         Malformed{"HAWSER_NT", "yes"}));

TEST_F(ConfigTest, TheTableDocumentsEveryRowOnce) {
  std::set<std::string_view> names;
  for (const Variable& variable : variables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_FALSE(variable.grammar.empty()) << variable.name;
    EXPECT_FALSE(variable.default_text.empty()) << variable.name;
    ASSERT_FALSE(variable.meaning.empty()) << variable.name;
    EXPECT_EQ(variable.meaning.back(), '.') << variable.name;
    EXPECT_EQ(variable.name.data()[variable.name.size()], '\0') << "the name is given to getenv";
  }
}

TEST_F(ConfigTest, TheLogsVariablesAreGivenAsText) {
  set("NCCL_DEBUG", "info");
  set("NCCL_DEBUG_FILE", "log.%h.%p");
  EXPECT_EQ(read_log_config().level, "info");
  EXPECT_EQ(read_log_config().file, "log.%h.%p");
  EXPECT_TRUE(read_config().is_ok());
}

}  // namespace
}  // namespace hawser
