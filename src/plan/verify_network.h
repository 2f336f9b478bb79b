// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The plans of all ranks as one network: every message end knows its other ends, every index has been checked. The
// parts of verify (races, execution, values) work on it and need not doubt it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "plan/plan.h"
#include "plan/verify.h"

namespace hawser::plan {

/// One end of a message. channel -1: the operand is local.
struct MessageEnd {
  int channel = -1;  ///< index into Network::channels
  int reader = 0;    ///< of a source: index into Channel::readers
  int position = 0;  ///< which of the channel's messages of a tile
};

/// A step of some rank.
struct NetworkStep {
  const Step* step = nullptr;
  int rank = 0;
  int lane = 0;
  int index = 0;                         ///< in the lane
  std::vector<MessageEnd> sources;       ///< one per Step::sources
  std::vector<MessageEnd> destinations;  ///< one per Step::destinations
};

/// A stream as both ends see it. Steps are indices into Network::steps, in the order of the messages of one tile; the
/// sender and every reader have equally many.
struct Channel {
  struct Reader {
    int rank = 0;
    std::vector<int> steps;
  };
  Stream stream;
  std::vector<int> senders;
  std::vector<Reader> readers;
};

/// Borrows the plans that it was made of.
struct Network {
  std::span<const Plan> plans;
  std::vector<NetworkStep> steps;            ///< by rank, lane, index
  std::vector<std::vector<int>> first_step;  ///< [rank][lane]: the lane's first step in `steps`; an end mark per rank
  std::vector<Channel> channels;

  [[nodiscard]] const NetworkStep& at(int step) const { return steps[static_cast<std::size_t>(step)]; }
  /// The step that an After of a step of `rank` names.
  [[nodiscard]] int target(int rank, const After& after) const {
    return first_step[static_cast<std::size_t>(rank)][static_cast<std::size_t>(after.lane)] + after.step;
  }
};

/// "rank 2, lane 0, step 3".
std::string name_of(const NetworkStep& step);
/// "1->{0,2}#0".
std::string name_of(const Stream& stream);
/// "output chunk 3".
std::string name_of_chunk(Space space, int chunk);

/// Calls visit(chunk, position) for every chunk of a region, in order.
template <class Visitor>
void for_each_chunk(const Region& region, Visitor visit) {
  int position = 0;
  for (const Run& run : region.runs) {
    for (int chunk = run.first; chunk < run.first + run.count; ++chunk) visit(chunk, position++);
  }
}

/// Checks each plan for itself and that the ranks agree on the call: indices, layouts, lists. (verify_structure.cpp)
Status check_structure(std::span<const Plan> plans);

/// Connects plans that passed check_structure: each stream has one writing lane and one reading lane per receiver,
/// sends and receives match in number and size, all operands of a step have one size.
Result<Network> connect(std::span<const Plan> plans, const VerifyOptions& options);

}  // namespace hawser::plan
