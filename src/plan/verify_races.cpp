// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Only a rank's own steps touch its memory: directly, or through peers that read a sent region in place until they
// release it, or that write into a landing once it is posted. So races are a question for each rank alone.
//
// An access has a begin (the step's start; of a landing, its posting: when the step's `after` is satisfied) and an end
// (the step's completion; of a region that is sent, its release). Two conflicting accesses are safe if the end of one
// comes before the begin of the other in every schedule, that is, by a path of lane order and `after`.
//
// Tiles. Different tiles share no memory but scratch copies, which tiles t and t + window share. An edge of the order
// never leads to an earlier tile, and the edges are the same in every tile. So what orders two steps within tile 0, or
// of tiles 0 and window, orders them in tiles t, and t and t + window; and steps further apart are ordered by
// repetition, since a step of tile t completes, and is released, before itself in a later tile. Hence tiles 0..window
// prove all.
#include "plan/verify_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "plan/builder.h"

namespace hawser::plan {
namespace {

template <class... Arguments>
Status wrong(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return {Code::kInternalError, fmt::format(text, std::forward<Arguments>(arguments)...)};
}

/// A step in a tile.
struct Instance {
  int step = 0;  // from 0 on the rank
  int tile = 0;
};

enum class Begin : std::uint8_t { kStart, kPosting };

/// Which steps are complete when a step starts or posts, on one rank. Those of a lane complete in order, so a number
/// per lane tells.
class LocalOrder {
 public:
  LocalOrder(const Network& network, int rank, int tiles)
      : network_(network),
        rank_(rank),
        tiles_(tiles),
        lanes_(network.first_step[static_cast<std::size_t>(rank)].size() - 1),
        first_(network.first_step[static_cast<std::size_t>(rank)].front()),
        steps_(network.first_step[static_cast<std::size_t>(rank)].back() - first_),
        release_waiters_(static_cast<std::size_t>(steps_)),
        complete_(static_cast<std::size_t>(steps_ * tiles) * lanes_, 0) {
    for (int step = 0; step < steps_; ++step) {
      for (const After& after : at(step).step->after) {
        if (!after.released || after.tiles_back >= tiles) continue;
        release_waiters_[static_cast<std::size_t>(target(after, 0).step)].push_back({step, after.tiles_back});
      }
    }
  }

  /// Walks the steps in an order that respects the plan's. Fails if there is none.
  Status compute();

  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] const NetworkStep& at(int step) const { return network_.at(first_ + step); }
  [[nodiscard]] bool is_complete_before(Instance earlier, Instance later, Begin begin) const {
    return clock(later, begin)[lane_of(earlier)] > position(earlier);
  }
  /// The same, and what `earlier` sent is released.
  [[nodiscard]] bool is_released_before(Instance earlier, Instance later, Begin begin) const;

 private:
  using Clock = std::vector<int>;

  [[nodiscard]] std::size_t lane_of(Instance i) const { return static_cast<std::size_t>(at(i.step).lane); }
  [[nodiscard]] int lane_length(std::size_t lane) const {
    const std::vector<int>& first = network_.first_step[static_cast<std::size_t>(rank_)];
    return first[lane + 1] - first[lane];
  }
  /// Steps of its lane that come before it, in all tiles.
  [[nodiscard]] int position(Instance i) const { return i.tile * lane_length(lane_of(i)) + at(i.step).index; }
  [[nodiscard]] std::size_t number(Instance i) const {
    return static_cast<std::size_t>(i.tile) * static_cast<std::size_t>(steps_) + static_cast<std::size_t>(i.step);
  }
  [[nodiscard]] Instance target(const After& after, int tile) const {
    return {network_.target(rank_, after) - first_, tile - after.tiles_back};
  }
  [[nodiscard]] std::span<const int> started(Instance i) const {
    return std::span(complete_).subspan(number(i) * lanes_, lanes_);
  }
  [[nodiscard]] Clock clock(Instance i, Begin begin) const {
    const std::span<const int> start = started(i);
    return begin == Begin::kStart ? Clock(start.begin(), start.end()) : joined_after(Clock(lanes_, 0), i);
  }
  /// `clock` with all that is complete once the `after` of `i` is satisfied.
  [[nodiscard]] Clock joined_after(Clock clock, Instance i) const {
    for (const After& after : at(i.step).step->after) {
      const Instance earlier = target(after, i.tile);
      if (earlier.tile < 0) continue;
      const std::span<const int> known = started(earlier);
      for (std::size_t lane = 0; lane < lanes_; ++lane) clock[lane] = std::max(clock[lane], known[lane]);
      clock[lane_of(earlier)] = std::max(clock[lane_of(earlier)], position(earlier) + 1);
    }
    return clock;
  }
  void start(Instance i);

