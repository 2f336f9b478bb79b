// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the 128 bytes of a unique id say, and how they are checked.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "bootstrap/address.h"
#include "bootstrap/bootstrap.h"

namespace hawser::bootstrap {

enum class RootKind : std::uint8_t {
  kThread = 1,  ///< whoever made the id runs a root thread
  kFixed = 2,   ///< NCCL_COMM_ID: rank 0 serves at the address of the id
};

struct IdContents {
  RootKind kind = RootKind::kThread;
  std::uint64_t host = 0;                ///< host_hash() of the root's host; 0 if kFixed
  std::vector<SocketAddress> addresses;  ///< of the root, 1 to 3, each with its port
  Secret secret{};

  bool operator==(const IdContents&) const = default;
};

/// Layout: magic 4 | version 1 | kind 1 | count 1 | zero 1 | host 8 | 3 addresses of 24 | secret 32 | check 8. The last
/// is the start of an HMAC of all before under the secret, so that whatever is not an id is recognised.
UniqueId encode(const IdContents& contents);
/// kInvalidArgument, with what is wrong, for bytes that encode() of this version did not make.
Result<IdContents> decode(const UniqueId& id);

}  // namespace hawser::bootstrap
