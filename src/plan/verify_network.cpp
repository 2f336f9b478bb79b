// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/verify_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace hawser::plan {
namespace {

template <class... Arguments>
Status wrong(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return {Code::kInternalError, fmt::format(text, std::forward<Arguments>(arguments)...)};
}

/// The size of a region's chunks, as runs of symbols: two regions hold equally many bytes, chunk by chunk and tile by
/// tile, whatever the call's sizes, exactly if these are equal.
using Size = std::vector<std::pair<int, int>>;
constexpr int kAnyBlock = -1;

/// Sizes as symbols: a part has the size of its index; a block, one of all or (kDistinct) one per block of the user.
class Sizes {
 public:
  explicit Sizes(Blocks blocks) : blocks_(blocks) {}

  /// A number that equal sizes share.
  int of(const Plan& plan, const Region& region) {
    Size size;
    for_each_chunk(region, [&](int chunk, int) {
      const int symbol = symbol_of(plan, region.space, chunk);
      if (!size.empty() && continues(size.back(), symbol)) {
        ++size.back().second;
      } else {
        size.emplace_back(symbol, 1);
      }
    });
    return numbers_.try_emplace(std::move(size), static_cast<int>(numbers_.size())).first->second;
  }

 private:
  static bool continues(const std::pair<int, int>& run, int symbol) {
    return symbol == kAnyBlock ? run.first == kAnyBlock : run.first != kAnyBlock && symbol == run.first + run.second;
  }

  [[nodiscard]] int symbol_of(const Plan& plan, Space space, int chunk) const {
    if (space == Space::kScratch) {
      const Region& model = plan.scratch[static_cast<std::size_t>(chunk)];
      return symbol_of(plan, model.space, model.runs[0].first);
    }
    const Layout& layout = space == Space::kInput ? plan.input : plan.output;
    if (layout.cut == Cut::kParts) return chunk;
    return blocks_ == Blocks::kEqual ? kAnyBlock : block_of(plan, space, chunk);
  }

  /// Names the user's block of which a chunk is one end: the owner's rank, or (all to all) the pair of ranks.
  [[nodiscard]] int block_of(const Plan& plan, Space space, int chunk) const {
    const bool is_input = space == Space::kInput;
    if (plan.collective == Collective::kAllToAll) {
      return is_input ? plan.rank * plan.ranks + chunk : chunk * plan.ranks + plan.rank;
    }
    const bool is_whole = (is_input ? plan.input : plan.output).chunks == plan.ranks;
    return is_whole && plan.ranks > 1 ? chunk : plan.rank;
  }

  Blocks blocks_;
  std::map<Size, int> numbers_;
};

/// Builds the network, step by step.
class Connector {
 public:
  Connector(std::span<const Plan> plans, const VerifyOptions& options) : sizes_(options.blocks) {
    network_.plans = plans;
  }

  Result<Network> connect() {
    for (const Plan& plan : network_.plans) HAWSER_TRY(add(plan));
    for (const Channel& channel : network_.channels) HAWSER_TRY(check(channel));
    return std::move(network_);
  }

 private:
  Status add(const Plan& plan) {
    std::vector<int> channels;
    channels.reserve(plan.streams.size());
    for (const Stream& stream : plan.streams) channels.push_back(channel_of(stream));
    std::vector<int>& first = network_.first_step.emplace_back();
    for (int lane = 0; lane < static_cast<int>(plan.lanes.size()); ++lane) {
      first.push_back(static_cast<int>(network_.steps.size()));
      const std::vector<Step>& steps = plan.lanes[static_cast<std::size_t>(lane)].steps;
      for (int index = 0; index < static_cast<int>(steps.size()); ++index) {
        HAWSER_TRY(add(plan, channels, {&steps[static_cast<std::size_t>(index)], plan.rank, lane, index, {}, {}}));
      }
    }
    first.push_back(static_cast<int>(network_.steps.size()));
    return {};
  }

