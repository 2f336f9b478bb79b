// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Drives executions on the calling thread until they are done. Any number of communicators of any number of ranks of this process may be
// driven in one loop, so a thread that holds several ranks never deadlocks with itself.
#pragma once

#include <span>
#include <vector>

#include "executor/execution.h"
#include "executor/waiter.h"

namespace hawser::executor {

/// One communicator's calls, in issue order.
struct Call {
  Execution* execution = nullptr;
  Buffers buffers;
  StorePolicy stores;
};

/// Runs one started execution: the path of a call outside a group. Allocates nothing, takes no lock, and makes no system call unless it
/// has to wait long.
Status run(Execution& execution, const Context& context);

/// Runs the calls of several communicators side by side; those of one communicator one after the other. `begin` is called before each
/// call starts, with the index of its communicator and of the call.
struct Queue {
  const Context* context = nullptr;
  std::vector<Call> calls;
};
/// Outcome per queue: a failure of one communicator does not stop the others.
std::vector<Status> run_all(std::span<const Queue> queues);

}  // namespace hawser::executor
