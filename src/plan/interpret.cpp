// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "plan/interpret_check.h"
#include "plan/interpret_memory.h"

namespace hawser::plan {
namespace {

enum class Landing : std::uint8_t { kSlot, kDirect, kInPlace };

/// A message between the start of its sending and its release by the last reader.
struct Message {
  bool is_sent = false;
  std::vector<std::byte> slot;
  std::optional<ScatterList> original;  // where the sender has the same bytes
  std::vector<Landing> landing;         // per reader
};

/// One end of a channel at a receiver.
struct Reader {
  int rank = 0;
  std::vector<std::size_t> steps = {};  // of its lane, that take the messages of a tile, in order
  long released = 0;                    // messages it is done with: the number of the one it takes next
  long considered = 0;                  // messages for which posting has been decided
  std::map<long, std::vector<ScatterList>> posted = {};  // by message: where it may land directly
};

struct Channel {
  int credit = 1;
  long started = 0;   // messages whose sending has begun
  long per_tile = 0;  // messages that the sender sends in a tile
  std::vector<Reader> readers;
  std::map<long, Message> messages;

  [[nodiscard]] bool has_room() const {
    long slowest = started;
    for (const Reader& reader : readers) slowest = std::min(slowest, reader.released);
    return started - slowest < credit;
  }
};

/// One end of a message in a step. No channel: the operand is local.
struct End {
  Channel* channel = nullptr;
  std::size_t reader = 0;  // of a source: index in Channel::readers
  long ordinal = 0;        // of a destination: which of the sender's messages of a tile
};

struct Ends {
  std::vector<End> sources;
  std::vector<End> destinations;
};

/// A step under way.
struct Running {
  std::vector<ScatterList> sources;
  std::vector<ScatterList> destinations;
  std::vector<std::pair<std::size_t, std::size_t>> pieces;  // begin, bytes; done from the back
};

/// A lane of a rank: who acts.
struct Actor {
  std::size_t rank = 0;
  std::size_t lane = 0;
  std::size_t tile = 0;
  std::size_t step = 0;
  bool is_slow = false;
  std::vector<std::pair<Channel*, std::size_t>> reads;  // channels that it takes messages of, and which reader it is
  std::optional<Running> running;
};

class Machine {
 public:
  Machine(std::span<const Plan> plans, std::span<const std::vector<std::byte>> inputs, const InterpretOptions& options,
          const ElementOps& ops)
      : plans_(plans), options_(options), ops_(ops), random_(options.seed) {
    has_slow_lanes_ = random_() % 2 == 0;
    for (const Plan& plan : plans) {
      tiles_ = std::max(tiles_, tile_count(Geometry(plan.input, options.count, ops.bytes),
                                           Geometry(plan.output, options.count, ops.bytes), options.tile_bytes));
    }
    for (const Plan& plan : plans) {
      const auto rank = static_cast<std::size_t>(plan.rank);
      memories_.push_back(std::make_unique<RankMemory>(plan, inputs[rank], options, ops.bytes, tiles_));
      connect(plan);
    }
  }

