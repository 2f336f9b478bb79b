// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/common/crew.h"

#include <cstring>

namespace hawser::perf {
namespace {

Status cancelled() { return {Code::kSystemError, "another thread of this process has failed"}; }

}  // namespace

Result<std::vector<double>> Crew::gather(int thread, std::span<const double> figures) {
  std::unique_lock lock(mutex_);
  if (is_cancelled_) return cancelled();
  mine_[static_cast<std::size_t>(thread)].assign(figures.begin(), figures.end());
  const std::uint64_t round = round_;
  if (++arrived_ == mine_.size()) {
    outcome_ = exchange_round();
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return round_ != round || is_cancelled_; });
    if (round_ == round) return cancelled();
  }
  if (!outcome_.is_ok()) return outcome_;
  return all_;
}

// The last thread of the round to arrive speaks for all; the others wait.
Status Crew::exchange_round() {
  std::string blob;
  for (const std::vector<double>& each : mine_)
    blob.append(reinterpret_cast<const char*>(each.data()), each.size() * sizeof(double));
  const std::vector<std::string> blobs = HAWSER_TRY_VALUE(exchange_.gather(blob));
  all_.clear();
  for (const std::string& each : blobs) {
    if (each.size() != blob.size())
      return {Code::kInternalError, "the processes of this run do not agree on its shape"};
    const std::size_t old = all_.size();
    all_.resize(old + each.size() / sizeof(double));
    std::memcpy(&all_[old], each.data(), each.size());
  }
  return {};
}

void Crew::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  changed_.notify_all();
}

}  // namespace hawser::perf
