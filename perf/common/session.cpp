// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "perf/common/exit_codes.h"
#include "perf/common/host.h"
#include "perf/common/nccl_check.h"

namespace hawser::perf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kWatchEvery{50};
// How long threads that ncclCommAbort was to wake may take to return.
constexpr seconds kAbortPatience{5};
constexpr double kMemoryShare = 0.9;

std::size_t largest_size(const Options& options) {
  const std::vector<std::size_t> sizes = sizes_of(options);
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

// Two buffers per rank of this host, as many as fit.
std::size_t fitting_bytes(const Options& options, const Place& place) {
  const std::size_t wanted = largest_size(options);
  const std::optional<std::size_t> available = available_memory();
  if (!available) return wanted;
  const double ranks = double{1} * place.local_processes * options.threads * options.ranks_per_thread;
  const auto most = static_cast<std::size_t>(static_cast<double>(*available) * kMemoryShare / ranks / 2);
  return std::min(wanted, most);
}

std::optional<double> wanted_bandwidth() {
  const char* text = std::getenv("NCCL_TESTS_MIN_BW");
  if (text == nullptr) return std::nullopt;
  const double wanted = std::strtod(text, nullptr);
  return wanted > 0 ? std::optional(wanted) : std::nullopt;
}

Figures figures_of(const Measured& measured, std::size_t bytes, double bus_factor) {
  const double algorithm = measured.time_us > 0 ? static_cast<double>(bytes) / measured.time_us / 1e3 : 0;
  return {measured.time_us, algorithm, algorithm * bus_factor, measured.wrong};
}

}  // namespace

Session::Session(const Collective& collective, const Options& options, Launch& launch, Report& report)
    : collective_(collective),
      options_(options),
      launch_(launch),
      report_(report),
      crew_(options.threads, *launch.exchange),
      max_bytes_(fitting_bytes(options, launch.place)),
      comms_(static_cast<std::size_t>(local_ranks())) {}