  Result<Outcome> run() {
    const std::uint64_t burst = std::array{0, 8, 15}[random_() % 3];
    // Those who had nothing to do since somebody last did something stand in front, up to `idle`.
    std::vector<std::size_t> order = unfinished();
    std::size_t idle = 0;
    bool is_burst = false;
    std::size_t at = 0;
    while (!order.empty()) {
      if (idle == order.size()) return stalled(actors_[order[0]]);
      if (!is_burst) at = pick(order, idle);
      Actor& actor = actors_[order[at]];
      if (!act(actor)) {
        std::swap(order[at], order[idle++]);
        is_burst = false;
        continue;
      }
      if (!fault_.is_ok()) return fault_;
      idle = 0;
      is_burst = actor.tile < tiles_ && random_() % 16 < burst;
      if (actor.tile == tiles_) order.erase(order.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return outcome();
  }

 private:
  /// Enters a rank's lanes and its ends of channels.
  void connect(const Plan& plan) {
    const auto rank = static_cast<std::size_t>(plan.rank);
    first_actor_.push_back(actors_.size());
    std::vector<Channel*> channels;
    for (const Stream& stream : plan.streams) channels.push_back(&channel(stream));
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
      Actor& actor = actors_.emplace_back();
      actor.rank = rank;
      actor.lane = lane;
      actor.is_slow = has_slow_lanes_ && random_() % 4 == 0;
      std::vector<Ends>& lane_ends = ends_.emplace_back();
      for (std::size_t step = 0; step < plan.lanes[lane].steps.size(); ++step) {
        lane_ends.push_back(ends_of(plan.lanes[lane].steps[step], plan, channels));
        enter_reads(actor, step, lane_ends.back());
      }
      // A lane without steps has nothing to do in any tile.
      if (plan.lanes[lane].steps.empty()) actor.tile = tiles_;
    }
  }

  Channel& channel(const Stream& stream) {
    const auto [entry, is_new] = channels_.try_emplace({stream.sender, stream.receivers, stream.number});
    Channel& channel = entry->second;
    if (is_new) {
      const Plan& sender = plans_[static_cast<std::size_t>(stream.sender)];
      channel.credit = sender.credit;
      if (options_.credit_extra > 0) {
        channel.credit += static_cast<int>(random_() % (static_cast<std::uint64_t>(options_.credit_extra) + 1));
      }
      for (const int receiver : stream.receivers) channel.readers.push_back({.rank = receiver});
    }
    return channel;
  }

  static void enter_reads(Actor& actor, std::size_t step, const Ends& ends) {
    for (const End& end : ends.sources) {
      if (end.channel == nullptr) continue;
      end.channel->readers[end.reader].steps.push_back(step);
      const std::pair read(end.channel, end.reader);
      if (std::ranges::find(actor.reads, read) == actor.reads.end()) actor.reads.push_back(read);
    }
  }

  static Ends ends_of(const Step& step, const Plan& plan, const std::vector<Channel*>& channels) {
    Ends ends;
    for (const Source& source : step.sources) {
      End& end = ends.sources.emplace_back();
      if (source.stream < 0) continue;
      end.channel = channels[static_cast<std::size_t>(source.stream)];
      while (end.channel->readers[end.reader].rank != plan.rank) ++end.reader;
    }
    for (const Destination& destination : step.destinations) {
      End& end = ends.destinations.emplace_back();
      if (destination.stream < 0) continue;
      end.channel = channels[static_cast<std::size_t>(destination.stream)];
      end.ordinal = end.channel->per_tile++;
    }
    return ends;
  }

  /// Somebody who may have something to do. Slow lanes come up less often.
  std::size_t pick(const std::vector<std::size_t>& order, std::size_t idle) {
    std::size_t at = idle + random_() % (order.size() - idle);
    if (actors_[order[at]].is_slow && random_() % 8 != 0) at = idle + random_() % (order.size() - idle);
    return at;
  }

  [[nodiscard]] std::vector<std::size_t> unfinished() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < actors_.size(); ++i) {
      if (actors_[i].tile < tiles_) order.push_back(i);
    }
    return order;
  }

  [[nodiscard]] const Step& step_of(const Actor& actor) const {
    return plans_[actor.rank].lanes[actor.lane].steps[actor.step];
  }
  [[nodiscard]] const Ends& ends_of(const Actor& actor) const {
    return ends_[first_actor_[actor.rank] + actor.lane][actor.step];
  }
  [[nodiscard]] ScatterList list(const Actor& actor, const Region& region) {
    return memories_[actor.rank]->list(region, actor.tile);
  }

  /// Does one thing, if there is one to do.
  bool act(Actor& actor) {
    if (random_() % 2 == 0 && post_landing(actor)) return true;
    if (actor.running) {
      if (actor.running->pieces.empty()) {
        finish(actor);
      } else {
        do_piece(actor);
      }
      return true;
    }
    if (!is_after_satisfied(actor, actor.step, actor.tile)) return false;
    if (waits_for_message(actor) || waits_for_room(actor)) return false;
    start(actor);
    return true;
  }

