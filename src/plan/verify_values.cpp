// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/verify_values.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>
#include <utility>

#include "plan/builder.h"
#include "plan/expression.h"

namespace hawser::plan {
namespace {

using Id = ExpressionTable::Id;
constexpr Id kUnwritten = -1;

template <class... Arguments>
Status wrong(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return {Code::kInternalError, fmt::format(text, std::forward<Arguments>(arguments)...)};
}

/// The buffers of one rank: an expression per chunk and tile; scratch as often as it exists.
class Memory {
 public:
  Memory(const Plan& plan, int tiles, bool is_in_place, ExpressionTable& table)
      : plan_(plan), tiles_(tiles), aliasing_(is_in_place ? in_place_aliasing(plan) : Aliasing{}) {
    input_.assign(cells(plan.input.chunks), kUnwritten);
    output_.assign(cells(plan.output.chunks), kUnwritten);
    scratch_.assign(plan.scratch.size() * static_cast<std::size_t>(plan.window), {});
    for (int chunk = 0; chunk < plan.input.chunks; ++chunk) {
      for (int tile = 0; tile < tiles; ++tile) cell(Space::kInput, chunk, tile) = table.leaf(plan.rank, chunk, tile);
    }
  }

  [[nodiscard]] Id read(Space space, int chunk, int tile) {
    if (space != Space::kScratch) return cell(space, chunk, tile);
    const Scratch& copy = scratch(chunk, tile);
    return copy.tile == tile ? copy.value : kUnwritten;
  }

  void write(Space space, int chunk, int tile, Id value) {
    if (space == Space::kScratch) {
      scratch(chunk, tile) = {value, tile};
    } else {
      cell(space, chunk, tile) = value;
    }
  }

 private:
  struct Scratch {
    Id value = kUnwritten;
    int tile = -1;  // that wrote it: what an earlier tile left is as good as unwritten
  };

  [[nodiscard]] std::size_t cells(int chunks) const {
    return static_cast<std::size_t>(chunks) * static_cast<std::size_t>(tiles_);
  }
  Id& cell(Space space, int chunk, int tile) {
    const int aliased = chunk - aliasing_.input_first;
    if (space == Space::kInput && aliased >= 0 && aliased < aliasing_.chunks) {
      return cell(Space::kOutput, aliased + aliasing_.output_first, tile);
    }
    return (space == Space::kInput ? input_
                                   : output_)[static_cast<std::size_t>(chunk) * static_cast<std::size_t>(tiles_) +
                                              static_cast<std::size_t>(tile)];
  }
  Scratch& scratch(int chunk, int tile) {
    return scratch_[static_cast<std::size_t>(chunk) * static_cast<std::size_t>(plan_.window) +
                    static_cast<std::size_t>(tile % plan_.window)];
  }

  const Plan& plan_;
  int tiles_;
  Aliasing aliasing_;
  std::vector<Id> input_;
  std::vector<Id> output_;
  std::vector<Scratch> scratch_;
};

/// Runs steps on symbols.
class Machine {
 public:
  Machine(const Network& network, const VerifyOptions& options)
      : network_(network),
        options_(options),
        table_(options.exact ? Precision::kExact : Precision::kFingerprint),
        in_flight_(network.channels.size()) {
    for (const Plan& plan : network.plans) {
      const bool is_in_place = !options.in_place.empty() && options.in_place[static_cast<std::size_t>(plan.rank)];
      memories_.emplace_back(plan, options.tiles, is_in_place, table_);
    }
  }

  Status run(StepOfTile s);
  Status check_outputs();

 private:
  using Values = std::vector<Id>;
  struct Message {
    Values values;
    std::size_t readers_left = 0;
  };

  Result<Values> load(const NetworkStep& step, std::size_t source, int tile);
  Result<Values> load_local(const NetworkStep& step, const Region& region, int tile);
  Values take(const MessageEnd& end, int tile);
  void store(const NetworkStep& step, std::size_t destination, int tile, const Values& values);
  Result<Values> compute(const NetworkStep& step, int tile);
  Result<Id> combine(const NetworkStep& step, Values operands);
  Result<Id> prepare(const NetworkStep& step, std::size_t source, Id value);
  Status check_moved(const Plan& plan, int chunk, int tile, Id value);
  Status check_reduced(const Plan& plan, int chunk, int tile, Id value);

  [[nodiscard]] int message_number(const MessageEnd& end, int tile) const {
    const Channel& channel = network_.channels[static_cast<std::size_t>(end.channel)];
    return tile * static_cast<int>(channel.senders.size()) + end.position;
  }

