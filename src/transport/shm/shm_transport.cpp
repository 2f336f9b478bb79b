// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/shm_transport.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

namespace hawser::transport::shm {
namespace {

using Clock = std::chrono::steady_clock;

class ShmTransport final : public Transport {
 public:
  ShmTransport(ShmArgs args, std::unique_ptr<OwnSegment> segment)
      : args_(std::move(args)), segment_(std::move(segment)) {}

  Status connect(const MeshListener& listener);

  Result<std::unique_ptr<SendPort>> open_send(const StreamSpec& spec) override;
  Result<std::unique_ptr<ReceivePort>> open_receive(const StreamSpec& spec) override;
  void offer(const std::byte* memory, std::size_t bytes) override;
  Doorbell* doorbell() override { return &segment_->control().doorbell; }
  Status check_peers() override;
  void record_call(const CallRecord& record) override;
  [[nodiscard]] CallRecord call_of(int peer) const override;
  void leave(Leave how) override;

 private:
  /// Index among the ranks of the host; -1: elsewhere.
  [[nodiscard]] int index_of(int rank) const;
  Status hand_over_segment(LocalPeer& peer);
  Status take_segment(LocalPeer& peer, const MeshArgs& mesh);
  /// Whether a stream among these ranks, seen from this one, can exist.
  [[nodiscard]] Status check_spec(const StreamSpec& spec) const;
  [[nodiscard]] Status describe(const LocalPeer& peer) const;
  /// The rank whose death or giving up explains that this one gives up, too; else this one.
  [[nodiscard]] int find_cause() const;
  [[nodiscard]] std::string name_of(int rank) const;

