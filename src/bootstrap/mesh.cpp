// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "bootstrap/crypto.h"

namespace hawser::bootstrap {
namespace {

constexpr Milliseconds kNewcomerPatience{10'000};

}  // namespace

Secret peer_key(const Secret& communicator_secret, const Member& acceptor) {
  Writer who;
  who.number(static_cast<std::uint32_t>(acceptor.rank)).bytes(acceptor.nonce);
  return derive(communicator_secret, "peer", who.take());
}

Mesh::Mesh(const Member& self, const Secret& secret, const Table& table, Listener listener)
    : self_(self), secret_(secret), host_(self.host), acceptor_(std::move(listener), peer_key(secret, self)) {
  for (const Member& member : table.neighbors) {
    Neighbor neighbor;
    neighbor.member = member;
    neighbors_.emplace(member.rank, std::move(neighbor));
  }
}

Mesh::~Mesh() { close_all(FrameType::kGoodbye, {}); }

Status Mesh::open_way_to(int rank, Purpose purpose) {
  Neighbor& neighbor = neighbors_.at(rank);
  if (neighbor.has_left && purpose == Purpose::kProbe) return {};  // nothing to find out: take_from() knows
  if (neighbor.has_left)
    return Status(Code::kRemoteError,
                  fmt::format("rank {}: {} has left the communicator already", self_.rank, text_of(neighbor.member)));
  if (purpose == Purpose::kBlocks || !neighbor.dialer) neighbor.purpose = purpose;
  if (neighbor.out || neighbor.dialer) return {};
  neighbor.dialer = std::make_unique<Dialer>(candidates_for(neighbor.member.addresses, neighbor.member.host, host_),
                                             peer_key(secret_, neighbor.member), Refusals::kAreFinal);
  return {};
}

Result<std::optional<Frame>> Mesh::take_from(int rank) {
  Neighbor& neighbor = neighbors_.at(rank);
  if (neighbor.in && !neighbor.in->inbox()) HAWSER_TRY(serve(neighbor, neighbor.in));
  if (neighbor.in) return neighbor.in->take();
  // A neighbour that has finished says goodbye on both its connections, and the one with its blocks may be the slower:
  // then it stands among the newcomers, since it cannot have finished before it was let in.
  if (!neighbor.has_left || !newcomers_.empty()) return std::optional<Frame>();
  return Status(Code::kRemoteError, fmt::format("rank {}: {} left the communicator in the middle of an exchange",
                                                self_.rank, text_of(neighbor.member)));
}

Status Mesh::turn(const Deadline& deadline, TimePoint until) {
  polls_.clear();
  prepare(polls_);
  HAWSER_TRY(polls_.wait(deadline.next_look(std::min(until, next_timer()))));
  for (auto& connection : acceptor_.service(polls_)) newcomers_.push_back({std::move(connection), Clock::now()});
  serve_newcomers();
  for (auto& [rank, neighbor] : neighbors_) {
    if (neighbor.dialer) HAWSER_TRY(serve_dialer(neighbor, polls_));
    if (neighbor.out && neighbor.out->is_ready(polls_)) HAWSER_TRY(serve(neighbor, neighbor.out));
    if (neighbor.in && neighbor.in->is_ready(polls_)) HAWSER_TRY(serve(neighbor, neighbor.in));
  }
  return {};
}

void Mesh::prepare(PollSet& polls) {
  acceptor_.prepare(polls);
  for (Newcomer& newcomer : newcomers_) newcomer.connection->prepare(polls);
  for (auto& [rank, neighbor] : neighbors_) {
    if (neighbor.dialer) neighbor.dialer->prepare(polls);
    if (neighbor.out) neighbor.out->prepare(polls);
    if (neighbor.in) neighbor.in->prepare(polls);
  }
}

TimePoint Mesh::next_timer() const {
  TimePoint next = acceptor_.next_timer();
  for (const Newcomer& newcomer : newcomers_) next = std::min(next, newcomer.since + kNewcomerPatience);
  for (const auto& [rank, neighbor] : neighbors_) {
    if (neighbor.dialer) next = std::min(next, neighbor.dialer->next_timer());
  }
  return next;
}

void Mesh::serve_newcomers() {
  for (Newcomer& newcomer : newcomers_) {
    const bool is_late = Clock::now() - newcomer.since >= kNewcomerPatience;
    // The hello may have come in one packet with the proof, so one look is due even if poll says nothing.
    const bool is_alive = newcomer.connection->advance().is_ok() && !is_late;
    if (newcomer.connection->inbox()) {
      const Frame frame = *newcomer.connection->take();
      seat(std::move(newcomer.connection), frame);
    } else if (!is_alive) {
      newcomer.connection.reset();  // a try of a neighbour that took another of its ways
    }
  }
  std::erase_if(newcomers_, [](const Newcomer& newcomer) { return newcomer.connection == nullptr; });
}

void Mesh::seat(std::unique_ptr<Connection> connection, const Frame& frame) {
  Reader reader(frame.payload);
  const auto rank = reader.number<std::uint32_t>();
  const auto place = neighbors_.find(static_cast<int>(rank));
  const bool is_expected =
      frame.type == FrameType::kPeerHello && reader.is_complete() && place != neighbors_.end() && !place->second.in;
  if (is_expected) {
    Neighbor& neighbor = place->second;
    neighbor.in = std::move(connection);
    if (neighbor.purpose == Purpose::kProbe) neighbor.dialer.reset();  // it lives, and may be gone before it answers
  } else {
    log::debug("bootstrap: rank {} dropped {}, which is no neighbour", self_.rank, text_of(connection->peer()));
  }
}

Status Mesh::serve_dialer(Neighbor& neighbor, const PollSet& polls) {
  if (Status outcome = neighbor.dialer->service(polls); !outcome.is_ok())
    return Status(outcome.code(),
                  fmt::format("rank {} cannot reach {}: {}; see whether that process is alive, or choose other "
                              "addresses with NCCL_SOCKET_IFNAME",
                              self_.rank, text_of(neighbor.member), outcome.message()));
  neighbor.out = neighbor.dialer->take();
  if (!neighbor.out) return {};
  neighbor.dialer.reset();
  neighbor.out->send(FrameType::kPeerHello, Writer().number(static_cast<std::uint32_t>(self_.rank)).take());
  return serve(neighbor, neighbor.out);
}

Status Mesh::serve(Neighbor& neighbor, std::unique_ptr<Connection>& connection) {
  Status outcome = connection->advance();
  if (connection->inbox()) return heed(neighbor, connection);
  if (outcome.is_ok()) return {};
  return Status(Code::kRemoteError,
                fmt::format("rank {}: {}, at {}, {} without a word: its process has probably died; "
                            "see its own log",
                            self_.rank, text_of(neighbor.member), text_of(connection->peer()), outcome.message()));
}

/// Acts on what is not a block.
Status Mesh::heed(Neighbor& neighbor, std::unique_ptr<Connection>& connection) {
  const Frame& frame = *connection->inbox();
  if (frame.type == FrameType::kBlock && &connection == &neighbor.in) return {};
  if (frame.type == FrameType::kGoodbye) {
    neighbor.has_left = true;
    connection.reset();
    return {};
  }
  if (frame.type == FrameType::kAbort) heard_ = decode_abort(frame.payload);
  if (!heard_)
    return Status(Code::kRemoteError, fmt::format("rank {}: {} sent a message that has no place here: use the same "
                                                  "Hawser on all ranks",
                                                  self_.rank, text_of(neighbor.member)));
  return Status(Code::kRemoteError,
                fmt::format("rank {} heard that rank {} has failed: {}", self_.rank, heard_->origin, heard_->reason));
}

void Mesh::fail(const std::string& reason) {
  const Abort abort = heard_ ? *heard_ : Abort{static_cast<std::uint32_t>(self_.rank), reason};
  close_all(FrameType::kAbort, encode(abort));
}

void Mesh::close_all(FrameType last_word, const std::vector<std::byte>& payload) {
  for (auto& [rank, neighbor] : neighbors_) {
    for (auto* connection : {&neighbor.out, &neighbor.in}) {
      if (!*connection) continue;
      (*connection)->send(last_word, payload);
      static_cast<void>((*connection)->advance());
      connection->reset();
    }
    neighbor.dialer.reset();
    neighbor.has_left = true;
  }
  // They have sent no word of who they are, but take this rank's silence for its death all the same.
  for (Newcomer& newcomer : newcomers_) {
    newcomer.connection->send(last_word, payload);
    static_cast<void>(newcomer.connection->advance());
  }
  newcomers_.clear();
  acceptor_.close();
}

std::string Mesh::describe_way_to(int rank) const {
  const Neighbor& neighbor = neighbors_.at(rank);
  if (neighbor.dialer)
    return fmt::format("{} cannot be reached: {}", text_of(neighbor.member), neighbor.dialer->describe());
  return fmt::format("{} does not read what it is sent", text_of(neighbor.member));
}

std::string Mesh::describe_way_from(int rank) const {
  const Neighbor& neighbor = neighbors_.at(rank);
  return fmt::format("{} {}", text_of(neighbor.member),
                     neighbor.in ? "is connected but sends nothing" : "has not connected");
}

}  // namespace hawser::bootstrap
