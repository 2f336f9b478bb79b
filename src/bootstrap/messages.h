// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Pieces of sentences that several parts of this room say, and the messages that ranks send each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "bootstrap/deadline.h"

namespace hawser::bootstrap {

/// "5 s", "0.25 s".
std::string text_of(Milliseconds limit);
/// kInvalidUsage: the program itself ended it.
Status cancelled(int rank);

enum class Operation : std::uint8_t { kAllGather = 1, kBarrier = 2 };
std::string text_of(Operation operation);

/// One blob on its way round an all_gather, or one signal of a barrier.
struct Block {
  std::uint32_t call = 0;  ///< which collective call, counted from 0
  Operation operation = Operation::kAllGather;
  std::uint8_t round = 0;
  std::uint32_t origin = 0;  ///< the rank whose blob it is; in a barrier the sender
  std::span<const std::byte> bytes;
};
/// The longest blob.
inline constexpr std::size_t kMaxBlob = (std::size_t{16} << 20) - 64;

/// Why a rank has failed, passed on unchanged by those who hear of it.
struct Abort {
  std::uint32_t origin = 0;
  std::string reason;
};

std::vector<std::byte> encode(const Block& block);
std::vector<std::byte> encode(const Abort& abort);
/// The block's bytes are borrowed from `payload`. Nothing for what is no such message.
std::optional<Block> decode_block(std::span<const std::byte> payload);
std::optional<Abort> decode_abort(std::span<const std::byte> payload);

}  // namespace hawser::bootstrap
