// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The vocabulary of moving messages. A Transport belongs to one rank of one communicator; it opens the ends of streams
// (plan/plan.h: sender, receivers, number) as ports. A message is announced in one of four ways ("landings"); sender
// and receiver agree on it message by message, because registration and alignment may differ per rank. Executors speak
// to ports; a new transport is a folder beside shm/.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"

namespace hawser::transport {

/// Where the bytes of a message are when it is announced.
enum class Landing : std::uint8_t {
  kSlot,       ///< in a staging slot of the stream
  kDirect,     ///< in the memory that every receiver posted for it
  kReference,  ///< still in the sender's memory, to be read in place until released
};

/// Both ends of a stream open it with equal specs; equal specs are one stream, whose sequence numbers run on from call
/// to call. A rank opens its end once.
struct StreamSpec {
  int sender = 0;
  std::span<const int> receivers;  ///< ascending
  int number = 0;
  std::uint32_t slot_bytes = 0;  ///< largest message that a slot takes
  std::uint32_t credit = 0;      ///< messages that may be under way
};

/// Where a message's bytes must be stored: one slot, or the memory that each receiver has posted. Slots are aligned to 8
/// bytes, for messages of 64 bytes and more to 64; so are messages that arrive in slots.
struct Places {
  std::span<std::byte* const> data;
  Landing landing = Landing::kSlot;
};

/// The sending end. One thread at a time (that which drives the communicator). Nothing here blocks or allocates.
class SendPort {
 public:
  virtual ~SendPort() = default;

  /// Whether the next message may be announced: all receivers have released the one `credit` before it.
  virtual bool has_credit() = 0;
  /// Where the next message's bytes must be stored: the slot, or, if every receiver has posted memory for exactly
  /// `bytes` bytes, those addresses. Only after has_credit(). The span is valid until announce().
  virtual Places places(std::uint32_t bytes) = 0;
  /// Whether every receiver can read `bytes` bytes at `local` in place.
  virtual bool can_refer(const std::byte* local, std::uint32_t bytes) = 0;
  /// Announces the message whose bytes were stored in places(bytes).
  virtual void announce(std::uint32_t bytes, std::uint32_t call_hash) = 0;
  /// Announces bytes at `local`, which stay unchanged until released() has passed the message. Only after has_credit()
  /// and can_refer().
  virtual void announce_reference(const std::byte* local, std::uint32_t bytes, std::uint32_t call_hash) = 0;
  /// Messages announced so far, since the stream was opened.
  [[nodiscard]] virtual std::uint64_t announced() const = 0;
  /// Messages that all receivers have released. Never more than announced().
  virtual std::uint64_t released() = 0;
  /// The receiver that has released the fewest messages, the lowest of them; -1: all have released all. For sentences.
  virtual int slowest_receiver() = 0;
};

/// A message that has arrived.
struct Message {
  const std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t call_hash = 0;
  Landing landing = Landing::kSlot;
};

/// A receiving end. One thread at a time. Nothing here blocks or allocates.
class ReceivePort {
 public:
  virtual ~ReceivePort() = default;

  /// The next message, or null if it has not arrived. Valid until release().
  virtual const Message* front() = 0;
  /// Gives the front message's slot or memory back to the sender.
  virtual void release() = 0;
  /// Offers memory for message number `sequence` (counted from 0 since the stream was opened), less than `credit` ahead
  /// of the front; once per message. False if the memory cannot be reached by the sender, the message is too far ahead
  /// or past, or the transport always carries so few bytes in slots: then it will come in a slot. After true it still
  /// may: if it is announced already, if its size differs, or if another receiver has posted nothing.
  virtual bool post(std::uint64_t sequence, std::byte* memory, std::uint32_t bytes) = 0;
  /// Number of messages released so far.
  [[nodiscard]] virtual std::uint64_t consumed() const = 0;
  [[nodiscard]] virtual int sender() const = 0;
};

/// Wakes a sleeping rank. Lives in memory that all its peers map. Protocol, all operations sequentially consistent:
///   sleeper: sleeping = 1; look once more for work; wait while bell is unchanged; sleeping = 0
///   waker:   make the work visible (sequentially consistent store); if sleeping: ++bell; wake
/// Either the sleeper sees the work or the waker sees the sleeper (store buffering is forbidden among sequentially
/// consistent operations).
struct Doorbell;

/// What a communicator's ranks have said about the call they are in; for sentences about stuck or mismatched peers.
struct CallRecord {
  std::uint64_t number = 0;  ///< calls begun so far
  std::uint8_t collective = 0;
  std::uint8_t type = 0;
  std::uint8_t op = 0;
  std::int32_t root = 0;
  std::uint64_t count = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual Result<std::unique_ptr<SendPort>> open_send(const StreamSpec& spec) = 0;
  virtual Result<std::unique_ptr<ReceivePort>> open_receive(const StreamSpec& spec) = 0;

  /// Makes memory reachable by peers ahead of use, so that can_refer() and post() say yes to it. Idempotent and cheap
  /// when known. A refusal is no error: messages then go by slots.
  virtual void offer(const std::byte* memory, std::size_t bytes) = 0;

  /// The rank's own doorbell; null if the transport cannot wake (then waiters poll).
  virtual Doorbell* doorbell() = 0;
  /// Looks whether peers are alive and have not left. Takes system calls: only for threads that wait anyway.
  /// kRemoteError naming the rank.
  virtual Status check_peers() = 0;

  /// Publishes the call that this rank begins.
  virtual void record_call(const CallRecord& record) = 0;
  /// What a peer has published last.
  [[nodiscard]] virtual CallRecord call_of(int peer) const = 0;
  /// Tells peers that this rank leaves: in order, or because it gives up.
  enum class Leave : std::uint8_t { kFinished, kAborted };
  virtual void leave(Leave how) = 0;
};

}  // namespace hawser::transport
