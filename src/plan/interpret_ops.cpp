// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the byte interpreter's callers bring and compare: arithmetic on elements, and the meaning of each collective as
// plain loops.
#include <cstring>

#include "plan/interpret.h"

namespace hawser::plan {
namespace {

/// Applies f(accumulator, operand) -> accumulator to each element.
template <class T, class F>
void for_each_pair(std::span<std::byte> accumulator, std::span<const std::byte> operand, F f) {
  for (std::size_t at = 0; at + sizeof(T) <= accumulator.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, accumulator.data() + at, sizeof(T));
    std::memcpy(&b, operand.data() + at, sizeof(T));
    a = f(a, b);
    std::memcpy(accumulator.data() + at, &a, sizeof(T));
  }
}

/// Applies x -> x * 2654435761 + salt to each 32-bit element.
std::function<void(std::span<std::byte>)> scramble(std::uint32_t salt) {
  return [salt](std::span<std::byte> elements) {
    for_each_pair<std::uint32_t>(elements, elements,
                                 [salt](std::uint32_t x, std::uint32_t) { return x * 2654435761U + salt; });
  };
}

std::size_t total_bytes(std::span<const std::vector<std::byte>> inputs) {
  std::size_t bytes = 0;
  for (const std::vector<std::byte>& input : inputs) bytes += input.size();
  return bytes;
}

/// All inputs combined in rank order.
std::vector<std::byte> reduced(std::span<const std::vector<std::byte>> inputs, const ElementOps& ops) {
  std::vector<std::byte> result;
  for (std::vector<std::byte> operand : inputs) {
    if (ops.pre) ops.pre(operand);
    if (result.empty()) {
      result = std::move(operand);
    } else {
      ops.combine(result, operand);
    }
  }
  if (ops.post) ops.post(result);
  return result;
}

/// Block `block` of `blocks` of each input in turn.
std::vector<std::byte> gathered(std::span<const std::vector<std::byte>> inputs, std::size_t block, std::size_t blocks) {
  std::vector<std::byte> result;
  result.reserve(total_bytes(inputs) / blocks);
  for (const std::vector<std::byte>& input : inputs) {
    const std::size_t bytes = input.size() / blocks;
    const auto part = std::span(input).subspan(block * bytes, bytes);
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

std::vector<std::byte> part_of(const std::vector<std::byte>& whole, std::size_t part, std::size_t parts) {
  const std::size_t bytes = whole.size() / parts;
  const auto slice = std::span(whole).subspan(part * bytes, bytes);
  return {slice.begin(), slice.end()};
}

}  // namespace

ElementOps int32_sum() {
  const auto add = [](std::span<std::byte> accumulator, std::span<const std::byte> operand) {
    for_each_pair<std::uint32_t>(accumulator, operand, [](std::uint32_t a, std::uint32_t b) { return a + b; });
  };
  return {.bytes = 4, .combine = add, .pre = {}, .post = {}};
}

ElementOps fp32_sum() {
  const auto add = [](std::span<std::byte> accumulator, std::span<const std::byte> operand) {
    for_each_pair<float>(accumulator, operand, [](float a, float b) { return a + b; });
  };
  return {.bytes = 4, .combine = add, .pre = {}, .post = {}};
}

ElementOps expression_hash() {
  const auto mix = [](std::span<std::byte> accumulator, std::span<const std::byte> operand) {
    for_each_pair<std::uint32_t>(accumulator, operand, [](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t both = a * 2246822519U ^ (b * 3266489917U + 374761393U);
      return both ^ (both >> 15);
    });
  };
  return {.bytes = 4, .combine = mix, .pre = scramble(668265263U), .post = scramble(104729U)};
}

std::vector<std::vector<std::byte>> expected_outputs(Collective collective, int root,
                                                     std::span<const std::vector<std::byte>> inputs,
                                                     const ElementOps& ops) {
  const std::size_t ranks = inputs.size();
  const auto at_root = static_cast<std::size_t>(root);
  std::vector<std::vector<std::byte>> outputs(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    switch (collective) {
      case Collective::kAllReduce:
        outputs[rank] = rank == 0 ? reduced(inputs, ops) : outputs[0];
        break;
      case Collective::kAllGather:
        outputs[rank] = rank == 0 ? gathered(inputs, 0, 1) : outputs[0];
        break;
      case Collective::kReduceScatter:
        outputs[rank] = part_of(reduced(inputs, ops), rank, ranks);
        break;
      case Collective::kBroadcast:
        outputs[rank] = inputs[at_root];
        break;
      case Collective::kReduce:
        if (rank == at_root) outputs[rank] = reduced(inputs, ops);
        break;
      case Collective::kAllToAll:
        outputs[rank] = gathered(inputs, rank, ranks);
        break;
      case Collective::kGather:
        if (rank == at_root) outputs[rank] = gathered(inputs, 0, 1);
        break;
      case Collective::kScatter:
        outputs[rank] = part_of(inputs[at_root], rank, ranks);
        break;
    }
  }
  return outputs;
}

std::size_t input_bytes(const Plan& plan, std::size_t count, std::size_t element_bytes) {
  const std::size_t bytes = count * element_bytes;
  const std::size_t all = bytes * static_cast<std::size_t>(plan.ranks);
  const bool is_root = plan.rank == plan.root;
  switch (plan.collective) {
    case Collective::kAllReduce:
    case Collective::kReduce:
    case Collective::kAllGather:
    case Collective::kGather:
      return bytes;
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
      return all;
    case Collective::kBroadcast:
      return is_root ? bytes : 0;
    case Collective::kScatter:
      return is_root ? all : 0;
  }
  return 0;
}

std::size_t output_bytes(const Plan& plan, std::size_t count, std::size_t element_bytes) {
  const std::size_t bytes = count * element_bytes;
  const std::size_t all = bytes * static_cast<std::size_t>(plan.ranks);
  const bool is_root = plan.rank == plan.root;
  switch (plan.collective) {
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduceScatter:
    case Collective::kScatter:
      return bytes;
    case Collective::kAllGather:
    case Collective::kAllToAll:
      return all;
    case Collective::kReduce:
      return is_root ? bytes : 0;
    case Collective::kGather:
      return is_root ? all : 0;
  }
  return 0;
}

}  // namespace hawser::plan