  [[nodiscard]] bool is_after_satisfied(const Actor& actor, std::size_t step, std::size_t tile) const {
    const std::vector<After>& after = plans_[actor.rank].lanes[actor.lane].steps[step].after;
    return std::ranges::all_of(after, [&](const After& one) { return is_satisfied(actor, one, tile); });
  }

  [[nodiscard]] bool is_satisfied(const Actor& actor, const After& after, std::size_t of_tile) const {
    const long tile = static_cast<long>(of_tile) - after.tiles_back;
    if (tile < 0) return true;
    const std::size_t index = first_actor_[actor.rank] + static_cast<std::size_t>(after.lane);
    const Actor& other = actors_[index];
    const auto step = static_cast<std::size_t>(after.step);
    const long finished = static_cast<long>(other.tile) + (step < other.step ? 1 : 0);
    if (finished <= tile) return false;
    if (!after.released) return true;
    return std::ranges::all_of(ends_[index][step].destinations, [&](const End& end) {
      return end.channel == nullptr || is_released(*end.channel, tile * end.channel->per_tile + end.ordinal);
    });
  }

  /// Nobody reads the message at the sender any more.
  static bool is_released(const Channel& channel, long number) {
    const auto message = channel.messages.find(number);
    if (message == channel.messages.end()) return true;
    for (std::size_t i = 0; i < channel.readers.size(); ++i) {
      if (message->second.landing[i] == Landing::kInPlace && channel.readers[i].released <= number) return false;
    }
    return true;
  }

  [[nodiscard]] bool waits_for_message(const Actor& actor) const {
    return std::ranges::any_of(ends_of(actor).sources, [](const End& end) {
      if (end.channel == nullptr) return false;
      const auto message = end.channel->messages.find(end.channel->readers[end.reader].released);
      return message == end.channel->messages.end() || !message->second.is_sent;
    });
  }

  [[nodiscard]] bool waits_for_room(const Actor& actor) const {
    return std::ranges::any_of(ends_of(actor).destinations,
                               [](const End& end) { return end.channel != nullptr && !end.channel->has_room(); });
  }

  static bool has_arithmetic(const Step& step) { return step.sources.size() > 1 || step.apply_post; }

  [[nodiscard]] std::vector<ScatterList> local_destinations(const Actor& actor, std::size_t step, std::size_t tile) {
    std::vector<ScatterList> lists;
    for (const Destination& destination : plans_[actor.rank].lanes[actor.lane].steps[step].destinations) {
      if (destination.stream < 0) lists.push_back(memories_[actor.rank]->list(destination.region, tile));
    }
    return lists;
  }

  /// Opens the destinations of some step of the lane, however far ahead its credit reaches, for the step's message, if
  /// that may land directly and has not been started: from here on they hold garbage.
  bool post_landing(Actor& actor) {
    for (const auto& [channel, index] : actor.reads) {
      Reader& reader = channel->readers[index];
      const long number = std::max(reader.considered, channel->started);
      const auto per_tile = static_cast<long>(reader.steps.size());
      const auto tile = static_cast<std::size_t>(number / per_tile);
      if (number >= reader.released + channel->credit || tile >= tiles_) continue;
      const std::size_t step = reader.steps[static_cast<std::size_t>(number % per_tile)];
      if (!is_after_satisfied(actor, step, tile)) continue;
      reader.considered = number + 1;
      if (has_arithmetic(plans_[actor.rank].lanes[actor.lane].steps[step]) || !wants(LandingMix::kDirect)) continue;
      std::vector<ScatterList> places = local_destinations(actor, step, tile);
      if (places.empty()) continue;
      for (const ScatterList& place : places) place.write(0, junk(place.size()));
      reader.posted.emplace(number, std::move(places));
      return true;
    }
    return false;
  }

