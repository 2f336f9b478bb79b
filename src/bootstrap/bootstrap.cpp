// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/bootstrap.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "bootstrap/crypto.h"
#include "bootstrap/interfaces.h"
#include "bootstrap/joining.h"
#include "bootstrap/messages.h"
#include "bootstrap/rank_end.h"
#include "bootstrap/roots.h"
#include "bootstrap/unique_id.h"

namespace hawser::bootstrap {
namespace {

/// How often rank 0 tries to get the port of NCCL_COMM_ID while an earlier communicator still holds it.
constexpr Milliseconds kPortPause{20};

bool is_local(const std::vector<SocketAddress>& addresses) {
  return std::ranges::all_of(addresses, &SocketAddress::is_loopback);
}

/// The secret behind NCCL_COMM_ID, the same on all ranks. Without HAWSER_SECRET there is nothing that strangers do not
/// know: that is allowed on loopback only, where the users of this host are trusted; the user's number then keeps two
/// users apart by mistake, not against malice.
Result<Secret> fixed_secret(const Config& config, const std::vector<SocketAddress>& addresses) {
  const std::string port = fmt::format("port {}", addresses.front().port);
  if (!config.secret.empty()) {
    const Secret key = derive(Secret{}, "HAWSER_SECRET", std::as_bytes(std::span(config.secret)));
    return derive(key, "NCCL_COMM_ID", std::as_bytes(std::span(port)));
  }
  if (!is_local(addresses))
    return Status(Code::kInvalidUsage,
                  fmt::format("NCCL_COMM_ID={} is not a loopback address, and such an id carries no secret: set "
                              "HAWSER_SECRET to the same long random text on all ranks, or unset NCCL_COMM_ID",
                              config.comm_id));
  const std::string user = fmt::format("{} user {}", port, ::geteuid());
  return derive(Secret{}, "NCCL_COMM_ID on loopback", std::as_bytes(std::span(user)));
}

Result<UniqueId> make_fixed_id(const Config& config) {
  IdContents contents;
  contents.kind = RootKind::kFixed;
  contents.addresses = HAWSER_TRY_VALUE(resolve_comm_id(config.comm_id));
  contents.secret = HAWSER_TRY_VALUE(fixed_secret(config, contents.addresses));
  return encode(contents);
}

Result<std::vector<SocketAddress>> usable_addresses(const Config& config) {
  const std::vector<Interface> interfaces = HAWSER_TRY_VALUE(list_interfaces());
  return select_addresses(interfaces, config);
}

/// Where a rank listens. A root on loopback means that all ranks are on this host: then nobody else may reach them
/// either, since the secret of such an id can be one that strangers know.
Result<Listener> open_listener(const IdContents& id, const Config& config) {
  std::vector<SocketAddress> addresses = id.addresses;
  if (!is_local(addresses)) addresses = HAWSER_TRY_VALUE(usable_addresses(config));
  for (SocketAddress& address : addresses) address.port = 0;
  return Listener::open(addresses);
}

Status start_root(Listener listener, const IdContents& id) {
  std::unique_ptr<Root> root = HAWSER_TRY_VALUE(Root::create(std::move(listener), id.secret, id.kind));
  return serve_in_background(std::move(root));
}

/// Rank 0 of an id with a fixed address serves it.
Status start_fixed_root(const IdContents& id, const Deadline& deadline) {
  Result<Listener> listener = Listener::open(id.addresses);
  // An earlier communicator may be about to leave the port.
  while (!listener.is_ok() && listener.status().code() == Code::kInProgress && !deadline.has_passed() &&
         !deadline.is_cancelled()) {
    PollSet nothing;
    HAWSER_TRY(nothing.wait(Clock::now() + kPortPause));
    listener = Listener::open(id.addresses);
  }
  if (deadline.is_cancelled()) return cancelled(0);
  if (!listener.is_ok()) {
    const Code code = listener.status().code() == Code::kInProgress ? Code::kSystemError : listener.status().code();
    return Status(code, fmt::format("rank 0 serves NCCL_COMM_ID but {}", listener.status().message()));
  }
  return start_root(std::move(listener).value(), id);
}

Secret communicator_secret(const Secret& id_secret, const Secret& nonce, int ranks) {
  Writer what;
  what.bytes(nonce).number(static_cast<std::uint32_t>(ranks));
  return derive(id_secret, "communicator", what.take());
}

Status check_arguments(int rank, int ranks) {
  if (ranks >= 1 && ranks <= kMaxRanks && rank >= 0 && rank < ranks) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("rank {} of {} ranks: the number of ranks is 1 to {}, the rank is 0 to one less", rank,
                            ranks, kMaxRanks));
}

}  // namespace

Result<UniqueId> create_unique_id(const Config& config) {
  HAWSER_TRY(prepare_crypto());
  if (!config.comm_id.empty()) return make_fixed_id(config);
  const std::vector<SocketAddress> addresses = HAWSER_TRY_VALUE(usable_addresses(config));
  Listener listener = HAWSER_TRY_VALUE(Listener::open(addresses));
  IdContents contents;
  contents.host = host_hash();
  contents.addresses = listener.addresses();
  contents.secret = HAWSER_TRY_VALUE(random_secret());
  HAWSER_TRY(start_root(std::move(listener), contents));
  log::info("bootstrap: root listens on {}", text_of(contents.addresses));
  return encode(contents);
}

Result<std::unique_ptr<Bootstrap>> Bootstrap::join(const UniqueId& id, int rank, int ranks, const Config& config,
                                                   const std::atomic<std::uint32_t>* cancel) {
  const Deadline deadline(config.init_timeout, cancel);
  HAWSER_TRY(prepare_crypto());
  HAWSER_TRY(check_arguments(rank, ranks));
  const IdContents contents = HAWSER_TRY_VALUE(decode(id));
  if (contents.kind == RootKind::kFixed && rank == 0) HAWSER_TRY(start_fixed_root(contents, deadline));
  Listener listener = HAWSER_TRY_VALUE(open_listener(contents, config));
  Seat seat;
  seat.self = {rank, host_hash(), host_name(), HAWSER_TRY_VALUE(random_secret()), listener.addresses()};
  seat.ranks = ranks;
  seat.limit = deadline.limit();
  seat.cancel = cancel;
  seat.table = HAWSER_TRY_VALUE(ask_root(contents, seat.self, ranks, deadline));
  seat.secret = communicator_secret(contents.secret, seat.table.nonce, ranks);
  log::debug("bootstrap: rank {} of {} has joined and listens on {}", rank, ranks, text_of(seat.self.addresses));
  return std::unique_ptr<Bootstrap>(std::make_unique<RankEnd>(seat, std::move(listener)));
}

}  // namespace hawser::bootstrap