  const Network& network_;
  int rank_;
  int tiles_;
  std::size_t lanes_;
  int first_;
  int steps_;
  struct Waiter {
    int step = 0;
    int tiles_back = 0;
  };
  std::vector<std::vector<Waiter>> release_waiters_;  // [step]: steps that wait for its release
  std::vector<int> complete_;  // [instance][lane]: steps of the lane that are complete when the instance starts
};

void LocalOrder::start(Instance i) {
  Clock clock(lanes_, 0);
  const int before = position(i);
  if (before > 0) {
    const Instance previous = at(i.step).index > 0 ? Instance{i.step - 1, i.tile}
                                                   : Instance{i.step + lane_length(lane_of(i)) - 1, i.tile - 1};
    std::ranges::copy(started(previous), clock.begin());
    clock[lane_of(i)] = before;
  }
  clock = joined_after(std::move(clock), i);
  std::ranges::copy(clock, complete_.begin() + static_cast<std::ptrdiff_t>(number(i) * lanes_));
}

Status LocalOrder::compute() {
  const std::size_t total = static_cast<std::size_t>(steps_) * static_cast<std::size_t>(tiles_);
  std::vector<int> missing(total, 0);
  std::vector<std::vector<Instance>> followers(total);
  std::deque<Instance> ready;
  for (int tile = 0; tile < tiles_; ++tile) {
    for (int step = 0; step < steps_; ++step) {
      const Instance i{step, tile};
      if (position(i) > 0) ++missing[number(i)];
      for (const After& after : at(step).step->after) {
        if (tile < after.tiles_back) continue;
        followers[number(target(after, tile))].push_back(i);
        ++missing[number(i)];
      }
      if (missing[number(i)] == 0) ready.push_back(i);
    }
  }
  std::size_t walked = 0;
  const auto arrive = [&](Instance i) {
    if (--missing[number(i)] == 0) ready.push_back(i);
  };
  for (; !ready.empty(); ready.pop_front(), ++walked) {
    const Instance i = ready.front();
    start(i);
    for (const Instance follower : followers[number(i)]) arrive(follower);
    const bool is_last = at(i.step).index + 1 == lane_length(lane_of(i));
    if (!is_last) arrive({i.step + 1, i.tile});
    if (is_last && i.tile + 1 < tiles_) arrive({i.step - at(i.step).index, i.tile + 1});
  }
  if (walked == total) return {};
  const auto stuck = std::ranges::find_if(missing, [](int count) { return count > 0; }) - missing.begin();
  return wrong("{}: waits for itself, by the order of lanes and after", name_of(at(static_cast<int>(stuck) % steps_)));
}

bool LocalOrder::is_released_before(Instance earlier, Instance later, Begin begin) const {
  const Clock known = clock(later, begin);
  for (const Waiter& waiter : release_waiters_[static_cast<std::size_t>(earlier.step)]) {
    // Messages are released in order: the release in a later tile implies that in the tile of `earlier`.
    for (int tile = earlier.tile + waiter.tiles_back; tile < tiles_; ++tile) {
      const Instance i{waiter.step, tile};
      const bool is_later_itself = i.step == later.step && i.tile == later.tile;
      if (is_later_itself || known[lane_of(i)] > position(i)) return true;
    }
  }
  return false;
}

/// One step's touch of one chunk.
struct Access {
  int step = 0;
  int position = 0;  // in the operand
  Space space = Space::kInput;
  int chunk = 0;
  bool is_write = false;
  Begin begin = Begin::kStart;
  bool is_sent = false;  // ends with the release
};

/// The accesses of a rank, by the memory they touch.
class RaceChecker {
 public:
  RaceChecker(const Network& network, int rank, Placement placement)
      : plan_(network.plans[static_cast<std::size_t>(rank)]),
        aliasing_(placement == Placement::kInPlace ? in_place_aliasing(plan_) : Aliasing{}),
        tiles_(plan_.scratch.empty() ? 1 : plan_.window + 1),
        order_(network, rank, tiles_),
        cells_(static_cast<std::size_t>(plan_.input.chunks) + static_cast<std::size_t>(plan_.output.chunks) +
               plan_.scratch.size()) {}

  Status check() {
    HAWSER_TRY(order_.compute());
    for (int step = 0; step < order_.steps(); ++step) add(step);
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      const bool is_scratch =
          cell >= static_cast<std::size_t>(plan_.input.chunks) + static_cast<std::size_t>(plan_.output.chunks);
      for (std::size_t a = 0; a < cells_[cell].size(); ++a) {
        for (std::size_t b = 0; b < cells_[cell].size(); ++b) {
          if (a < b) HAWSER_TRY(check_pair(cells_[cell][a], cells_[cell][b]));
          if (is_scratch) HAWSER_TRY(check_reuse(cells_[cell][a], cells_[cell][b]));
        }
      }
    }
    return {};
  }

