// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Groups: collects calls between ncclGroupStart and the outermost ncclGroupEnd of a thread, then runs those of all communicators side by
// side. Outside a group a call runs at once. The group's state belongs to the calling thread.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "base/types.h"
#include "comm/communicator.h"

namespace hawser::group {

/// Opens a group, or one level more of it.
Status start();
/// Closes a level; the outermost runs everything and returns the first failure. kInvalidUsage outside a group.
Status end();

struct AllReduceArgs {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  comm::Communicator* comm = nullptr;
};
/// Runs at once, or is kept for end(). The buffers stay in use until then.
Status all_reduce(const AllReduceArgs& args);

/// Creates communicators, side by side: at once, or at the outermost end(). `out[i]` receives the owner's pointer of args[i] (to be given
/// back to destroy()); it must stay valid until then.
Status init(std::span<const comm::Communicator::InitArgs> args, comm::Communicator** out);

}  // namespace hawser::group
