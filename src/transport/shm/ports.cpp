// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/ports.h"

#include <algorithm>
#include <cstring>

namespace hawser::transport::shm {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash ^= word;  // the finaliser of MurmurHash3 (public domain), whose avalanche is documented
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

ReceiverLine* lines_of(StreamHead* head) { return reinterpret_cast<ReceiverLine*>(head + 1); }

std::byte* slots_of(StreamHead* head, std::size_t receivers) {
  return reinterpret_cast<std::byte*>(lines_of(head) + receivers);
}

}  // namespace

std::uint64_t key_of(const StreamSpec& spec) {
  std::uint64_t hash = mix(0x68617773657221ULL, static_cast<std::uint64_t>(spec.number));
  hash = mix(hash, (std::uint64_t{spec.slot_bytes} << 32) | spec.credit);
  for (const int receiver : spec.receivers) hash = mix(hash, static_cast<std::uint64_t>(receiver) + 1);
  return hash == 0 ? 1 : hash;
}

void LocalPeer::take_packets() {
  while (std::optional<Received> received = receive_packet(connection)) {
    switch (received->packet.kind) {
      case Packet::Kind::kMemory:
      case Packet::Kind::kForget:
        memory.take(std::move(*received));
        break;
      case Packet::Kind::kHello:
      case Packet::Kind::kWelcome:
      case Packet::Kind::kSegment:
        break;  // only during initialisation
    }
  }
  if (!segment) return;
  // Read after the connection's end was noticed: whoever said a word before it ended is not dead.
  const std::uint64_t farewell = segment->control().farewell.load(std::memory_order_acquire);  // partner: leave
  if (farewell == 0) return;
  const bool is_finished = (farewell & 0xFF) == 1 + static_cast<std::uint64_t>(Transport::Leave::kFinished);
  connection.state = is_finished ? PeerState::kFinished : PeerState::kAborted;
  connection.cause = static_cast<int>(farewell >> 8);
}

std::byte* LocalPeer::resolve(const Reference& reference, std::size_t bytes) {
  if (reference.memory_id == kSameProcess) {
    return is_same_process ? reinterpret_cast<std::byte*>(reference.offset) : nullptr;
  }
  if (std::byte* address = memory.resolve(reference, bytes)) return address;
  take_packets();  // the announcement was queued before the reference was written
  return memory.resolve(reference, bytes);
}

ShmSendPort::ShmSendPort(StreamHead* head, std::vector<LocalPeer*> peers, const OfferedMemory* offered)
    : lines_(lines_of(head)),
      slots_(slots_of(head, peers.size())),
      credit_(head->credit),
      stride_(head->slot_stride),
      peers_(std::move(peers)),
      places_(peers_.size()),
      offered_(offered) {
  for (LocalPeer* peer : peers_) {
    bells_.push_back(&peer->segment->control().doorbell);
    is_same_process_ &= peer->is_same_process;
  }
}

SlotHeader& ShmSendPort::slot(std::uint64_t sequence) const {
  return *reinterpret_cast<SlotHeader*>(slots_ + sequence % credit_ * stride_);
}

std::uint64_t ShmSendPort::released() {
  std::uint64_t lowest = announced_;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    // partner: ShmReceivePort::release. A receiver cannot have released what was not announced.
    lowest = std::min(lowest, lines_[i].released.load(std::memory_order_seq_cst));
  }
  released_ = lowest;
  return lowest;
}

bool ShmSendPort::has_credit() { return announced_ - released_ < credit_ || announced_ - released() < credit_; }

int ShmSendPort::slowest_receiver() {
  std::uint64_t lowest = announced_;
  int slowest = -1;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const std::uint64_t count = lines_[i].released.load(std::memory_order_acquire);
    if (count >= lowest) continue;
    lowest = count;
    slowest = peers_[i]->connection.rank;
  }
  return slowest;
}

bool ShmSendPort::find_posted(std::uint32_t bytes) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const PostedLanding& posted = lines_[i].posted[announced_ % credit_];
    if (posted.sequence.load(std::memory_order_acquire) != announced_ + 1)
      return false;  // partner: ShmReceivePort::post
    if (posted.bytes != bytes) return false;
    places_[i] = peers_[i]->resolve(posted.memory, bytes);
    if (places_[i] == nullptr) return false;
  }
  return true;
}

Places ShmSendPort::places(std::uint32_t bytes) {
  is_direct_ = bytes > kInlineBytes && find_posted(bytes);
  if (is_direct_) return {places_, Landing::kDirect};
  SlotHeader& header = slot(announced_);
  places_[0] = bytes <= kInlineBytes ? header.inline_data : reinterpret_cast<std::byte*>(&header) + kLine;
  return {std::span(places_).first(1), Landing::kSlot};
}

