// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/roots.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"

namespace hawser::bootstrap {
namespace {

/// One root and its thread.
class RunningRoot {
 public:
  explicit RunningRoot(std::unique_ptr<Root> root) : root_(std::move(root)) {}

  Status start() {
    // The host program's signal handlers are to run on its own threads.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    Status outcome = start_thread();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return outcome;
  }
  [[nodiscard]] bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }

 private:
  Status start_thread() {
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error& error) {
      return Status(Code::kSystemError,
                    fmt::format("the root thread of a communicator cannot be started ({}): raise the limit of "
                                "threads (ulimit -u)",
                                error.code().message()));
    }
    return {};
  }
  void run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "hawser-root");
    try {
      root_->serve(stop);
    } catch (const std::bad_alloc&) {
      log::warn("bootstrap: the root has no memory left and ends; its ranks will see its connections close");
    }
    root_.reset();
    has_ended_.store(true, std::memory_order_release);  // pairs with has_ended(): the thread touches nothing any more
  }

  std::unique_ptr<Root> root_;  // the thread's own once it runs
  std::atomic<bool> has_ended_{false};
  std::jthread thread_;  // last: stopped and joined before what it uses goes
};

/// The roots of one process.
struct RootSet {
  const pid_t process = ::getpid();
  std::mutex mutex;  // protects `roots`; nothing else is locked while it is held
  std::list<RunningRoot> roots;
  RootSet* inherited = nullptr;  // the parent's, whose threads and lock mean nothing here: kept, never touched
};

/// Owns the current set. A forked child gets a new one and leaves its parent's alone, since its threads are not there to
/// be joined and its mutex may have been held at the fork.
class RootSets {
 public:
  RootSets() = default;
  RootSets(const RootSets&) = delete;
  RootSets& operator=(const RootSets&) = delete;
  ~RootSets() {
    RootSet* set = current_.load(std::memory_order_acquire);
    if (set != nullptr && set->process == ::getpid()) delete set;
  }

  RootSet& current() {
    RootSet* set = current_.load(std::memory_order_acquire);  // pairs with the exchange below
    if (set != nullptr && set->process == ::getpid()) return *set;
    auto fresh = std::make_unique<RootSet>();
    fresh->inherited = set;
    if (current_.compare_exchange_strong(set, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
    return *set;  // another thread was faster
  }

 private:
  std::atomic<RootSet*> current_{nullptr};
};

RootSet& root_set() {
  static RootSets sets;
  return sets.current();
}

}  // namespace

Status serve_in_background(std::unique_ptr<Root> root) {
  RootSet& set = root_set();
  const std::scoped_lock lock(set.mutex);
  set.roots.remove_if([](const RunningRoot& running) { return running.has_ended(); });
  set.roots.emplace_back(std::move(root));
  Status outcome = set.roots.back().start();
  if (!outcome.is_ok()) set.roots.pop_back();
  return outcome;
}

std::size_t running_roots() {
  RootSet& set = root_set();
  const std::scoped_lock lock(set.mutex);
  return static_cast<std::size_t>(
      std::ranges::count_if(set.roots, [](const RunningRoot& running) { return !running.has_ended(); }));
}

}  // namespace hawser::bootstrap