  int channel_of(const Stream& stream) {
    const auto [entry, is_new] = by_stream_.try_emplace({stream.sender, stream.receivers, stream.number},
                                                        static_cast<int>(network_.channels.size()));
    if (is_new) {
      Channel& channel = network_.channels.emplace_back();
      channel.stream = stream;
      for (const int receiver : stream.receivers) channel.readers.push_back({receiver, {}});
    }
    return entry->second;
  }

  Status add(const Plan& plan, const std::vector<int>& channels, NetworkStep placed) {
    const int size = sizes_.of(plan, placed.step->shape);
    step_sizes_.push_back(size);
    for (const Source& source : placed.step->sources) {
      MessageEnd end;
      if (source.stream >= 0) {
        end = HAWSER_TRY_VALUE(add_source(channels[static_cast<std::size_t>(source.stream)], placed));
      } else if (sizes_.of(plan, source.region) != size) {
        return wrong("{}: a source differs in size from the step's shape", name_of(placed));
      }
      placed.sources.push_back(end);
    }
    for (const Destination& destination : placed.step->destinations) {
      MessageEnd end;
      if (destination.stream >= 0) {
        end = HAWSER_TRY_VALUE(add_destination(channels[static_cast<std::size_t>(destination.stream)], placed));
      } else if (sizes_.of(plan, destination.region) != size) {
        return wrong("{}: a destination differs in size from the step's shape", name_of(placed));
      }
      placed.destinations.push_back(end);
    }
    network_.steps.push_back(std::move(placed));
    return {};
  }

  Result<MessageEnd> add_source(int index, const NetworkStep& step) {
    Channel& channel = network_.channels[static_cast<std::size_t>(index)];
    const auto reader = std::ranges::lower_bound(channel.readers, step.rank, {}, &Channel::Reader::rank);
    HAWSER_TRY(check_one_lane(reader->steps, step, channel, "takes messages of"));
    reader->steps.push_back(static_cast<int>(network_.steps.size()));
    return MessageEnd{index, static_cast<int>(reader - channel.readers.begin()),
                      static_cast<int>(reader->steps.size()) - 1};
  }

  Result<MessageEnd> add_destination(int index, const NetworkStep& step) {
    Channel& channel = network_.channels[static_cast<std::size_t>(index)];
    HAWSER_TRY(check_one_lane(channel.senders, step, channel, "sends on"));
    channel.senders.push_back(static_cast<int>(network_.steps.size()));
    return MessageEnd{index, 0, static_cast<int>(channel.senders.size()) - 1};
  }

  [[nodiscard]] Status check_one_lane(const std::vector<int>& earlier, const NetworkStep& step, const Channel& channel,
                                      const char* verb) const {
    if (earlier.empty() || network_.at(earlier.back()).lane == step.lane) return {};
    return wrong("{}: {} stream {}, as lane {} does already", name_of(step), verb, name_of(channel.stream),
                 network_.at(earlier.back()).lane);
  }

  [[nodiscard]] Status check(const Channel& channel) const {
    for (const Channel::Reader& reader : channel.readers) {
      if (reader.steps.size() != channel.senders.size()) {
        return wrong("stream {}: rank {} sends {} messages per tile, rank {} takes {}", name_of(channel.stream),
                     channel.stream.sender, channel.senders.size(), reader.rank, reader.steps.size());
      }
      for (std::size_t i = 0; i < reader.steps.size(); ++i) {
        if (size_of(channel.senders[i]) == size_of(reader.steps[i])) continue;
        return wrong("{}: message {} of stream {} has another size than {} gave it",
                     name_of(network_.at(reader.steps[i])), i, name_of(channel.stream),
                     name_of(network_.at(channel.senders[i])));
      }
    }
    return {};
  }

  [[nodiscard]] int size_of(int step) const { return step_sizes_[static_cast<std::size_t>(step)]; }

  Network network_;
  Sizes sizes_;
  std::vector<int> step_sizes_;
  std::map<std::tuple<int, std::vector<int>, int>, int> by_stream_;
};

}  // namespace

std::string name_of(const NetworkStep& step) {
  return fmt::format("rank {}, lane {}, step {}", step.rank, step.lane, step.index);
}

Result<Network> connect(std::span<const Plan> plans, const VerifyOptions& options) {
  return Connector(plans, options).connect();
}

}  // namespace hawser::plan