bool ShmSendPort::can_refer(const std::byte* local, std::uint32_t bytes) {
  if (bytes <= kInlineBytes) return false;
  return is_same_process_ || offered_->find(local, bytes).has_value();
}

void ShmSendPort::publish(SlotHeader& header, SlotKind kind, std::uint32_t bytes, std::uint32_t call_hash) {
  header.bytes = bytes;
  header.call_hash = call_hash;
  header.kind = kind;
  is_direct_ = false;
  ++announced_;
  header.sequence.store(announced_, std::memory_order_seq_cst);  // partner: ShmReceivePort::front
  for (Doorbell* bell : bells_) ring_if_asleep(*bell);
}

void ShmSendPort::announce(std::uint32_t bytes, std::uint32_t call_hash) {
  const SlotKind kind = is_direct_ ? SlotKind::kDirect : bytes <= kInlineBytes ? SlotKind::kInline : SlotKind::kSlot;
  publish(slot(announced_), kind, bytes, call_hash);
}

void ShmSendPort::announce_reference(const std::byte* local, std::uint32_t bytes, std::uint32_t call_hash) {
  Reference reference{kSameProcess, reinterpret_cast<std::uintptr_t>(local)};
  if (!is_same_process_) reference = offered_->find(local, bytes).value_or(Reference{kNoMemory, 0});
  SlotHeader& header = slot(announced_);
  std::memcpy(header.inline_data, &reference, sizeof(reference));
  publish(header, SlotKind::kReference, bytes, call_hash);
}

bool ShmReceivePort::attach() {
  // The geometry is this rank's own computation, never the peer's word.
  const std::size_t bytes = stream_bytes(args_.slot_bytes, args_.credit, args_.receivers);
  StreamHead* head = args_.peer->segment->find_stream(args_.key, bytes);
  if (head == nullptr) return false;
  line_ = lines_of(head) + args_.receiver_index;
  slots_ = slots_of(head, args_.receivers);
  stride_ = slot_stride(args_.slot_bytes);
  return true;
}

const Message* ShmReceivePort::front() {
  if (has_front_) return &front_;
  if (line_ == nullptr && !attach()) return nullptr;
  const auto& header = *reinterpret_cast<const SlotHeader*>(slots_ + consumed_ % args_.credit * stride_);
  if (header.sequence.load(std::memory_order_seq_cst) != consumed_ + 1)
    return nullptr;  // partner: ShmSendPort::publish
  read(header);
  has_front_ = true;
  return &front_;
}

const std::byte* ShmReceivePort::locate(const SlotHeader& header) {
  switch (header.kind) {
    case SlotKind::kInline:
      return front_.bytes <= kInlineBytes ? header.inline_data : nullptr;
    case SlotKind::kSlot:
      return front_.bytes <= args_.slot_bytes ? reinterpret_cast<const std::byte*>(&header) + kLine : nullptr;
    case SlotKind::kDirect: {
      const Posted& posted = landings_[consumed_ % args_.credit];
      return posted.sequence == consumed_ + 1 && posted.bytes == front_.bytes ? posted.memory : nullptr;
    }
    case SlotKind::kReference: {
      Reference reference{};
      std::memcpy(&reference, header.inline_data, sizeof(reference));
      return args_.peer->resolve(reference, front_.bytes);
    }
  }
  return nullptr;
}

void ShmReceivePort::read(const SlotHeader& header) {
  front_.bytes = header.bytes;
  front_.call_hash = header.call_hash;
  front_.landing = Landing::kSlot;
  if (header.kind == SlotKind::kDirect) front_.landing = Landing::kDirect;
  if (header.kind == SlotKind::kReference) front_.landing = Landing::kReference;
  front_.data = locate(header);
}

void ShmReceivePort::release() {
  has_front_ = false;
  ++consumed_;
  line_->released.store(consumed_, std::memory_order_seq_cst);  // partner: ShmSendPort::released
  ring_if_asleep(args_.peer->segment->control().doorbell);
}

bool ShmReceivePort::post(std::uint64_t sequence, std::byte* memory, std::uint32_t bytes) {
  if (line_ == nullptr && !attach()) return false;
  if (sequence < consumed_ || sequence - consumed_ >= args_.credit || bytes <= kInlineBytes) return false;
  std::optional<Reference> reference = Reference{kSameProcess, reinterpret_cast<std::uintptr_t>(memory)};
  if (!args_.peer->is_same_process) reference = args_.offered->find(memory, bytes);
  if (!reference) return false;
  PostedLanding& posted = line_->posted[sequence % args_.credit];
  posted.memory = *reference;
  posted.bytes = bytes;
  landings_[sequence % args_.credit] = {sequence + 1, memory, bytes};
  posted.sequence.store(sequence + 1, std::memory_order_release);  // partner: ShmSendPort::find_posted
  return true;
}

}  // namespace hawser::transport::shm
