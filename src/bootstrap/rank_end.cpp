// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/rank_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bootstrap/messages.h"

namespace hawser::bootstrap {
namespace {

/// After this long without a connection from the rank whose blobs are due, this rank connects to it, to see whether it
/// is still there: a rank that died before it ever connected would leave no other trace here.
constexpr Milliseconds kProbeAfter{1000};

}  // namespace

RankEnd::RankEnd(const Seat& seat, Listener listener)
    : seat_(seat), mesh_(seat.self, seat.secret, seat.table, std::move(listener)) {}

Result<std::vector<std::vector<std::byte>>> RankEnd::all_gather(std::span<const std::byte> mine) {
  Blobs blobs(static_cast<std::size_t>(ranks()));
  blobs[static_cast<std::size_t>(rank())].assign(mine.begin(), mine.end());
  HAWSER_TRY(run(Operation::kAllGather, blobs));
  return blobs;
}

Status RankEnd::barrier() {
  Blobs none;
  return run(Operation::kBarrier, none);
}

Status RankEnd::run(Operation operation, Blobs& blobs) {
  HAWSER_TRY(failed_);
  const Deadline deadline(seat_.limit, seat_.cancel);
  const int n = ranks();
  if (!blobs.empty() && blobs[static_cast<std::size_t>(rank())].size() > kMaxBlob)
    failed_ =
        Status(Code::kInvalidArgument, fmt::format("rank {} gave all_gather more than {} bytes", rank(), kMaxBlob));
  for (int k = 0; k < rounds_for(n) && failed_.is_ok(); ++k) {
    const int distance = 1 << k;
    const int count = operation == Operation::kBarrier ? 1 : std::min(distance, n - distance);
    const Round round{operation, static_cast<std::uint8_t>(k), (rank() + distance) % n, (rank() - distance + n) % n,
                      count};
    failed_ = run_round(round, blobs, deadline);
  }
  ++calls_;
  if (!failed_.is_ok()) mesh_.fail(failed_.message());
  return failed_;
}

Status RankEnd::run_round(const Round& round, Blobs& blobs, const Deadline& deadline) {
  HAWSER_TRY(mesh_.open_way_to(round.to, Purpose::kBlocks));
  bool is_sent = false;
  int received = 0;
  const TimePoint probe_at = Clock::now() + kProbeAfter;
  while (true) {
    Connection* way = mesh_.way_to(round.to);
    if (way != nullptr && !is_sent) {
      send_blobs(round, blobs);
      is_sent = true;
    }
    received = HAWSER_TRY_VALUE(receive_blobs(round, blobs, received));
    way = mesh_.way_to(round.to);
    const bool is_flushed = is_sent && (way == nullptr || way->is_flushed());
    if (is_flushed && received == round.count) return {};
    if (deadline.is_cancelled()) return cancelled(rank());
    if (deadline.has_passed()) return timed_out(round, received);
    const bool has_probe = mesh_.has_way_from(round.from) || Clock::now() >= probe_at;
    if (!mesh_.has_way_from(round.from) && has_probe) HAWSER_TRY(mesh_.open_way_to(round.from, Purpose::kProbe));
    HAWSER_TRY(mesh_.turn(deadline, has_probe ? TimePoint::max() : probe_at));
  }
}

void RankEnd::send_blobs(const Round& round, const Blobs& blobs) {
  Connection& way = *mesh_.way_to(round.to);
  for (int i = 0; i < round.count; ++i) {
    const int origin = (rank() - i + ranks()) % ranks();
    Block block{calls_, round.operation, round.number, static_cast<std::uint32_t>(origin), {}};
    if (round.operation == Operation::kAllGather) block.bytes = blobs[static_cast<std::size_t>(origin)];
    way.send(FrameType::kBlock, encode(block));
  }
}

Result<int> RankEnd::receive_blobs(const Round& round, Blobs& blobs, int received) {
  while (received < round.count) {
    const std::optional<Frame> frame = HAWSER_TRY_VALUE(mesh_.take_from(round.from));
    if (!frame) break;
    const int origin = (round.from - received + ranks()) % ranks();
    HAWSER_TRY(store(round, *frame, origin, blobs));
    ++received;
  }
  return received;
}

Status RankEnd::store(const Round& round, const Frame& frame, int origin, Blobs& blobs) {
  const auto block = decode_block(frame.payload);
  if (!block)
    return Status(Code::kRemoteError, fmt::format("rank {}: rank {} sent a message that has no place here: use the "
                                                  "same Hawser on all ranks",
                                                  rank(), round.from));
  if (block->call != calls_ || block->operation != round.operation)
    return Status(
        Code::kInvalidUsage,
        fmt::format("rank {} is in {} as its call {} while rank {} is in {} as its call {}: all ranks must "
                    "make the same calls in the same order",
                    rank(), text_of(round.operation), calls_, round.from, text_of(block->operation), block->call));
  if (block->round != round.number || block->origin != static_cast<std::uint32_t>(origin))
    return Status(Code::kRemoteError, fmt::format("rank {}: rank {} sent the blob of rank {} where that of rank {} was "
                                                  "due: use the same Hawser on all ranks",
                                                  rank(), round.from, block->origin, origin));
  if (round.operation == Operation::kAllGather)
    blobs[static_cast<std::size_t>(origin)].assign(block->bytes.begin(), block->bytes.end());
  return {};
}

Status RankEnd::timed_out(const Round& round, int received) const {
  const std::string what =
      received < round.count ? mesh_.describe_way_from(round.from) : mesh_.describe_way_to(round.to);
  return Status(Code::kTimeout, fmt::format("rank {}: {} was not complete within {}: {}; see that rank's log, "
                                            "HAWSER_INIT_TIMEOUT_S sets the limit",
                                            rank(), text_of(round.operation), text_of(seat_.limit), what));
}

}  // namespace hawser::bootstrap
