// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/worker.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "perf/common/nccl_check.h"
#include "perf/common/statistics.h"

namespace hawser::perf {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr cudaStream_t kNullStream = nullptr;
// For -n 0: how long a measurement is to take, and how much of it must have been seen to tell how many iterations that
// makes.
constexpr duration<double> kWanted = milliseconds(20);
constexpr duration<double> kSeen = milliseconds(2);
constexpr int kFewestIterations = 5;
constexpr int kMostIterations = 200'000;

// Built-in reductions by our names; kMulSum is made per communicator.
ncclRedOp_t built_in(Op op) {
  switch (op) {
    case Op::kSum:
    case Op::kMulSum:
      return ncclSum;
    case Op::kProd:
      return ncclProd;
    case Op::kMin:
      return ncclMin;
    case Op::kMax:
      return ncclMax;
    case Op::kAvg:
      return ncclAvg;
  }
  return ncclSum;
}

}  // namespace

Worker::Worker(const Shared& shared, int thread, int first_rank, std::vector<ncclComm_t> comms)
    : shared_(shared), thread_(thread), members_(comms.size()) {
  for (std::size_t i = 0; i < comms.size(); ++i) {
    members_[i].rank = first_rank + static_cast<int>(i);
    members_[i].comm = comms[i];
  }
}

Status Worker::allocate() {
  const auto unalign = static_cast<std::size_t>(shared_.options.unalign);
  for (Member& each : members_) {
    each.send = HAWSER_TRY_VALUE(Buffer::create(shared_.options.alloc, shared_.max_bytes, unalign));
    each.recv = HAWSER_TRY_VALUE(Buffer::create(shared_.options.alloc, shared_.max_bytes, unalign));
  }
  note_progress();
  return {};
}

Status Worker::make_op(Member& member) {
  member.op = built_in(op_);
  if (op_ != Op::kMulSum) return {};
  const TypeInfo& type = info_of(type_);
  const int scalar = Data::scalar(member.rank);
  std::uint64_t bits = type.is_float ? encode(type, scalar) : static_cast<std::uint64_t>(scalar);
  return nccl_status(ncclRedOpCreatePreMulSum(&member.op, &bits, type_, ncclScalarHostImmediate, member.comm));
}

Status Worker::prepare(ncclDataType_t type, Op op) {
  type_ = type;
  op_ = op;
  data_.emplace(type, op, shared_.ranks);
  if (shared_.options.check > 0) reduced_ = data_->reduced();
  for (Member& each : members_) {
    each.input = data_->input(each.rank);
    HAWSER_TRY(make_op(each));
  }
  note_progress();
  return {};
}

Status Worker::finish() {
  if (op_ != Op::kMulSum) return {};
  for (Member& each : members_) HAWSER_TRY(nccl_status(ncclRedOpDestroy(each.op, each.comm)));
  return {};
}

Counts Worker::counts(const Cell& cell) const { return shared_.collective.counts(cell.bytes / size(), shared_.ranks); }

std::span<std::byte> Worker::input_of(const Member& member, const Cell& cell) const {
  const Buffer& buffer = cell.placement == Placement::kInPlace ? *member.recv : *member.send;
  return buffer.first(counts(cell).send * size());
}

void Worker::fill_inputs(const Cell& cell) {
  for (const Member& each : members_) fill(input_of(each, cell), each.input, size(), 0);
}

// So that what a call does not write is seen to be wrong.
void Worker::spoil_outputs(const Cell& cell) {
  constexpr int kSpoilt = 0x5a;
  const std::size_t bytes = counts(cell).recv * size();
  for (const Member& each : members_) {
    if (cell.placement == Placement::kOutOfPlace) std::memset(each.recv->data(), kSpoilt, bytes);
    each.recv->set_guard(bytes);
  }
}

Status Worker::start_all(const Cell& cell) {
  const Counts count = counts(cell);
  for (const Member& each : members_) {
    const Call call{.send = input_of(each, cell).data(),
                    .recv = each.recv->data(),
                    .count = count.call,
                    .type = type_,
                    .op = each.op,
                    .root = cell.root,
                    .comm = each.comm};
    HAWSER_TRY(nccl_status(shared_.collective.start(call)));
  }
  return {};
}

// The null stream: the calls are done when this returns.
Status Worker::iterate(const Cell& cell, int calls) {
  if (calls == 1 && members_.size() == 1) return start_all(cell);
  HAWSER_TRY(nccl_status(ncclGroupStart()));
  Status started;
  for (int i = 0; i < calls && started.is_ok(); ++i) started = start_all(cell);
  const ncclResult_t ended = ncclGroupEnd();
  return started.is_ok() ? nccl_status(ended) : started;
}

