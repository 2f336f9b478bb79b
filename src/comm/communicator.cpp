// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/log.h"
#include "comm/exchange.h"
#include "comm/tuning.h"
#include "topology/json.h"
#include "transport/shm/shm_transport.h"

namespace hawser::comm {
namespace {

using Clock = std::chrono::steady_clock;

std::uint32_t hash_of(const algorithms::Call& call) {
  std::uint64_t hash = call.count * 0x9e3779b97f4a7c15ULL;
  hash ^= static_cast<std::uint64_t>(call.collective) << 8 ^ static_cast<std::uint64_t>(call.type) << 16 ^
          static_cast<std::uint64_t>(call.op) << 24 ^
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32;
  hash *= 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::uint32_t>(hash >> 32);
}

std::string text_of(const algorithms::Call& call) {
  return fmt::format("{} of {} {} ({})", name_of(call.collective), call.count, name_of(call.type), name_of(call.op));
}

Status check_one_host(const topology::Topology& topology) {
  if (topology.nodes == 1) return {};
  const auto& ranks = topology.ranks;
  const auto other = std::ranges::find_if(ranks, [](const auto& place) { return place.node != 0; });
  return {
      Code::kInvalidUsage,
      fmt::format(
          "rank 0 on {} and rank {} on {} share no memory, and this release has no network transport yet: start all "
          "ranks on one host, in one network namespace (NCCL_HOSTID tells hosts apart)",
          ranks.front().host, other - ranks.begin(), other->host)};
}

}  // namespace

Communicator::Communicator(const InitArgs& args, Config config)
    : rank_(args.rank), device_(args.device), config_(std::move(config)) {}

Communicator::~Communicator() {
  magic_.store(0, std::memory_order_relaxed);
  if (transport_ && !has_left_.load(std::memory_order_acquire))
    transport_->leave(transport::Transport::Leave::kFinished);
}

Result<std::unique_ptr<Communicator>> Communicator::create(const InitArgs& args) {
  if (args.ranks < 1 || args.rank < 0 || args.rank >= args.ranks) {
    return Status(Code::kInvalidArgument, fmt::format("CommInitRank: rank {} of {} ranks", args.rank, args.ranks));
  }
  Config config = HAWSER_TRY_VALUE(read_config());
  std::unique_ptr<Communicator> communicator(new Communicator(args, std::move(config)));
  HAWSER_TRY(communicator->connect(args));
  return communicator;
}

Status Communicator::connect(const InitArgs& args) {
  const Clock::time_point start = Clock::now();
  std::unique_ptr<bootstrap::Bootstrap> bootstrap =
      HAWSER_TRY_VALUE(bootstrap::Bootstrap::join(args.id, args.rank, args.ranks, config_, &abort_));
  transport::shm::MeshListener listener = HAWSER_TRY_VALUE(transport::shm::MeshListener::open());
  const PeerInfo own = HAWSER_TRY_VALUE(introduce(config_, listener.address));
  const std::vector<std::vector<std::byte>> blobs = HAWSER_TRY_VALUE(bootstrap->all_gather(encode(own)));
  std::vector<PeerInfo> infos;
  for (std::size_t rank = 0; rank < blobs.size(); ++rank) {
    infos.push_back(HAWSER_TRY_VALUE(decode(blobs[rank], static_cast<int>(rank))));
  }
  HAWSER_TRY(check_agreement(infos));
  topology_ = HAWSER_TRY_VALUE(with_costs_of_file(agree(infos), config_));
  if (rank_ == 0 && !config_.topology_dump_file.empty())
    HAWSER_TRY(topology::dump(topology_, config_.topology_dump_file));
  HAWSER_TRY(check_one_host(topology_));

  transport::shm::ShmArgs shm;
  shm.rank = rank_;
  shm.ranks = ranks();
  for (int rank = 0; rank < ranks(); ++rank) {
    const PeerInfo& info = infos[static_cast<std::size_t>(rank)];
    shm.local_ranks.push_back(rank);
    shm.introductions.push_back({info.control_address, info.process_token});
    shm.hosts.push_back(info.host);
  }
  shm.prove = [secret = bootstrap->secret()](std::span<const std::byte> text) { return bootstrap::hmac(secret, text); };
  shm.deadline = start + config_.init_timeout;
  shm.cancel = &abort_;
  transport_ = HAWSER_TRY_VALUE(transport::shm::create(std::move(listener), std::move(shm)));
  HAWSER_TRY(bootstrap->barrier());
  ports_.emplace(transport_.get());
  context_ = {rank_, transport_.get(), &abort_, wait_policy(topology_, rank_, config_),
              [this](const executor::Blocked& blocked) { return describe(blocked); }};
  const auto elapsed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  log::info("rank {} nranks {} host {} pid {} - init complete in {:.1f} ms", rank_, ranks(), own.host, own.pid,
            elapsed);
  return {};
}

std::string Communicator::describe(const executor::Blocked& blocked) const {
  std::string sentence = fmt::format("rank {}: {}, call {},", rank_, text_of(current_), calls_);
  if (blocked.peer < 0) return sentence + " is not finished";
  const topology::RankPlace& place = topology_.ranks[static_cast<std::size_t>(blocked.peer)];
  sentence += fmt::format(" waits for rank {} (pid {} on {})", blocked.peer, place.pid, place.host);
  const transport::CallRecord record = transport_->call_of(blocked.peer);
  if (record.number < calls_) return sentence + fmt::format(", which has begun only {} calls", record.number);
  return sentence + fmt::format(", which is in call {}: {} of {} {}", record.number,
                                name_of(static_cast<Collective>(record.collective)), record.count,
                                name_of(static_cast<DataType>(record.type)));
}

Result<std::unique_ptr<executor::Execution>> Communicator::build(const algorithms::Call& call) {
  const algorithms::Choice choice = HAWSER_TRY_VALUE(algorithms::select(call, topology_, config_.algorithm));
  const plan::Plan plan = choice.algorithm->build(call, topology_, rank_);
  const Tuning tuning = tune(plan, call, topology_, config_);
  const executor::Binding binding{call.count, call.type, call.op, tuning.tile_bytes, tuning.credit, hash_of(call)};
  executor::BoundPlan bound = HAWSER_TRY_VALUE(executor::bind(plan, binding, *ports_));
  log::debug("rank {} {} algorithm {} tile {} tiles {} credit {}", rank_, text_of(call), plan.algorithm,
             bound.tile_bytes, bound.tiles, bound.credit);
  return std::make_unique<executor::Execution>(std::move(bound));
}

Result<Communicator::CacheEntry*> Communicator::find(const algorithms::Call& call) {
  CacheEntry& entry = cache_[hash_of(call) % kCacheEntries];
  if (entry.execution && entry.call == call) return &entry;
  std::unique_ptr<executor::Execution> built = HAWSER_TRY_VALUE(build(call));
  if (entry.execution) retired_.push_back(std::move(entry.execution));
  entry = {call, std::move(built), store_policy(call, topology_, config_)};
  return &entry;
}

Status Communicator::begin(const algorithms::Call& call) {
  inside_.store(1, std::memory_order_release);  // partner: await_idle
  if (abort_.load(std::memory_order_relaxed) != 0) {
    return {Code::kInvalidUsage, fmt::format("rank {}: the communicator was aborted", rank_)};
  }
  if (has_left_.load(std::memory_order_relaxed)) {
    return {Code::kInvalidUsage, fmt::format("rank {}: {} on a communicator that was finalized", rank_, text_of(call))};
  }
  if (has_failed_.load(std::memory_order_acquire)) {
    const std::scoped_lock lock(error_mutex_);
    return first_error_;
  }
  current_ = call;
  ++calls_;
  transport_->record_call({calls_, static_cast<std::uint8_t>(call.collective), static_cast<std::uint8_t>(call.type),
                           static_cast<std::uint8_t>(call.op), call.root, call.count});
  return {};
}

Status Communicator::end(Status outcome) {
  if (!outcome.is_ok()) outcome = fail(std::move(outcome));
  // Last of all: abort() may free the communicator as soon as it sees this.
  inside_.store(0, std::memory_order_release);  // partner: await_idle
  return outcome;
}

Status Communicator::fail(Status failure) {
  const std::scoped_lock lock(error_mutex_);
  if (first_error_.is_ok()) first_error_ = failure;
  has_failed_.store(true, std::memory_order_release);
  return failure;
}

Status Communicator::run(const algorithms::Call& call, const executor::Buffers& buffers) {
  if (Status refusal = begin(call); !refusal.is_ok()) return end(std::move(refusal));
  const Result<CacheEntry*> found = find(call);
  if (!found.is_ok()) return end(found.status());
  const CacheEntry& entry = *found.value();
  retired_.clear();
  entry.execution->start(buffers, entry.stores, *transport_);
  return end(executor::run(*entry.execution, context_));
}

Result<executor::Call> Communicator::prepare(const algorithms::Call& call, const executor::Buffers& buffers) {
  const CacheEntry* const entry = HAWSER_TRY_VALUE(find(call));
  return executor::Call{entry->execution.get(), buffers, entry->stores};
}

Status Communicator::async_error() {
  if (!has_failed_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(error_mutex_);
  return first_error_;
}

Status Communicator::finalize() {
  if (has_left_.exchange(true, std::memory_order_acq_rel)) {
    return {Code::kInvalidArgument, fmt::format("rank {}: CommFinalize was called twice", rank_)};
  }
  transport_->leave(transport::Transport::Leave::kFinished);
  return {};
}

bool Communicator::await_idle() {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(900);
  // begin() stores its mark without a fence, which would cost every small call; a store is visible long before this nap is over.
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  while (inside_.load(std::memory_order_acquire) != 0) {  // partner: end
    if (Clock::now() >= deadline) return false;
    transport::ring(*transport_->doorbell());
    std::this_thread::yield();
  }
  return true;
}

void Communicator::abort() {
  abort_.store(1, std::memory_order_seq_cst);  // partner: Waiter::look_around, begin
  if (!transport_) return;
  await_idle();
  if (!has_left_.exchange(true, std::memory_order_acq_rel)) transport_->leave(transport::Transport::Leave::kAborted);
}

}  // namespace hawser::comm
