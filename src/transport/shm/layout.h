// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What lies in a rank's shared segment. Every rank owns one segment; peers map it. The owner writes its streams' slots
// there, its readers write their release counts and posted landings. All records start as zero bytes, which is their
// valid initial state.
//
//   Control (doorbell, call record, directory) | stream | stream | ...       bump-allocated by the owner
//   stream = StreamHead | ReceiverLine x receivers | Slot x credit
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/doorbell.h"

namespace hawser::transport::shm {

inline constexpr std::uint32_t kMagic = 0x68777372;  // "hwsr"
inline constexpr std::uint32_t kLayoutVersion = 1;
inline constexpr int kDirectoryEntries = 4096;
inline constexpr std::size_t kLine = 64;
/// Two lines: the adjacent-line prefetcher pulls pairs, so what two ranks write stands in different pairs.
inline constexpr std::size_t kPair = 128;

/// Announces a stream: key is written last (release) and read first (acquire) by the readers that look for it.
struct DirectoryEntry {
  std::atomic<std::uint64_t> key;  ///< 0: free
  std::uint64_t offset;            ///< of the StreamHead, from the segment's start
};

/// The call that the rank has begun. `number` is written last (release) and read first (acquire) by peers: what they see
/// of a rank that is just beginning its next call may be of either call, which is good enough for sentences.
struct alignas(kPair) SharedCall {
  std::atomic<std::uint64_t> number;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> arguments;  ///< collective | type << 8 | op << 16 | root << 32
};

struct Control {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t segment_bytes;
  alignas(kPair) Doorbell doorbell;
  SharedCall call;
  /// What the rank has said about leaving, readable even after its death; 0: nothing, else 1 + Transport::Leave | rank
  /// that caused it << 8. Stored (release) once, before the control connections close; loaded (acquire) by peers.
  alignas(kPair) std::atomic<std::uint64_t> farewell;
  alignas(kPair) DirectoryEntry directory[kDirectoryEntries];
};

/// How a message lies, in its slot's header.
enum class SlotKind : std::uint32_t { kInline = 0, kSlot = 1, kDirect = 2, kReference = 3 };

/// First line of a slot. `sequence` is message number + 1; stored last and loaded first, both sequentially consistent:
/// it is also the work that the doorbell protocol orders.
struct alignas(kLine) SlotHeader {
  std::atomic<std::uint64_t> sequence;
  std::uint32_t bytes;
  std::uint32_t call_hash;
  SlotKind kind;
  std::uint32_t unused;
  std::byte inline_data[40];  ///< kInline: the message; kReference: a Reference
};

/// Memory of the sender, as a kReference message and a posted landing name it.
struct Reference {
  std::uint64_t memory_id;  ///< kNoMemory, kSameProcess, or an id announced by a kMemory packet
  std::uint64_t offset;     ///< from the start of that memory; kSameProcess: the address
};
inline constexpr std::uint64_t kNoMemory = 0;
inline constexpr std::uint64_t kSameProcess = ~std::uint64_t{0};
static_assert(sizeof(SlotHeader) == kLine);
inline constexpr std::uint32_t kInlineBytes = sizeof(SlotHeader::inline_data);

/// A landing that a receiver offers for one message. `sequence` is message number + 1, stored last (release), loaded
/// first (acquire).
struct PostedLanding {
  std::atomic<std::uint64_t> sequence;
  Reference memory;
  std::uint64_t bytes;
};

inline constexpr std::uint32_t kMaxCredit = 64;

/// What one receiver tells the sender. Written by that receiver only.
struct alignas(kPair) ReceiverLine {
  /// Messages given back. Sequentially consistent on both sides, for the doorbell protocol.
  std::atomic<std::uint64_t> released;
  alignas(kPair) PostedLanding posted[kMaxCredit];
};

struct alignas(kPair) StreamHead {
  std::uint32_t slot_bytes;
  std::uint32_t slot_stride;
  std::uint32_t credit;
  std::uint32_t receivers;
};

/// Distance of slots that take messages of `slot_bytes`.
constexpr std::uint32_t slot_stride(std::uint32_t slot_bytes) {
  if (slot_bytes <= kInlineBytes) return kPair;
  return static_cast<std::uint32_t>((kLine + slot_bytes + kPair - 1) / kPair * kPair);
}

constexpr std::size_t stream_bytes(std::uint32_t slot_bytes, std::uint32_t credit, std::size_t receivers) {
  return sizeof(StreamHead) + receivers * sizeof(ReceiverLine) + std::size_t{credit} * slot_stride(slot_bytes);
}

}  // namespace hawser::transport::shm