  ShmArgs args_;
  std::unique_ptr<OwnSegment> segment_;
  /// Parallel to args_.local_ranks; the own entry has no connection. Connections of the packets interface lie inside.
  std::vector<LocalPeer> peers_;
  std::vector<const Peer*> connections_;  ///< of peers_, without the own entry
  OfferedMemory offered_;
};

int ShmTransport::index_of(int rank) const {
  const auto found = std::ranges::lower_bound(args_.local_ranks, rank);
  if (found == args_.local_ranks.end() || *found != rank) return -1;
  return static_cast<int>(found - args_.local_ranks.begin());
}

std::string ShmTransport::name_of(int rank) const {
  const int index = index_of(rank);
  const pid_t pid = index < 0 ? 0 : peers_[static_cast<std::size_t>(index)].connection.pid;
  return fmt::format("rank {} (pid {} on {})", rank, pid, args_.hosts[static_cast<std::size_t>(rank)]);
}

/// The own segment goes to a peer as a descriptor or, inside one process, as a shared mapping whose ownership travels with its address.
Status ShmTransport::hand_over_segment(LocalPeer& peer) {
  Packet packet;
  packet.kind = Packet::Kind::kSegment;
  if (!peer.is_same_process) return send_packet(peer.connection, packet, segment_->memory_fd());
  auto shared = std::make_unique<std::shared_ptr<Mapping>>(segment_->mapping());
  packet.id = reinterpret_cast<std::uintptr_t>(shared.get());
  HAWSER_TRY(send_packet(peer.connection, packet, -1));
  std::ignore = shared.release();  // the peer owns it now
  return {};
}

Status ShmTransport::take_segment(LocalPeer& peer, const MeshArgs& mesh) {
  Received received = HAWSER_TRY_VALUE(await_packet(peer.connection, mesh));
  if (received.packet.kind != Packet::Kind::kSegment) {
    return {Code::kRemoteError,
            fmt::format("{} sent something else than its shared segment", name_of(peer.connection.rank))};
  }
  if (peer.is_same_process) {
    const std::unique_ptr<std::shared_ptr<Mapping>> shared(
        reinterpret_cast<std::shared_ptr<Mapping>*>(received.packet.id));  // from hand_over_segment of the same process
    peer.segment = PeerSegment::share(std::move(*shared));
    return {};
  }
  peer.segment = HAWSER_TRY_VALUE(PeerSegment::map(std::move(received.descriptor)));
  return {};
}

Status ShmTransport::connect(const MeshListener& listener) {
  MeshArgs mesh;
  mesh.rank = args_.rank;
  mesh.local_ranks = args_.local_ranks;
  for (const Introduction& introduction : args_.introductions) mesh.addresses.push_back(introduction.control_address);
  mesh.prove = args_.prove;
  mesh.deadline = args_.deadline;
  mesh.cancel = args_.cancel;
  std::vector<Peer> connections = HAWSER_TRY_VALUE(connect_mesh(listener, mesh));
  const std::uint64_t own_token = HAWSER_TRY_VALUE(process_token());
  peers_.resize(connections.size());
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    peers_[i].connection = std::move(connections[i]);
    peers_[i].is_same_process = args_.introductions[i].process_token == own_token;
    if (peers_[i].connection.rank != args_.rank) HAWSER_TRY(hand_over_segment(peers_[i]));
  }
  for (LocalPeer& peer : peers_) {
    if (peer.connection.rank == args_.rank) continue;
    HAWSER_TRY(take_segment(peer, mesh));
    connections_.push_back(&peer.connection);
  }
  return {};
}

Status ShmTransport::check_spec(const StreamSpec& spec) const {
  if (spec.credit < 1 || spec.credit > kMaxCredit || spec.receivers.empty()) {
    return {Code::kInternalError,
            fmt::format("rank {}: a stream to {} receivers with a credit of {}; 1 to {} are possible", args_.rank,
                        spec.receivers.size(), spec.credit, kMaxCredit)};
  }
  for (const int receiver : spec.receivers) {
    if (index_of(receiver) >= 0 && receiver != spec.sender) continue;
    return {Code::kInternalError,
            fmt::format("rank {}: no shared memory between ranks {} and {}", args_.rank, spec.sender, receiver)};
  }
  return {};
}

Result<std::unique_ptr<SendPort>> ShmTransport::open_send(const StreamSpec& spec) {
  HAWSER_TRY(check_spec(spec));
  std::vector<LocalPeer*> receivers;
  for (const int receiver : spec.receivers) {
    receivers.push_back(&peers_[static_cast<std::size_t>(index_of(receiver))]);
  }
  StreamHead* head = HAWSER_TRY_VALUE(
      segment_->stream(key_of(spec), spec.slot_bytes, spec.credit, static_cast<std::uint32_t>(spec.receivers.size())));
  return std::unique_ptr<SendPort>(std::make_unique<ShmSendPort>(head, std::move(receivers), &offered_));
}

Result<std::unique_ptr<ReceivePort>> ShmTransport::open_receive(const StreamSpec& spec) {
  HAWSER_TRY(check_spec(spec));
  const int index = index_of(spec.sender);
  const auto self = std::ranges::find(spec.receivers, args_.rank);
  if (index < 0 || self == spec.receivers.end()) {
    return Status(Code::kInternalError, fmt::format("rank {}: no shared memory with rank {}", args_.rank, spec.sender));
  }
  ShmReceivePort::Args args;
  args.key = key_of(spec);
  args.sender = spec.sender;
  args.receiver_index = static_cast<std::uint32_t>(self - spec.receivers.begin());
  args.receivers = static_cast<std::uint32_t>(spec.receivers.size());
  args.slot_bytes = spec.slot_bytes;
  args.credit = spec.credit;
  args.peer = &peers_[static_cast<std::size_t>(index)];
  args.offered = &offered_;
  return std::unique_ptr<ReceivePort>(std::make_unique<ShmReceivePort>(args));
}

void ShmTransport::offer(const std::byte* memory, std::size_t bytes) {
  if (connections_.empty()) return;
  if (!offered_.offer(memory, bytes, connections_)) return;
  // Ranks offer at about the same times. A rank that left its queue unread for long would keep freed memory alive.
  for (LocalPeer& peer : peers_) peer.take_packets();
}

Status ShmTransport::describe(const LocalPeer& peer) const {
  switch (peer.connection.state) {
    case PeerState::kPresent:
    case PeerState::kFinished:
      return {};
    case PeerState::kDead:
      return {Code::kRemoteError,
              fmt::format("rank {}: {} has died; abort this communicator and start again without it", args_.rank,
                          name_of(peer.connection.rank))};
    case PeerState::kAborted:
      if (index_of(peer.connection.cause) >= 0 && peer.connection.cause != peer.connection.rank) {
        return {
            Code::kRemoteError,
            fmt::format(
                "rank {}: {} has died, says rank {}, which gave up; abort this communicator and start again without it",
                args_.rank, name_of(peer.connection.cause), peer.connection.rank)};
      }
      return {Code::kRemoteError, fmt::format("rank {}: {} aborted the communicator; see its own log for why",
                                              args_.rank, name_of(peer.connection.rank))};
  }
  return {};
}

Status ShmTransport::check_peers() {
  for (LocalPeer& peer : peers_) {
    if (peer.connection.rank == args_.rank) continue;
    const bool has_ended = has_exited(peer.connection);
    peer.take_packets();  // what it said before it ended counts: whoever left in order is not dead
    if (has_ended && peer.connection.state == PeerState::kPresent) peer.connection.state = PeerState::kDead;
  }
  // A death explains the aborts that it caused, so it is named first.
  for (const PeerState state : {PeerState::kDead, PeerState::kAborted}) {
    for (const LocalPeer& peer : peers_) {
      if (peer.connection.state == state) return describe(peer);
    }
  }
  return {};
}

void ShmTransport::record_call(const CallRecord& record) {
  SharedCall& call = segment_->control().call;
  call.count.store(record.count, std::memory_order_relaxed);
  call.arguments.store(std::uint64_t{record.collective} | std::uint64_t{record.type} << 8 |
                           std::uint64_t{record.op} << 16 |
                           std::uint64_t{static_cast<std::uint32_t>(record.root)} << 32,
                       std::memory_order_relaxed);
  call.number.store(record.number, std::memory_order_release);  // partner: call_of
}

CallRecord ShmTransport::call_of(int peer) const {
  CallRecord record;
  const int index = index_of(peer);
  if (index < 0 || peer == args_.rank) return record;
  const SharedCall& call = peers_[static_cast<std::size_t>(index)].segment->control().call;
  record.number = call.number.load(std::memory_order_acquire);  // partner: record_call
  record.count = call.count.load(std::memory_order_relaxed);
  const std::uint64_t arguments = call.arguments.load(std::memory_order_relaxed);
  record.collective = static_cast<std::uint8_t>(arguments);
  record.type = static_cast<std::uint8_t>(arguments >> 8);
  record.op = static_cast<std::uint8_t>(arguments >> 16);
  record.root = static_cast<std::int32_t>(arguments >> 32);
  return record;
}

int ShmTransport::find_cause() const {
  for (const LocalPeer& peer : peers_) {
    if (peer.connection.state == PeerState::kDead) return peer.connection.rank;
  }
  for (const LocalPeer& peer : peers_) {
    if (peer.connection.state == PeerState::kAborted) return peer.connection.cause;
  }
  return args_.rank;
}

void ShmTransport::leave(Leave how) {
  const std::uint64_t cause = static_cast<std::uint32_t>(find_cause());
  // In shared memory, not by packet: a queue may be full, and the word must outlive this process. The first word counts.
  std::uint64_t none = 0;
  segment_->control().farewell.compare_exchange_strong(none, (1 + static_cast<std::uint64_t>(how)) | cause << 8,
                                                       std::memory_order_seq_cst);  // partner: LocalPeer::take_packets
  for (const LocalPeer& peer : peers_) {
    if (peer.segment) ring(peer.segment->control().doorbell);
  }
}

}  // namespace

Result<std::uint64_t> process_token() {
  // A random number drawn once per process; the pid tells a forked child from its parent.
  static const std::uint64_t drawn = [] {
    std::uint64_t value = 0;
    return ::getrandom(&value, sizeof(value), 0) == static_cast<ssize_t>(sizeof(value)) ? value | 1U : 0;
  }();
  if (drawn == 0) return Status(Code::kSystemError, "the system gives no random numbers (getrandom)");
  return drawn ^ (static_cast<std::uint64_t>(::getpid()) << 32);
}

Result<std::unique_ptr<Transport>> create(MeshListener listener, ShmArgs args) {
  std::unique_ptr<OwnSegment> segment = HAWSER_TRY_VALUE(OwnSegment::create(args.segment_bytes));
  auto transport = std::make_unique<ShmTransport>(std::move(args), std::move(segment));
  HAWSER_TRY(transport->connect(listener));
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace hawser::transport::shm
