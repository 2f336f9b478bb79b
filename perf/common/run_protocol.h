// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What a rank and hawser-run say to each other on the socket named by HAWSER_RUN_FD. The rank asks, hawser-run answers;
// one question at a time. Used by tools/hawser_run (the serving end) and perf/common/launch.cpp (the asking end).
//
// A frame is a Header and body_bytes of body, in the machine's own byte order (both ends are on one host).
//   put     body: u32 key bytes, key, value        answer: empty
//   get     body: key                              answer: the value, as soon as some rank has put it
//   gather  body: this rank's value                answer: for every rank, u32 bytes and value, when all have asked
// A gather of empty values is a barrier. A refused question is answered with kError and a sentence.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hawser::run_protocol {

inline constexpr std::size_t kMaxKeyBytes = 256;
inline constexpr std::size_t kMaxValueBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxRequestBytes = sizeof(std::uint32_t) + kMaxKeyBytes + kMaxValueBytes;
/// Sum of all keys and values that one job may store.
inline constexpr std::size_t kMaxStoreBytes = std::size_t{64} << 20;

enum class Verb : std::uint8_t { kPut = 1, kGet = 2, kGather = 3 };
enum class Answer : std::uint8_t { kOk = 0, kError = 1 };

struct Header {
  std::uint32_t body_bytes;
  std::uint8_t kind;         ///< a Verb in a question, an Answer in an answer
  std::uint8_t reserved[3];  ///< zero
};
static_assert(sizeof(Header) == 8);

}  // namespace hawser::run_protocol
