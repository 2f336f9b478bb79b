// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A transport for tests: ranks of one process over heap memory, with a seeded adversary between them. Messages and
// releases become visible late, streams overtake each other (never messages within a stream), data is moved at the last
// moment that the vocabulary allows, and what has been given back is overwritten. Time is counted in polls, so a run
// whose calls come in a fixed order repeats exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace hawser::transport {

/// What the adversary's hardware can do.
enum class DelayedLandings : std::uint8_t {
  kSlots,      ///< slots only
  kPut,        ///< bytes are put into posted memory, as late as the message becomes visible; nothing is read in place
  kGet,        ///< bytes are fetched from the sender's memory when the message becomes visible; nothing is posted
  kLoadStore,  ///< the sender stores into posted memory itself, the receiver reads the sender's memory itself
};

struct DelayedOptions {
  std::uint64_t seed = 1;
  DelayedLandings landings = DelayedLandings::kLoadStore;
  /// Polls for which a message or release stays hidden, at most.
  std::uint32_t longest_delay = 40;
  /// How often post() and can_refer() say no, and posted memory is overlooked, although it could be used.
  std::uint32_t refusals_percent = 0;
};

/// The connected endpoints of `ranks` ranks. Each may be driven by a thread of its own, or all by one. There is no
/// doorbell. Memory is reachable once offered; whoever posts or refers to freed memory is found by AddressSanitizer.
std::vector<std::unique_ptr<Transport>> make_delayed(int ranks, const DelayedOptions& options);

}  // namespace hawser::transport
