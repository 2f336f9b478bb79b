// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.h"

#include <gmock/gmock.h>

#include <random>

#include "support.h"

namespace hawser::bootstrap {
namespace {

IdContents sample() {
  IdContents contents;
  contents.host = 0x1234567890abcdef;
  contents.addresses = {loopback(4444), loopback(5555), loopback(1)};
  contents.addresses[1].family = Family::kIpv6;
  contents.addresses[1].scope = 7;
  contents.secret.fill(std::byte{0x5a});
  return contents;
}

TEST(UniqueId, KeepsWhatItIsGiven) {
  for (std::size_t count = 1; count <= kMaxAddresses; ++count) {
    IdContents contents = sample();
    contents.addresses.resize(count);
    contents.kind = count == 2 ? RootKind::kFixed : RootKind::kThread;
    const auto decoded = decode(encode(contents));
    ASSERT_TRUE(decoded.is_ok()) << decoded.status().message();
    EXPECT_EQ(decoded.value(), contents);
  }
}

TEST(UniqueId, EverySingleBitMatters) {
  const UniqueId id = encode(sample());
  for (std::size_t bit = 0; bit < id.size() * 8; ++bit) {
    UniqueId changed = id;
    changed[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_EQ(decode(changed).status().code(), Code::kInvalidArgument) << "bit " << bit;
  }
}

TEST(UniqueId, GarbageIsRecognised) {
  EXPECT_EQ(decode(UniqueId{}).status().code(), Code::kInvalidArgument);
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    UniqueId garbage;
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random() & 0xff);
    const Status outcome = decode(garbage).status();
    EXPECT_EQ(outcome.code(), Code::kInvalidArgument);
    EXPECT_THAT(outcome.message(), testing::HasSubstr("ncclGetUniqueId"));
  }
}

TEST(UniqueId, JoinRefusesWhatIsNoId) {
  const auto joined = Bootstrap::join(UniqueId{}, 0, 1, loopback_config(), nullptr);
  EXPECT_EQ(joined.status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace hawser::bootstrap