 private:
  void add(int step) {
    const Step& s = *order_.at(step).step;
    const bool is_sent = may_be_read_in_place(s);
    for (const Source& source : s.sources) {
      if (source.stream >= 0) continue;
      add(source.region, {.step = step, .is_write = false, .is_sent = is_sent && is_move(s)});
    }
    const Begin begin = may_land_directly(s) ? Begin::kPosting : Begin::kStart;
    for (const Destination& destination : s.destinations) {
      if (destination.stream >= 0) continue;
      add(destination.region, {.step = step, .is_write = true, .begin = begin, .is_sent = is_sent});
    }
  }

  void add(const Region& region, Access access) {
    access.space = region.space;
    for_each_chunk(region, [&](int chunk, int position) {
      access.chunk = chunk;
      access.position = position;
      cells_[cell_of(region.space, chunk)].push_back(access);
    });
  }

  [[nodiscard]] std::size_t cell_of(Space space, int chunk) const {
    const int aliased = chunk - aliasing_.input_first;
    if (space == Space::kInput && aliased >= 0 && aliased < aliasing_.chunks) {
      return cell_of(Space::kOutput, aliased + aliasing_.output_first);
    }
    int first = 0;
    if (space != Space::kInput) first += plan_.input.chunks;
    if (space == Space::kScratch) first += plan_.output.chunks;
    return static_cast<std::size_t>(first) + static_cast<std::size_t>(chunk);
  }

  [[nodiscard]] Status check_pair(const Access& a, const Access& b) {
    if (!a.is_write && !b.is_write) return {};
    if (a.step == b.step) {
      // Element by element, a step may replace an operand by the result; nothing else.
      if (a.position == b.position && a.is_write != b.is_write) return {};
      return wrong("{}: {} overlaps {} of the same step", name_of(order_.at(a.step)), text_of(b), text_of(a));
    }
    if (is_safe(a, 0, b, 0) || is_safe(b, 0, a, 0)) return {};
    return race(a, b, "");
  }

  /// Accesses of a scratch chunk by a tile, and by the next tile that uses the same copy.
  [[nodiscard]] Status check_reuse(const Access& earlier, const Access& later) {
    if (!earlier.is_write && !later.is_write) return {};
    if (is_safe(earlier, 0, later, plan_.window)) return {};
    return race(earlier, later, fmt::format(" of the tile {} later", plan_.window));
  }

  [[nodiscard]] bool is_safe(const Access& earlier, int earlier_tile, const Access& later, int later_tile) {
    // Others may go on reading what is only read again.
    const bool needs_release = earlier.is_sent && later.is_write;
    // Steps meet in many chunks; the answer depends on none of them.
    const std::uint64_t steps = static_cast<std::uint64_t>(order_.steps());
    std::uint64_t question = static_cast<std::uint64_t>(earlier.step) * steps + static_cast<std::uint64_t>(later.step);
    for (const bool bit : {needs_release, later_tile != earlier_tile, later.begin == Begin::kPosting}) {
      question = question * 2 + (bit ? 1 : 0);
    }
    const auto [answer, is_new] = answers_.try_emplace(question, false);
    if (!is_new) return answer->second;
    const Instance before{earlier.step, earlier_tile};
    const Instance behind{later.step, later_tile};
    answer->second = order_.is_complete_before(before, behind, later.begin) &&
                     (!needs_release || order_.is_released_before(before, behind, later.begin));
    return answer->second;
  }

  [[nodiscard]] Status race(const Access& a, const Access& b, const std::string& tile) const {
    return wrong("{}: {} is not ordered against lane {}, step {}{}: {}", name_of(order_.at(a.step)), text_of(a),
                 order_.at(b.step).lane, order_.at(b.step).index, tile, text_of(b));
  }

  [[nodiscard]] static std::string text_of(const Access& access) {
    const char* verb = access.is_write ? "writing" : "reading";
    if (access.begin == Begin::kPosting) verb = "landing in";
    return fmt::format("{} {}{}", verb, name_of_chunk(access.space, access.chunk),
                       access.is_sent ? " (and sending it)" : "");
  }

  const Plan& plan_;
  Aliasing aliasing_;
  int tiles_;
  LocalOrder order_;
  std::vector<std::vector<Access>> cells_;
  std::unordered_map<std::uint64_t, bool> answers_;  // of is_safe
};

}  // namespace

Status check_races(const Network& network, int rank, Placement placement) {
  return RaceChecker(network, rank, placement).check();
}

}  // namespace hawser::plan
