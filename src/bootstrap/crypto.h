// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The cryptography of this room, all of it by libcrypto (linked in statically and hidden) and getrandom(2): random
// secrets, labelled key derivation, comparison in constant time. hmac() itself is declared in bootstrap.h.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/status.h"
#include "bootstrap/bootstrap.h"

namespace hawser::bootstrap {

/// Prepares libcrypto without its configuration file and without an atexit handler, and checks a known answer once per
/// process. Any thread. kSystemError if libcrypto does not work; nothing else of this room may then be used.
Status prepare_crypto();

/// 256 random bits from the kernel. kSystemError if it has none to give.
Result<Secret> random_secret();

/// A key for one purpose: hmac(key, label and data). Different labels give unrelated keys.
Secret derive(const Secret& key, std::string_view label, std::span<const std::byte> data = {});

/// Compares in a time that does not depend on the contents.
bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace hawser::bootstrap