void Session::show(const std::string& text) const {
  if (!is_process_0()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Tells process 0 who is here, and agrees on the largest buffer that fits everywhere.
Status Session::introduce() {
  nlohmann::ordered_json mine = nlohmann::ordered_json::array();
  for (int i = 0; i < local_ranks(); ++i)
    mine.push_back({first_rank() + i, ::getpid(), host_name(), launch_.place.local_process * local_ranks() + i,
                    processor_name(), max_bytes_});
  const std::vector<std::string> all = HAWSER_TRY_VALUE(launch_.exchange->gather(mine.dump()));
  std::vector<RankInfo> ranks;
  for (const std::string& each : all) {
    const auto list = nlohmann::ordered_json::parse(each, nullptr, /*allow_exceptions=*/false);
    if (!list.is_array() || list.size() != mine.size())
      return {Code::kInvalidUsage, "the processes were started with different -t or -g"};
    for (const auto& rank : list) {
      ranks.push_back({rank[0], 0, rank[1], rank[2], rank[3], "0000:00:00", rank[4]});
      max_bytes_ = std::min(max_bytes_, rank[5].get<std::size_t>());
    }
  }
  report_.add_ranks(ranks);
  for (const RankInfo& each : ranks) show(format_rank(each));
  if (max_bytes_ < largest_size(options_))
    show(fmt::format("#\n# Reducing maxBytes to {} due to memory limitation\n", max_bytes_));
  return {};
}

Status Session::make_comms() {
  if (is_process_0()) {
    HAWSER_TRY(nccl_status(ncclGetUniqueId(&id_)));
    HAWSER_TRY(launch_.exchange->put("nccl-id", {id_.internal, sizeof(id_.internal)}));
  } else {
    const std::string text = HAWSER_TRY_VALUE(launch_.exchange->get("nccl-id"));
    if (text.size() != sizeof(id_.internal)) return {Code::kSystemError, "the unique id of process 0 is cut"};
    text.copy(id_.internal, sizeof(id_.internal));
  }
  if (options_.parallel_init) return {};
  return init_comms(id_, 0, local_ranks());
}

// Ranks `first` and on of this process.
Status Session::init_comms(const ncclUniqueId& id, int first, int count) {
  HAWSER_TRY(nccl_status(ncclGroupStart()));
  Status started;
  for (int i = first; i < first + count && started.is_ok(); ++i)
    started = nccl_status(ncclCommInitRank(&comms_[static_cast<std::size_t>(i)], ranks(), id, first_rank() + i));
  const ncclResult_t ended = ncclGroupEnd();
  return started.is_ok() ? nccl_status(ended) : started;
}

Status Session::work(int thread) {
  const int first = thread * options_.ranks_per_thread;
  if (options_.parallel_init) HAWSER_TRY(init_comms(id_, first, options_.ranks_per_thread));
  const auto begin = comms_.begin() + first;
  const Shared shared{options_, collective_, crew_, ranks(), max_bytes_, &progress_};
  Worker worker(shared, thread, first_rank() + first, {begin, begin + options_.ranks_per_thread});
  HAWSER_TRY(worker.allocate());
  for (int cycle = 0; options_.cycles == 0 || cycle < options_.cycles; ++cycle) HAWSER_TRY(run_table(worker, thread));
  return {};
}

Status Session::run_table(Worker& worker, int thread) {
  for (const ncclDataType_t type : options_.types) {
    for (const Op op : options_.ops) {
      if (Status prepared = worker.prepare(type, op); !prepared.is_ok()) {
        // Of all reductions, a library may lack this one.
        if (op != Op::kMulSum || options_.ops.size() == 1) return prepared;
        if (thread == 0) show(fmt::format("# note: mulsum is left out: {}\n", prepared.message()));
        continue;
      }
      const std::size_t element = info_of(type).bytes;
      for (const std::size_t size : sizes_of(options_))
        if (size <= max_bytes_) HAWSER_TRY(run_row(worker, thread, size / element * element, op, -1));
      HAWSER_TRY(worker.finish());
    }
  }
  return {};
}

Status Session::run_row(Worker& worker, int thread, std::size_t bytes, Op op, int root) {
  const Measured outside = HAWSER_TRY_VALUE(worker.measure({bytes, root, Placement::kOutOfPlace}));
  const Measured inside = HAWSER_TRY_VALUE(worker.measure({bytes, root, Placement::kInPlace}));
  if (thread != 0 || !is_process_0()) return {};
  const TypeInfo& type = info_of(worker.type());
  const double factor = collective_.bus_factor(ranks());
  const Row row{.bytes = bytes,
                .count = collective_.counts(bytes / type.bytes, ranks()).table,
                .type = type.name,
                .op = name_of(op),
                .root = root,
                .out_of_place = figures_of(outside, bytes, factor),
                .in_place = figures_of(inside, bytes, factor),
                .iterations = outside.iterations};
  for (const Figures& each : {*row.out_of_place, row.in_place}) {
    failed_checks_ += each.wrong.value_or(0) > 0 ? 1 : 0;
    bandwidth_sum_ += each.bus_gbps;
    ++bandwidths_;
  }
  report_.add_row(row);
  show(format_row(row));
  return {};
}

Status Session::run_threads() {
  progress_ = steady_clock::now().time_since_epoch().count();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < options_.threads; ++thread) {
    threads.emplace_back([this, thread] {
      const Status outcome = work(thread);
      const std::lock_guard lock(mutex_);
      if (first_failure_.is_ok()) first_failure_ = outcome;
      ++workers_ended_;
      ended_.notify_all();
    });
  }
  wait_for_workers();
  for (std::thread& each : threads) each.join();
  return first_failure_;
}

bool Session::is_timed_out() const {
  if (options_.timeout_s == 0) return false;
  const auto quiet = steady_clock::now().time_since_epoch() - steady_clock::duration(progress_.load());
  return quiet > seconds(options_.timeout_s);
}

// Returns when all workers have ended. Those that wait for a failed one, or for longer than -T allows, are woken.
void Session::wait_for_workers() {
  std::unique_lock lock(mutex_);
  const auto all_ended = [this] { return workers_ended_ == options_.threads; };
  while (!all_ended() && first_failure_.is_ok() && !is_timed_out()) ended_.wait_for(lock, kWatchEvery);
  if (all_ended()) return;
  if (first_failure_.is_ok())
    first_failure_ = Status(Code::kTimeout, fmt::format("{}: Test timeout ({} s)", host_name(), options_.timeout_s));
  lock.unlock();
  abort_comms();
  crew_.cancel();
  lock.lock();
  if (ended_.wait_for(lock, kAbortPatience, all_ended)) return;
  // A thread that does not come back cannot be joined; its process can only be left.
  fmt::print(stderr, "{}\n", first_failure_.message());
  std::fflush(nullptr);
  std::_Exit(exit_code_of(first_failure_.code()));
}

void Session::abort_comms() {
  for (ncclComm_t& each : comms_) {
    if (each != nullptr) static_cast<void>(ncclCommAbort(each));  // the first failure is the one to report
    each = nullptr;
  }
}

Status Session::destroy_comms() {
  for (ncclComm_t& each : comms_) HAWSER_TRY(nccl_status(ncclCommDestroy(std::exchange(each, nullptr))));
  return {};
}

int Session::run() {
  Versions versions{.header = NCCL_VERSION_CODE};
  Status outcome = nccl_status(ncclGetVersion(&versions.library));
  show(format_preamble(collective_.program(), options_, versions));
  if (outcome.is_ok()) outcome = introduce();
  if (outcome.is_ok()) outcome = make_comms();
  if (outcome.is_ok()) {
    show(format_header());
    outcome = run_threads();
  }
  if (outcome.is_ok()) {
    outcome = destroy_comms();
  } else {
    abort_comms();
  }
  return conclude(outcome);
}

int Session::conclude(const Status& outcome) {
  const double average = bandwidths_ > 0 ? bandwidth_sum_ / bandwidths_ : 0;
  const std::optional<double> wanted = wanted_bandwidth();
  report_.set_summary(failed_checks_, average, wanted);
  if (!outcome.is_ok()) {
    report_.add_error(outcome.message());
    fmt::print(stderr, "{}\n", outcome.message());
    return exit_code_of(outcome.code());
  }
  show(format_footer(collective_.program(), failed_checks_, average, wanted));
  const bool is_good = failed_checks_ == 0 && is_fast_enough(average, wanted);
  return is_process_0() && !is_good ? kExitWrongResults : kExitOk;
}

}  // namespace hawser::perf
