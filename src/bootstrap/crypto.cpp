// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "bootstrap/wire.h"
#include "fmt/format.h"

namespace hawser::bootstrap {
namespace {

// HMAC-SHA-256 of the empty message under 32 zero bytes.
constexpr unsigned char kKnownAnswer[] = {0xb6, 0x13, 0x67, 0x9a, 0x08, 0x14, 0xd9, 0xec, 0x77, 0x2f, 0x95,
                                          0xd7, 0x78, 0xc3, 0x5f, 0xc5, 0xff, 0x16, 0x97, 0xc4, 0x93, 0x71,
                                          0x56, 0x53, 0xc6, 0xc7, 0x12, 0x14, 0x42, 0x92, 0xc5, 0xad};

Status start_crypto() {
  // The host program may use an OpenSSL of its own: this copy reads no openssl.cnf and leaves no handler behind.
  const bool is_ready = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;
  if (is_ready && is_equal(hmac(Secret{}, {}), std::as_bytes(std::span(kKnownAnswer)))) return {};
  return Status(Code::kSystemError,
                "libcrypto, linked into this library, does not compute HMAC-SHA-256 correctly: "
                "the library is damaged or was built wrongly; install it again");
}

}  // namespace

Status prepare_crypto() {
  static const Status outcome = start_crypto();
  return outcome;
}

Result<Secret> random_secret() {
  Secret secret{};
  std::size_t filled = 0;
  while (filled < secret.size()) {
    const ssize_t count = ::getrandom(secret.data() + filled, secret.size() - filled, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return Status(Code::kSystemError, fmt::format("getrandom failed ({}): the kernel gives no random numbers",
                                                    std::generic_category().message(errno)));
    filled += static_cast<std::size_t>(count);
  }
  return secret;
}

std::array<std::byte, 32> hmac(const Secret& key, std::span<const std::byte> message) {
  std::array<std::byte, 32> digest{};
  unsigned int size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(message.data());
  auto* out = reinterpret_cast<unsigned char*>(digest.data());
  const bool is_done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, message.size(), out, &size) != nullptr;
  // Without memory libcrypto gives nothing. Something that nobody can guess then keeps every comparison from matching.
  if (!is_done || size != digest.size()) {
    if (const auto noise = random_secret(); noise.is_ok()) return noise.value();
  }
  return digest;
}

Secret derive(const Secret& key, std::string_view label, std::span<const std::byte> data) {
  return hmac(key, Writer().text(label).bytes(data).take());
}

bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hawser::bootstrap