  const Network& network_;
  const VerifyOptions& options_;
  ExpressionTable table_;
  std::vector<Memory> memories_;
  std::vector<std::unordered_map<int, Message>> in_flight_;  // [channel], by number of the message
};

Status Machine::run(StepOfTile s) {
  const NetworkStep& step = network_.at(s.step);
  const Values values =
      is_move(*step.step) ? HAWSER_TRY_VALUE(load(step, 0, s.tile)) : HAWSER_TRY_VALUE(compute(step, s.tile));
  for (std::size_t i = 0; i < step.destinations.size(); ++i) store(step, i, s.tile, values);
  return {};
}

Result<Machine::Values> Machine::load(const NetworkStep& step, std::size_t source, int tile) {
  const MessageEnd& end = step.sources[source];
  if (end.channel < 0) return load_local(step, step.step->sources[source].region, tile);
  return take(end, tile);
}

Result<Machine::Values> Machine::load_local(const NetworkStep& step, const Region& region, int tile) {
  Values values;
  int unwritten = -1;
  Memory& memory = memories_[static_cast<std::size_t>(step.rank)];
  for_each_chunk(region, [&](int chunk, int) {
    values.push_back(memory.read(region.space, chunk, tile));
    if (values.back() == kUnwritten && unwritten < 0) unwritten = chunk;
  });
  if (unwritten < 0) return values;
  return wrong("{}: reads {}, which nothing wrote before", name_of(step), name_of_chunk(region.space, unwritten));
}

Machine::Values Machine::take(const MessageEnd& end, int tile) {
  auto& messages = in_flight_[static_cast<std::size_t>(end.channel)];
  const auto message = messages.find(message_number(end, tile));
  if (--message->second.readers_left > 0) return message->second.values;
  Values values = std::move(message->second.values);
  messages.erase(message);
  return values;
}

void Machine::store(const NetworkStep& step, std::size_t destination, int tile, const Values& values) {
  const MessageEnd& end = step.destinations[destination];
  if (end.channel >= 0) {
    const auto channel = static_cast<std::size_t>(end.channel);
    in_flight_[channel][message_number(end, tile)] = {values, network_.channels[channel].readers.size()};
    return;
  }
  const Region& region = step.step->destinations[destination].region;
  Memory& memory = memories_[static_cast<std::size_t>(step.rank)];
  for_each_chunk(region, [&](int chunk, int position) {
    memory.write(region.space, chunk, tile, values[static_cast<std::size_t>(position)]);
  });
}

Result<Machine::Values> Machine::compute(const NetworkStep& step, int tile) {
  std::vector<Values> operands;
  for (std::size_t i = 0; i < step.sources.size(); ++i) operands.push_back(HAWSER_TRY_VALUE(load(step, i, tile)));
  Values results;
  for (std::size_t position = 0; position < operands.front().size(); ++position) {
    Values prepared;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      prepared.push_back(HAWSER_TRY_VALUE(prepare(step, i, operands[i][position])));
    }
    results.push_back(HAWSER_TRY_VALUE(combine(step, std::move(prepared))));
  }
  return results;
}

/// The operand as it enters arithmetic: with pre if it is raw.
Result<Id> Machine::prepare(const NetworkStep& step, std::size_t source, Id value) {
  const ExpressionTable::Summary& summary = table_.summary(value);
  const bool is_raw = summary.kind == ExpressionTable::Kind::kLeaf;
  const bool is_marked = step.step->sources[source].apply_pre;
  if (is_raw && !is_marked) {
    return wrong("{}: source {} is raw input of rank {}, but is not marked apply_pre", name_of(step), source,
                 summary.lowest_rank);
  }
  if (!is_raw && is_marked) return wrong("{}: source {} is marked apply_pre, but is not raw", name_of(step), source);
  if (summary.kind == ExpressionTable::Kind::kPost) {
    return wrong("{}: source {} is finished already (apply_post)", name_of(step), source);
  }
  return is_raw ? table_.pre(value) : value;
}

Result<Id> Machine::combine(const NetworkStep& step, Values operands) {
  const ExpressionTable::Summary first = table_.summary(operands.front());
  int lowest = -1;
  std::uint64_t ranks = 0;
  for (const Id operand : operands) {
    const ExpressionTable::Summary& summary = table_.summary(operand);
    if (summary.chunk != first.chunk || summary.tile != first.tile) {
      return wrong("{}: combines input chunk {} (tile {}) with input chunk {} (tile {})", name_of(step), first.chunk,
                   first.tile, summary.chunk, summary.tile);
    }
    if ((summary.ranks & ranks) != 0) {
      return wrong("{}: combines input of rank {} twice", name_of(step), std::countr_zero(summary.ranks & ranks));
    }
    if (summary.lowest_rank <= lowest) {
      return wrong("{}: operands are not ordered by lowest contributing rank: {} after {}", name_of(step),
                   summary.lowest_rank, lowest);
    }
    lowest = summary.lowest_rank;
    ranks |= summary.ranks;
  }
  const Id combined = operands.size() == 1 ? operands.front() : table_.combine(operands);
  return step.step->apply_post ? table_.post(combined) : combined;
}

Status Machine::check_outputs() {
  for (const Plan& plan : network_.plans) {
    Memory& memory = memories_[static_cast<std::size_t>(plan.rank)];
    for (int chunk = 0; chunk < plan.output.chunks; ++chunk) {
      for (int tile = 0; tile < options_.tiles; ++tile) {
        const Id value = memory.read(Space::kOutput, chunk, tile);
        if (value == kUnwritten) {
          return wrong("rank {}: {} is never written", plan.rank, name_of_chunk(Space::kOutput, chunk));
        }
        switch (plan.collective) {
          case Collective::kAllReduce:
          case Collective::kReduce:
          case Collective::kReduceScatter:
            HAWSER_TRY(check_reduced(plan, chunk, tile, value));
            break;
          case Collective::kAllGather:
          case Collective::kBroadcast:
          case Collective::kAllToAll:
          case Collective::kGather:
          case Collective::kScatter:
            HAWSER_TRY(check_moved(plan, chunk, tile, value));
        }
      }
    }
  }
  return {};
}

/// Whose input, and which chunk of it, an output chunk of a collective without arithmetic must be.
std::pair<int, int> wanted_leaf(const Plan& plan, int chunk) {
  switch (plan.collective) {
    case Collective::kAllGather:
    case Collective::kGather:
      return {chunk, 0};
    case Collective::kBroadcast:
      return {plan.root, chunk};
    case Collective::kAllToAll:
      return {chunk, plan.rank};
    case Collective::kScatter:
      return {plan.root, plan.rank};
    case Collective::kAllReduce:
    case Collective::kReduce:
    case Collective::kReduceScatter:
      break;
  }
  return {plan.rank, chunk};
}

Status Machine::check_moved(const Plan& plan, int chunk, int tile, Id value) {
  const auto [rank, input] = wanted_leaf(plan, chunk);
  if (value == table_.leaf(rank, input, tile)) return {};
  return wrong("rank {}: {} ends as {} (tile {}), not as in{}[{}] (tile {})", plan.rank,
               name_of_chunk(Space::kOutput, chunk), table_.describe(value), table_.summary(value).tile, rank, input,
               tile);
}

Status Machine::check_reduced(const Plan& plan, int chunk, int tile, Id value) {
  const ExpressionTable::Summary& summary = table_.summary(value);
  const int wanted = plan.collective == Collective::kReduceScatter ? plan.rank : chunk;
  const std::string name = name_of_chunk(Space::kOutput, chunk);
  if (summary.chunk != wanted || summary.tile != tile) {
    return wrong("rank {}: {} (tile {}) ends as a reduction of input chunk {} (tile {}), not {}", plan.rank, name, tile,
                 summary.chunk, summary.tile, wanted);
  }
  if (summary.leaves != static_cast<std::uint64_t>(plan.ranks) ||
      summary.sum != ExpressionTable::sum_of_all(plan.ranks)) {
    return wrong("rank {}: {} ends as {}, without some rank's input or with one twice", plan.rank, name,
                 table_.describe(value));
  }
  if (summary.kind != ExpressionTable::Kind::kPost) {
    return wrong("rank {}: {} ends as {}, without post", plan.rank, name, table_.describe(value));
  }
  if (plan.collective != Collective::kAllReduce) return {};
  const Id first = memories_.front().read(Space::kOutput, chunk, tile);
  if (value == first) return {};
  return wrong("rank {}: {} ends as {}, on rank 0 as {}", plan.rank, name, table_.describe(value),
               table_.describe(first));
}

}  // namespace

Status check_values(const Network& network, const Execution& execution, const VerifyOptions& options) {
  Machine machine(network, options);
  for (const StepOfTile& step : execution.done) HAWSER_TRY(machine.run(step));
  return machine.check_outputs();
}

}  // namespace hawser::plan