// Brings all ranks together more closely than the exchange could, which wakes them one after the other.
Status Worker::align() {
  HAWSER_TRY(nccl_status(ncclGroupStart()));
  ncclResult_t started = ncclSuccess;
  for (Member& each : members_) {
    if (started != ncclSuccess) break;
    started = ncclAllReduce(&each.scratch[0], &each.scratch[1], 1, ncclFloat32, ncclSum, each.comm, kNullStream);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return nccl_status(started != ncclSuccess ? started : ended);
}

// All ranks must iterate equally often, so they decide by the slowest of them.
Result<int> Worker::choose_iterations(const Cell& cell) {
  if (shared_.options.iterations > 0) return shared_.options.iterations;
  int tried = 1;
  double slowest = 0;
  for (;; tried *= 2) {
    HAWSER_TRY(align());
    const Clock::time_point start = Clock::now();
    HAWSER_TRY(time_each(cell, tried));
    const double spent = duration<double>(Clock::now() - start).count();
    const std::vector<double> all = HAWSER_TRY_VALUE(shared_.crew.gather(thread_, {&spent, 1}));
    slowest = *std::max_element(all.begin(), all.end());
    if (slowest >= kSeen.count() || tried >= kMostIterations / 2) break;
  }
  const double wanted = kWanted.count() / (slowest / tried);
  return static_cast<int>(std::clamp(wanted, double{kFewestIterations}, double{kMostIterations}));
}

// Seconds of one call.
Result<double> Worker::time_together(const Cell& cell, int iterations) {
  HAWSER_TRY(align());
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < iterations; ++i) HAWSER_TRY(iterate(cell, shared_.options.aggregated));
  const double spent = duration<double>(Clock::now() - start).count();
  return spent / iterations / shared_.options.aggregated;
}

Result<double> Worker::time_each(const Cell& cell, int iterations) {
  std::vector<double> times(static_cast<std::size_t>(iterations));
  if (shared_.options.touch == Touch::kNever) HAWSER_TRY(align());
  for (double& each : times) {
    if (shared_.options.touch == Touch::kEachIteration) {
      fill_inputs(cell);
      HAWSER_TRY(align());
    }
    const Clock::time_point start = Clock::now();
    HAWSER_TRY(iterate(cell, shared_.options.aggregated));
    each = duration<double>(Clock::now() - start).count() / shared_.options.aggregated;
  }
  return figure_of(shared_.options.stat, std::move(times));
}

std::uint64_t Worker::count_wrong(const Member& member, const Cell& cell) const {
  const Counts count = counts(cell);
  std::uint64_t wrong = 0;
  for (const Expectation& each : shared_.collective.expected(member.rank, shared_.ranks, count, cell.root)) {
    const std::span<const std::byte> got = member.recv->first(count.recv * size()).subspan(each.begin * size());
    const bool is_reduced = each.content == Expectation::Content::kReduced;
    const std::vector<std::byte> input = is_reduced ? std::vector<std::byte>() : data_->input(each.rank);
    wrong += data_->count_wrong(got.first(each.count * size()), is_reduced ? reduced_ : input, each.first);
  }
  if (!member.recv->is_guard_whole(count.recv * size())) ++wrong;
  // An input that the call has changed is as wrong as an output.
  if (cell.placement == Placement::kOutOfPlace) wrong += data_->count_wrong(input_of(member, cell), member.input, 0);
  return wrong;
}

Result<std::uint64_t> Worker::check(const Cell& cell) {
  std::uint64_t wrong = 0;
  for (int i = 0; i < shared_.options.check; ++i) {
    fill_inputs(cell);
    spoil_outputs(cell);
    HAWSER_TRY(iterate(cell, 1));
    for (const Member& each : members_) wrong += count_wrong(each, cell);
  }
  return wrong;
}

Result<Measured> Worker::measure(const Cell& cell) {
  const Options& options = shared_.options;
  fill_inputs(cell);
  for (int i = 0; i < options.warmup; ++i) HAWSER_TRY(iterate(cell, shared_.options.aggregated));
  const int iterations = HAWSER_TRY_VALUE(choose_iterations(cell));
  const bool together = options.stat == Stat::kMean && options.touch == Touch::kNever;
  const double seconds = HAWSER_TRY_VALUE(together ? time_together(cell, iterations) : time_each(cell, iterations));
  note_progress();
  const auto wrong = static_cast<double>(HAWSER_TRY_VALUE(check(cell)));
  note_progress();
  const double mine[] = {seconds, wrong};
  const std::vector<double> all = HAWSER_TRY_VALUE(shared_.crew.gather(thread_, mine));
  std::vector<double> times;
  double total_wrong = 0;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    times.push_back(all[i]);
    total_wrong += all[i + 1];
  }
  Measured measured{.time_us = figure_of(options.average, times) * 1e6, .wrong = {}, .iterations = iterations};
  if (options.check > 0) measured.wrong = static_cast<std::uint64_t>(total_wrong);
  return measured;
}

void Worker::note_progress() const {
  shared_.progress->store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

}  // namespace hawser::perf
