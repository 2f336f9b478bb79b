// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What a rank does in a collective, as data. An algorithm builds a Plan per rank; plan/verify proves the plans of all
// ranks together; an executor binds a Plan to a call (plan/bind.h) and runs it. Nothing here knows sockets, threads,
// devices or the environment.
//
// One verb: a Step waits until all its sources have arrived and all its destinations have room, combines the sources
// element by element in the given order, and stores the result in all destinations.
//
//   ring reduce-scatter step  {message, input c} -> {message}
//   tree up                   {message, message, input} -> {message}
//   broadcast hop             {message} -> {output, message}
//   flat one-shot             {input} -> {message to all};  {input, messages..} -> {output}
//
// Steps stand in lanes: those of a lane run in order, lanes run concurrently. Long buffers run the same plan tile after
// tile.
//
// Moves and arithmetic. A step with one source and without apply_post is a *move*: it copies bytes, never applies
// `pre`, and what it stores and sends is as raw as its source. Every other step is *arithmetic*: it applies `pre` to
// those of its sources that are marked apply_pre, combines, and applies `post` if apply_post says so. So pre is applied
// where raw input is first combined (or, with one rank, finished), post where the last operand came in; collectives
// that only move have no arithmetic step.
//
// Landing. A message arrives in a slot, or directly in the local destinations of the step that takes it, or is read in
// place at its sender; executors choose per message.
//  * Direct: only a move can be landed in (may_land_directly). Its receiver may post the landing as soon as the step's
//    `after` is satisfied, however far the lane is behind, and the sender may write at any time from then on: so the
//    `after` of such a step also names conflicts with earlier steps of its own lane. Nobody waits for a posting: what
//    is not posted when the sender is ready comes in a slot.
//  * In place: what a step stores locally and sends, or what a move reads locally and sends (may_be_read_in_place), is
//    read by receivers until the steps that take the message are done; then it is released.
// Room: a stream's message k (counted from 0) may be sent when every receiver's step that takes message k - credit is
// done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"

namespace hawser::plan {

/// The three buffers that a rank's steps touch.
enum class Space : std::uint8_t { kInput, kOutput, kScratch };

/// Consecutive chunks of a space: first, first+1, ..., first+count-1. count >= 1.
struct Run {
  int first = 0;
  int count = 1;
  bool operator==(const Run&) const = default;
};

/// A list of runs of chunks in one space. As a message or an operand it is their concatenation, in the order of the
/// list: the slices that the current tile takes of each chunk, back to back.
struct Region {
  Space space = Space::kInput;
  std::vector<Run> runs;
  bool operator==(const Region&) const = default;
};

/// How a space is cut into chunks.
enum class Cut : std::uint8_t {
  kParts,   ///< a free split of one vector of `count` elements: borders aligned to 64 bytes, remainder in the last
  kBlocks,  ///< one block of `count` elements per chunk, visible to the user (AllGather, AllToAll); a tile is the same
            ///< slice of each
};

/// Shape of an input or output space. No chunks: the rank has no such buffer.
struct Layout {
  Cut cut = Cut::kParts;
  int chunks = 0;
  bool operator==(const Layout&) const = default;
};

/// A FIFO of messages from one rank to a set of ranks: one slot per message, read by all receivers, released by the
/// last. Both ends name it by (sender, receivers, number). It has its own credit, one writing lane on the sender, one
/// reading lane on each receiver.
struct Stream {
  int sender = 0;
  std::vector<int> receivers;  ///< ascending, without the sender, not empty
  int number = 0;              ///< tells streams with equal sender and receivers apart
  bool operator==(const Stream&) const = default;
};

/// Where an operand comes from.
struct Source {
  /// Index into Plan::streams of the stream whose next message is taken; -1: `region` is read.
  int stream = -1;
  /// Local operand. Unused if stream >= 0.
  Region region;
  /// The operand is somebody's raw input: arithmetic applies `pre` (PreMulSum's scaling) to it, exactly once on its way
  /// to a result. Moves ignore it.
  bool apply_pre = false;
  bool operator==(const Source&) const = default;
};

/// Where a result goes.
struct Destination {
  /// Index into Plan::streams of the stream on which the result is the next message; -1: it is stored in `region`.
  int stream = -1;
  Region region;
  bool operator==(const Destination&) const = default;
};

/// "Not before step `step` of lane `lane` has finished tile (t - tiles_back)", where t is the tile of the step that
/// holds it; satisfied if that tile is negative. Finished means: its local destinations are written and, if `released`,
/// its sent regions are no longer read by anybody (a receiver may read a message in place). Derived by PlanBuilder from
/// conflicts of regions, never written by an algorithm.
struct After {
  int lane = 0;
  int step = 0;
  int tiles_back = 0;
  bool released = false;
  bool operator==(const After&) const = default;
};

/// One step. All operands and results have the same size: that of `shape`.
struct Step {
  std::vector<Source> sources;            ///< at least one; combined in this order, by lowest contributing rank first
  std::vector<Destination> destinations;  ///< at least one; no stream twice in one step, as source or as destination
  /// Chunks whose slices give the size in bytes; that of a local operand where there is one.
  Region shape;
  /// Finish the result (Avg's division by the number of ranks) after combining.
  bool apply_post = false;
  std::vector<After> after;
  /// Position in the order in which the algorithm issued its steps (the order that gives conflicts their direction).
  /// No two steps of a plan have the same; ascending within a lane.
  int issue = 0;
  bool operator==(const Step&) const = default;
};

struct Lane {
  std::vector<Step> steps;
  bool operator==(const Lane&) const = default;
};

/// One rank's part of a collective by one algorithm.
struct Plan {
  std::string algorithm;
  Collective collective = Collective::kAllReduce;
  int rank = 0;
  int ranks = 1;
  int root = 0;
  Layout input;
  Layout output;
  /// One entry per scratch chunk: the input or output chunk whose size it has (a Region of one run of one chunk).
  /// Scratch exists `window` times; tile t uses copy t % window.
  std::vector<Region> scratch;
  std::vector<Stream> streams;
  std::vector<Lane> lanes;
  /// Tiles that may be under way at once where scratch is concerned. >= 1.
  int window = 1;
  /// Messages that each stream must be able to hold for the plan to finish: computed by verify, declared here, refused
  /// below by a Link.
  int credit = 1;
  /// The steps may also be run by one thread in the order of `issue`, each waiting for what it needs, without deadlock
  /// (proved by verify).
  bool straight_line = false;
  bool operator==(const Plan&) const = default;
};

/// The step copies: one source, no arithmetic (see the top of this file).
inline bool is_move(const Step& step) { return step.sources.size() == 1 && !step.apply_post; }
/// The step takes a message that the sender may write straight into the step's local destinations.
bool may_land_directly(const Step& step);
/// The step sends a message that receivers may read in place: in its local destinations, or, of a move, in its source.
bool may_be_read_in_place(const Step& step);

/// Total number of steps of one tile.
int step_count(const Plan& plan);
/// Readable form, one line per step: "lane 1 step 0: recv 0<-1#0 + in[1] -> out[1], send 1->{0}#1   after l0s0".
std::string print(const Plan& plan);

}  // namespace hawser::plan
