// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/joining.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <utility>

#include "bootstrap/crypto.h"
#include "bootstrap/dialer.h"
#include "bootstrap/interfaces.h"
#include "bootstrap/messages.h"

namespace hawser::bootstrap {
namespace {

/// The longest answer: a table of 2 log2(kMaxRanks) members of less than 256 bytes each, or a refusal.
constexpr std::size_t kMaxAnswer = std::size_t{72} << 10;

/// How long after its limit a rank still listens to a root that it has reached: the root speaks up before the limit, but
/// on a busy machine its word, which says who is missing, may be late.
constexpr Milliseconds kGrace{1000};

std::string_view remedy_for(const IdContents& id) {
  if (id.kind == RootKind::kFixed)
    return "rank 0 serves that address: see whether it runs there, and whether NCCL_COMM_ID and HAWSER_SECRET are the "
           "same everywhere";
  const bool is_local = std::ranges::all_of(id.addresses, &SocketAddress::is_loopback);
  if (is_local && id.host != host_hash())
    return "these are loopback addresses of another host: set NCCL_SOCKET_IFNAME where the unique id is made";
  return "the process that made the unique id has to be alive, a unique id serves one communicator, and "
         "NCCL_SOCKET_IFNAME where the id is made chooses other addresses";
}

/// The addresses with the one on which the root was reached in front: it leads somewhere.
std::vector<SocketAddress> with_first(std::vector<SocketAddress> addresses, const SocketAddress& reached) {
  std::ranges::stable_partition(addresses, [&](const SocketAddress& address) {
    return address.family == reached.family && address.bytes == reached.bytes;
  });
  return addresses;
}

class Joiner {
 public:
  Joiner(const IdContents& id, const Member& self, int ranks, const Deadline& deadline)
      : id_(id), self_(self), ranks_(ranks), deadline_(deadline) {}

  Result<Table> run() {
    auto connection = HAWSER_TRY_VALUE(connect());
    connection->limit_payload(kMaxAnswer);
    connection->send(FrameType::kJoin, encode(request(*connection)));
    Status outcome = await_answer(*connection);
    if (!outcome.is_ok()) {
      say_goodbye(*connection, outcome);
      return outcome;
    }
    return take_answer(*connection->take());
  }

 private:
  Result<std::unique_ptr<Connection>> connect() {
    const bool is_fixed = id_.kind == RootKind::kFixed;
    Dialer dialer(candidates_for(id_.addresses, id_.host, host_hash()), derive(id_.secret, "root"),
                  is_fixed ? Refusals::kArePassing : Refusals::kAreFinal);
    PollSet polls;
    while (true) {
      if (auto connection = dialer.take()) return connection;
      if (deadline_.is_cancelled()) return cancelled(self_.rank);
      if (deadline_.has_passed())
        return Status(Code::kTimeout, fmt::format("rank {} did not reach the root within {}: {}; {}", self_.rank,
                                                  text_of(deadline_.limit()), dialer.describe(), remedy_for(id_)));
      polls.clear();
      dialer.prepare(polls);
      HAWSER_TRY(polls.wait(deadline_.next_look(dialer.next_timer())));
      if (Status outcome = dialer.service(polls); !outcome.is_ok()) return explain(outcome);
    }
  }

  [[nodiscard]] Status explain(const Status& outcome) const {
    if (outcome.code() != Code::kRemoteError)
      return Status(outcome.code(), fmt::format("rank {} cannot join: {}", self_.rank, outcome.message()));
    return Status(Code::kRemoteError,
                  fmt::format("rank {} cannot reach the root: {}; {}", self_.rank, outcome.message(), remedy_for(id_)));
  }

  [[nodiscard]] JoinRequest request(const Connection& connection) const {
    constexpr std::int64_t kMost = 0xffffffff;
    Member self = self_;
    if (const auto local = connection.local()) self.addresses = with_first(self.addresses, *local);
    return {self, ranks_, static_cast<std::uint32_t>(std::min<std::int64_t>(deadline_.limit().count(), kMost)),
            static_cast<std::uint32_t>(std::min<std::int64_t>(deadline_.remaining().count(), kMost))};
  }

  Status await_answer(Connection& connection) {
    const Deadline patience = deadline_.extended_by(kGrace);
    PollSet polls;
    for (Status outcome = connection.advance(); !connection.inbox(); outcome = connection.advance()) {
      if (!outcome.is_ok())
        return Status(Code::kRemoteError,
                      fmt::format("rank {}: the root at {} {} before all ranks had joined; see the process that made "
                                  "the unique id",
                                  self_.rank, text_of(connection.peer()), outcome.message()));
      if (patience.is_cancelled()) return cancelled(self_.rank);
      if (patience.has_passed())
        return Status(Code::kTimeout, fmt::format("rank {}: the root at {} has not answered within {}", self_.rank,
                                                  text_of(connection.peer()), text_of(deadline_.limit())));
      polls.clear();
      connection.prepare(polls);
      HAWSER_TRY(polls.wait(patience.next_look(patience.end())));
    }
    return {};
  }

  /// Best effort: lets the root tell the others why this rank goes.
  void say_goodbye(Connection& connection, const Status& why) const {
    connection.send(FrameType::kAbort, encode(Abort{static_cast<std::uint32_t>(self_.rank), why.message()}));
    static_cast<void>(connection.advance());
  }

  [[nodiscard]] Result<Table> take_answer(const Frame& frame) const {
    if (frame.type == FrameType::kRefusal) {
      if (const auto refusal = decode_refusal(frame.payload))
        return Status(refusal->code, fmt::format("rank {}: {}", self_.rank, refusal->reason));
    } else if (frame.type == FrameType::kTable) {
      if (auto table = decode_table(frame.payload); table && is_about_us(*table)) return std::move(*table);
    }
    return Status(Code::kRemoteError, fmt::format("rank {}: the root sent an answer that is none", self_.rank));
  }

  [[nodiscard]] bool is_about_us(const Table& table) const {
    return std::ranges::equal(table.neighbors, neighbors_of(self_.rank, ranks_), {}, &Member::rank);
  }

  const IdContents& id_;
  const Member& self_;
  int ranks_;
  const Deadline& deadline_;
};

}  // namespace

Result<Table> ask_root(const IdContents& id, const Member& self, int ranks, const Deadline& deadline) {
  return Joiner(id, self, ranks, deadline).run();
}

}  // namespace hawser::bootstrap
