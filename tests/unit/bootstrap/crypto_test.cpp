// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// HMAC against the published vectors of RFC 4231, and what the room builds on it.
#include "bootstrap/crypto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace hawser::bootstrap {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

std::string hmac_hex(std::string_view key, std::string_view message) {
  Secret secret{};  // HMAC pads shorter keys with zeros, so these are the keys of the vectors
  std::memcpy(secret.data(), key.data(), key.size());
  return hex(hmac(secret, std::as_bytes(std::span(message))));
}

TEST(Crypto, HmacEqualsPublishedVectors) {
  ASSERT_TRUE(prepare_crypto().is_ok());
  EXPECT_EQ(hmac_hex(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_hex(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

TEST(Crypto, RandomSecretsDiffer) {
  const auto first = random_secret();
  const auto second = random_secret();
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  EXPECT_NE(first.value(), second.value());
}

TEST(Crypto, DerivedKeysDependOnKeyLabelAndData) {
  const Secret zero{};
  Secret one{};
  one[31] = std::byte{1};
  const Secret base = derive(zero, "a", {});
  EXPECT_EQ(base, derive(zero, "a", {}));
  EXPECT_NE(base, derive(one, "a", {}));
  EXPECT_NE(base, derive(zero, "b", {}));
  EXPECT_NE(base, derive(zero, "a", std::as_bytes(std::span("x"))));
  // The border between label and data is part of what is hashed.
  EXPECT_NE(derive(zero, "ab", std::as_bytes(std::span("c"))), derive(zero, "a", std::as_bytes(std::span("bc"))));
}

TEST(Crypto, ComparisonSeesEveryByteAndTheLength) {
  const Secret base{};
  for (std::size_t i = 0; i < base.size(); ++i) {
    Secret other{};
    other[i] = std::byte{0x80};
    EXPECT_FALSE(is_equal(base, other));
  }
  EXPECT_TRUE(is_equal(base, Secret{}));
  EXPECT_FALSE(is_equal(base, std::span(base).first(31)));
}

}  // namespace
}  // namespace hawser::bootstrap
