// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Choosing an algorithm: the cheapest that the user's NCCL_ALGO or HAWSER_ALGO permits.
//
//   value  ::= clause { ";" clause }
//   clause ::= [ collective ":" ] list     without a collective: for all; only the first clause may be so
//   list   ::= [ "^" ] name { "," name }   "^": all but these
//
// Case does not matter, nor do blanks around words and underscores in the collective ("AllReduce" is all_reduce).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/algorithm.h"

namespace hawser::algorithms {
namespace {

/// NCCL's other algorithms. Scripts name them; they are known and never there.
constexpr std::array<std::string_view, 6> kForeignNames = {"collnet", "collnetdirect", "collnetchain",
                                                           "nvls",    "nvlstree",      "pat"};
constexpr std::string_view kVariable = "NCCL_ALGO (or HAWSER_ALGO)";

/// What one list permits.
struct Filter {
  bool is_exclusion = true;  // excluding nothing: everything is permitted
  std::vector<std::string> names;

  [[nodiscard]] bool permits(std::string_view name) const {
    return (std::ranges::find(names, name) != names.end()) != is_exclusion;
  }
};

std::string lower(std::string_view text) {
  std::string result;
  for (const char c : text) result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

bool is_known(std::string_view name) {
  return std::ranges::find(kForeignNames, name) != kForeignNames.end() ||
         std::ranges::any_of(builtin(), [&](const Algorithm* algorithm) { return algorithm->name() == name; });
}

std::string known_names() {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : builtin()) {
    if (std::ranges::find(names, algorithm->name()) == names.end()) names.push_back(algorithm->name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The collective's name without underscores, as NCCL's users write it.
std::string plain_name(std::string_view collective) {
  std::string name = lower(collective);
  std::erase(name, '_');
  return name;
}

bool is_collective(const std::string& name) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    if (plain_name(name_of(static_cast<Collective>(i))) == name) return true;
  }
  return false;
}

Result<Filter> parse_list(std::string_view list, std::string_view value) {
  Filter filter;
  filter.is_exclusion = list.starts_with('^');
  if (filter.is_exclusion) list.remove_prefix(1);
  for (const std::string_view piece : split(list, ',')) {
    std::string name = lower(piece);
    if (!is_known(name)) {
      return Status(Code::kInvalidUsage, fmt::format("{} is \"{}\", but there is no algorithm \"{}\"; there are {}",
                                                     kVariable, value, piece, known_names()));
    }
    filter.names.push_back(std::move(name));
  }
  return filter;
}

/// What `value` permits for `collective`. All clauses are checked, also those for other collectives.
Result<Filter> parse(std::string_view value, Collective collective) {
  Filter for_all;
  std::optional<Filter> for_this;
  const std::string wanted = plain_name(name_of(collective));
  if (trim(value).empty()) return for_all;
  const std::vector<std::string_view> clauses = split(value, ';');
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    const std::string_view clause = clauses[i];
    if (clause.empty()) continue;
    const std::size_t colon = clause.find(':');
    if (colon == std::string_view::npos && i > 0) {
      return Status(Code::kInvalidUsage,
                    fmt::format("{} is \"{}\", but only its first list may lack a collective", kVariable, value));
    }
    if (colon == std::string_view::npos) {
      for_all = HAWSER_TRY_VALUE(parse_list(clause, value));
      continue;
    }
    const std::string_view named = trim(clause.substr(0, colon));
    const std::string name = plain_name(named);
    if (!is_collective(name)) {
      return Status(Code::kInvalidUsage,
                    fmt::format("{} is \"{}\", but there is no collective \"{}\"", kVariable, value, named));
    }
    Filter filter = HAWSER_TRY_VALUE(parse_list(trim(clause.substr(colon + 1)), value));
    if (name == wanted) for_this = std::move(filter);
  }
  return for_this ? *std::move(for_this) : for_all;
}

}  // namespace

std::size_t bytes_of(const Call& call, int ranks) {
  const std::size_t bytes = call.count * size_of(call.type);
  switch (call.collective) {
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduce:
      return bytes;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
    case Collective::kGather:
    case Collective::kScatter:
      return bytes * static_cast<std::size_t>(ranks);
  }
  return bytes;
}

std::vector<Choice> candidates(const Call& call, const topology::Topology& topology) {
  std::vector<Choice> choices;
  for (const Algorithm* algorithm : builtin()) {
    if (algorithm->supports(call, topology)) choices.push_back({algorithm, algorithm->cost_s(call, topology)});
  }
  std::ranges::stable_sort(choices, {}, &Choice::cost_s);
  return choices;
}

Result<Choice> select(const Call& call, const topology::Topology& topology, std::string_view forced) {
  const Filter filter = HAWSER_TRY_VALUE(parse(forced, call.collective));
  const std::vector<Choice> choices = candidates(call, topology);
  for (const Choice& choice : choices) {
    if (filter.permits(choice.algorithm->name())) return choice;
  }
  std::vector<std::string_view> names;
  for (const Choice& choice : choices) names.push_back(choice.algorithm->name());
  if (names.empty()) {
    return Status(Code::kInvalidUsage,
                  fmt::format("no algorithm supports {} with {} ranks", name_of(call.collective), topology.size()));
  }
  return Status(Code::kInvalidUsage,
                fmt::format("{} is \"{}\", which leaves no algorithm for {} with {} ranks; {} would do", kVariable,
                            forced, name_of(call.collective), topology.size(), fmt::join(names, ", ")));
}

}  // namespace hawser::algorithms
