// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "device/host_memory.h"

namespace hawser::transport::shm {

/// A range that is not inside an allocation makes larger ones from the same address unknown, too, but not smaller ones.
bool OfferedMemory::is_known_unknown(const std::byte* memory, std::size_t bytes) const {
  return std::ranges::any_of(unknown_, [&](const Range& r) { return r.memory == memory && r.bytes <= bytes; });
}

bool OfferedMemory::offer(const std::byte* memory, std::size_t bytes, std::span<const Peer* const> peers) {
  if (memory == nullptr) return false;
  const bool has_forgotten = generation_ != device::generation() && forget_freed(peers);
  if (is_known_unknown(memory, bytes) || find(memory, bytes)) return has_forgotten;
  const std::optional<device::HostAllocation> allocation = device::find(memory, bytes);
  if (!allocation) {
    unknown_.at(next_unknown_) = {memory, bytes};
    next_unknown_ = (next_unknown_ + 1) % unknown_.size();
    return has_forgotten;
  }
  if (std::ranges::any_of(offers_, [&](const Offer& offer) { return offer.id == allocation->id; }))
    return has_forgotten;
  Packet packet;
  packet.kind = Packet::Kind::kMemory;
  packet.id = allocation->id;
  packet.bytes = allocation->bytes;
  bool is_complete = true;
  for (const Peer* peer : peers) {
    is_complete &= send_packet(*peer, packet, allocation->memory_fd).is_ok();
  }
  offers_.push_back({allocation->id, allocation->base, allocation->bytes, is_complete});
  return true;
}

bool OfferedMemory::forget_freed(std::span<const Peer* const> peers) {
  generation_ = device::generation();
  unknown_.fill({});
  const std::size_t forgotten = std::erase_if(offers_, [&](const Offer& offer) {
    const std::optional<device::HostAllocation> now = device::find(offer.base, offer.bytes);
    if (now && now->id == offer.id) return false;
    Packet packet;
    packet.kind = Packet::Kind::kForget;
    packet.id = offer.id;
    for (const Peer* peer : peers) {
      // A peer whose queue is full keeps the mapping until the communicator ends: memory, not correctness; ids are never reused.
      std::ignore = send_packet(*peer, packet, -1);
    }
    return true;
  });
  return forgotten > 0;
}

std::optional<Reference> OfferedMemory::find(const std::byte* memory, std::size_t bytes) const {
  for (const Offer& offer : offers_) {
    if (memory < offer.base || !offer.is_complete) continue;
    const auto offset = static_cast<std::size_t>(memory - offer.base);
    if (offset <= offer.bytes && bytes <= offer.bytes - offset) return Reference{offer.id, offset};
  }
  return std::nullopt;
}

void PeerMemory::take(Received received) {
  const std::uint64_t id = received.packet.id;
  if (received.packet.kind == Packet::Kind::kForget) {
    std::erase_if(known_, [&](const Known& known) { return known.id == id; });
    return;
  }
  if (!received.descriptor.is_open()) return;
  struct stat info {};
  // The size is the kernel's word, not the peer's: touching a mapping beyond the file's end would kill this process.
  if (::fstat(received.descriptor.get(), &info) != 0 || info.st_size <= 0) return;
  const auto bytes = static_cast<std::size_t>(info.st_size);
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, received.descriptor.get(), 0);
  if (address == MAP_FAILED) return;
  known_.push_back({id, Mapping(address, bytes)});
}

std::byte* PeerMemory::resolve(const Reference& reference, std::size_t bytes) const {
  for (const Known& known : known_) {
    if (known.id != reference.memory_id) continue;
    const bool is_inside =
        reference.offset <= known.mapping.bytes() && bytes <= known.mapping.bytes() - reference.offset;
    return is_inside ? known.mapping.data() + reference.offset : nullptr;
  }
  return nullptr;
}

}  // namespace hawser::transport::shm