  std::vector<std::byte> junk(std::size_t bytes) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(random_() & 0xff));
  }

  bool wants(LandingMix landing) {
    return options_.landing == landing || (options_.landing == LandingMix::kMixed && random_() % 2 == 0);
  }

  void start(Actor& actor) {
    const Step& step = step_of(actor);
    const Ends& ends = ends_of(actor);
    const std::size_t size = list(actor, step.shape).size();
    Running running;
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      running.sources.push_back(ends.sources[i].channel == nullptr ? list(actor, step.sources[i].region)
                                                                   : take(actor, ends.sources[i]));
      if (running.sources.back().size() != size) return set_fault(actor, "a source differs in size from the step");
    }
    for (std::size_t i = 0; i < step.destinations.size(); ++i) {
      if (ends.destinations[i].channel != nullptr) continue;
      running.destinations.push_back(list(actor, step.destinations[i].region));
      if (running.destinations.back().size() != size) return set_fault(actor, "a destination differs in size");
    }
    const std::optional<ScatterList> original = original_of(step, ends, running);
    for (const End& end : ends.destinations) {
      if (end.channel != nullptr) begin_message(*end.channel, size, original, running);
    }
    running.pieces = cut(size);
    actor.running = std::move(running);
  }

  /// Where this rank holds what it sends: in its only source, or wherever it stores the result.
  std::optional<ScatterList> original_of(const Step& step, const Ends& ends, const Running& running) {
    std::vector<const ScatterList*> places;
    if (!has_arithmetic(step) && ends.sources[0].channel == nullptr) places.push_back(&running.sources[0]);
    for (const ScatterList& destination : running.destinations) places.push_back(&destination);
    if (places.empty()) return std::nullopt;
    return *places[random_() % places.size()];
  }

  /// The bytes of the next message of a stream.
  ScatterList take(const Actor& actor, const End& end) {
    Reader& reader = end.channel->readers[end.reader];
    Message& message = end.channel->messages.at(reader.released);
    reader.posted.erase(reader.released);
    switch (message.landing[end.reader]) {
      case Landing::kDirect:
        ++outcome_.direct;
        return local_destinations(actor, actor.step, actor.tile).front();
      case Landing::kInPlace:
        ++outcome_.in_place;
        return *message.original;
      case Landing::kSlot:
        break;
    }
    ++outcome_.slots;
    ScatterList slot;
    slot.append(message.slot);
    return slot;
  }

  static bool may_land(const Reader& reader, long number, std::size_t size) {
    const auto posted = reader.posted.find(number);
    return posted != reader.posted.end() &&
           std::ranges::all_of(posted->second, [size](const ScatterList& place) { return place.size() == size; });
  }

  void begin_message(Channel& channel, std::size_t size, const std::optional<ScatterList>& original, Running& running) {
    Message& message = channel.messages[channel.started];
    message.slot = junk(size);
    message.original = original;
    running.destinations.emplace_back().append(message.slot);
    for (const Reader& reader : channel.readers) {
      Landing landing = Landing::kSlot;
      if (may_land(reader, channel.started, size) && wants(LandingMix::kDirect)) {
        landing = Landing::kDirect;
        const std::vector<ScatterList>& places = reader.posted.at(channel.started);
        running.destinations.insert(running.destinations.end(), places.begin(), places.end());
      } else if (original && wants(LandingMix::kInPlace)) {
        landing = Landing::kInPlace;
      }
      message.landing.push_back(landing);
    }
    ++channel.started;
  }

  /// Cuts a step into up to three pieces of whole elements, in any order.
  std::vector<std::pair<std::size_t, std::size_t>> cut(std::size_t size) {
    const std::size_t elements = size / ops_.bytes;
    if (elements == 0) return {};
    std::vector<std::size_t> borders = {0, random_() % elements, random_() % elements, elements};
    std::ranges::sort(borders);
    std::vector<std::pair<std::size_t, std::size_t>> pieces;
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      const std::size_t bytes = (borders[i + 1] - borders[i]) * ops_.bytes;
      if (bytes > 0) pieces.emplace_back(borders[i] * ops_.bytes, bytes);
    }
    std::ranges::shuffle(pieces, random_);
    return pieces;
  }

  void do_piece(Actor& actor) {
    const Step& step = step_of(actor);
    const auto [begin, bytes] = actor.running->pieces.back();
    actor.running->pieces.pop_back();
    std::vector<std::byte> result;
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      std::vector<std::byte> operand = actor.running->sources[i].read(begin, bytes);
      if (has_arithmetic(step) && step.sources[i].apply_pre && ops_.pre) ops_.pre(operand);
      if (i == 0) {
        result = std::move(operand);
      } else {
        ops_.combine(result, operand);
      }
    }
    if (step.apply_post && ops_.post) ops_.post(result);
    for (const ScatterList& destination : actor.running->destinations) destination.write(begin, result);
  }

  void finish(Actor& actor) {
    for (const End& end : ends_of(actor).sources) {
      if (end.channel != nullptr) release(*end.channel, end.reader);
    }
    for (const End& end : ends_of(actor).destinations) {
      const long number = static_cast<long>(actor.tile) * (end.channel ? end.channel->per_tile : 0) + end.ordinal;
      if (end.channel != nullptr) end.channel->messages.at(number).is_sent = true;
    }
    ++outcome_.steps;
    actor.running.reset();
    if (++actor.step == plans_[actor.rank].lanes[actor.lane].steps.size()) {
      actor.step = 0;
      ++actor.tile;
    }
  }

  static void release(Channel& channel, std::size_t reader) {
    const long number = channel.readers[reader].released++;
    const auto is_done = [number](const Reader& other) { return other.released > number; };
    if (std::ranges::all_of(channel.readers, is_done)) channel.messages.erase(number);
  }

  [[nodiscard]] static std::string place(const Actor& actor) {
    return fmt::format("rank {} lane {} step {} tile {}", actor.rank, actor.lane, actor.step, actor.tile);
  }

  void set_fault(const Actor& actor, std::string_view what) {
    fault_ = {Code::kInternalError, fmt::format("{}: {}", place(actor), what)};
  }

  [[nodiscard]] Status stalled(const Actor& actor) const {
    const std::string_view reason = !is_after_satisfied(actor, actor.step, actor.tile) ? "another step"
                                    : waits_for_message(actor)                         ? "a message"
                                                                                       : "room for a message";
    return {Code::kInternalError, fmt::format("stalls: {} waits for {}", place(actor), reason)};
  }

  Result<Outcome> outcome() {
    for (const auto& [key, channel] : channels_) {
      if (!channel.messages.empty()) {
        return Status(Code::kInternalError, fmt::format("{} messages of rank {} were never taken",
                                                        channel.messages.size(), std::get<0>(key)));
      }
    }
    for (const auto& memory : memories_) {
      outcome_.outputs.emplace_back(memory->output().begin(), memory->output().end());
    }
    return std::move(outcome_);
  }

  std::span<const Plan> plans_;
  const InterpretOptions& options_;
  const ElementOps& ops_;
  std::mt19937_64 random_;
  std::size_t tiles_ = 1;
  bool has_slow_lanes_ = false;
  std::vector<std::unique_ptr<RankMemory>> memories_;
  std::map<std::tuple<int, std::vector<int>, int>, Channel> channels_;
  std::vector<std::size_t> first_actor_;  // per rank
  std::vector<Actor> actors_;             // by rank and lane
  std::vector<std::vector<Ends>> ends_;   // per actor, per step
  Outcome outcome_;
  Status fault_;
};

}  // namespace

Result<Outcome> interpret(std::span<const Plan> plans, std::span<const std::vector<std::byte>> inputs,
                          const InterpretOptions& options, const ElementOps& ops) {
  HAWSER_TRY(check_plans(plans, inputs, options, ops.bytes));
  return Machine(plans, inputs, options, ops).run();
}

}  // namespace hawser::plan
