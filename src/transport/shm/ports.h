// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The two ends of a stream in shared memory. The sender fills slots in its own segment; receivers read them there, write their release
// counts and posted landings into lines of their own. Every hand-over is one sequentially consistent store that the other side polls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/shm/layout.h"
#include "transport/shm/memory.h"
#include "transport/shm/mesh.h"
#include "transport/shm/segment.h"
#include "transport/transport.h"

namespace hawser::transport::shm {

/// All that this rank holds of one peer on the same host.
struct LocalPeer {
  Peer connection;
  std::optional<PeerSegment> segment;
  PeerMemory memory;
  bool is_same_process = false;

  /// Address here of memory that the peer named; takes in pending announcements on a miss. Null if it cannot be reached.
  std::byte* resolve(const Reference& reference, std::size_t bytes);
  /// Takes in all pending control packets and what the peer has said about leaving.
  void take_packets();
};

/// Key of a stream in its sender's directory: a hash of receivers, number, slot size and credit; never 0.
std::uint64_t key_of(const StreamSpec& spec);

class ShmSendPort final : public SendPort {
 public:
  /// `peers[i]` is the peer that is receiver i. Everything is borrowed from the transport, which outlives its ports.
  ShmSendPort(StreamHead* head, std::vector<LocalPeer*> peers, const OfferedMemory* offered);

  bool has_credit() override;
  Places places(std::uint32_t bytes) override;
  bool can_refer(const std::byte* local, std::uint32_t bytes) override;
  void announce(std::uint32_t bytes, std::uint32_t call_hash) override;
  void announce_reference(const std::byte* local, std::uint32_t bytes, std::uint32_t call_hash) override;
  [[nodiscard]] std::uint64_t announced() const override { return announced_; }
  std::uint64_t released() override;
  int slowest_receiver() override;

 private:
  [[nodiscard]] SlotHeader& slot(std::uint64_t sequence) const;
  bool find_posted(std::uint32_t bytes);
  void publish(SlotHeader& header, SlotKind kind, std::uint32_t bytes, std::uint32_t call_hash);

  ReceiverLine* lines_;
  std::byte* slots_;
  std::uint32_t credit_;
  std::uint32_t stride_;
  std::vector<LocalPeer*> peers_;
  std::vector<Doorbell*> bells_;
  std::vector<std::byte*> places_;
  const OfferedMemory* offered_;
  std::uint64_t announced_ = 0;
  std::uint64_t released_ = 0;  ///< lower bound, as last read
  bool is_direct_ = false;      ///< the last places() were posted landings
  bool is_same_process_ = true;
};

class ShmReceivePort final : public ReceivePort {
 public:
  struct Args {
    std::uint64_t key = 0;
    int sender = 0;
    std::uint32_t receiver_index = 0;
    std::uint32_t receivers = 0;
    std::uint32_t slot_bytes = 0;
    std::uint32_t credit = 0;
    LocalPeer* peer = nullptr;
    const OfferedMemory* offered = nullptr;
  };
  explicit ShmReceivePort(const Args& args) : args_(args) {}

  const Message* front() override;
  void release() override;
  bool post(std::uint64_t sequence, std::byte* memory, std::uint32_t bytes) override;
  [[nodiscard]] std::uint64_t consumed() const override { return consumed_; }
  [[nodiscard]] int sender() const override { return args_.sender; }

 private:
  bool attach();
  void read(const SlotHeader& header);
  /// Where the message's bytes lie; null if that cannot be: then the peer's memory cannot be mapped, or it is corrupt.
  [[nodiscard]] const std::byte* locate(const SlotHeader& header);

  Args args_;
  ReceiverLine* line_ = nullptr;
  std::byte* slots_ = nullptr;
  std::uint32_t stride_ = 0;
  std::uint64_t consumed_ = 0;
  bool has_front_ = false;
  Message front_;
  struct Posted {
    std::uint64_t sequence = 0;  ///< message number + 1
    std::byte* memory = nullptr;
    std::uint32_t bytes = 0;
  };
  Posted landings_[kMaxCredit] = {};  ///< by message number modulo credit
};

}  // namespace hawser::transport::shm
