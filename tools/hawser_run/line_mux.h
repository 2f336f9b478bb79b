// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Merges the output of all ranks into one stream of whole lines. The supervisor owns one for stdout and one for stderr.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hawser::run {

enum class Labels : std::uint8_t {
  kOthers,  ///< rank 0 as it is, the others' lines behind "[3] "
  kAll,     ///< every line
};

/// No line of one rank is cut by another's. No I/O: what is returned is to be written as it is.
class LineMux {
 public:
  LineMux(int ranks, Labels labels) : partial_(static_cast<std::size_t>(ranks)), labels_(labels) {}

  /// What `rank` wrote. Returns the lines that are now complete; an unfinished one is kept back.
  std::string feed(int rank, std::string_view bytes);
  /// Rank 0 has been quiet for a moment in mid-line (a prompt): returns that piece, if rank 0 is not labelled.
  std::string flush_prompt();
  [[nodiscard]] bool holds_prompt() const { return labels_ == Labels::kOthers && !partial_[0].empty(); }
  /// The rank writes no more: returns what was kept back.
  std::string finish(int rank);

 private:
  void emit(std::string& to, int rank, std::string_view line);

  std::vector<std::string> partial_;
  Labels labels_;
  int mid_line_ = -1;  ///< the rank whose line the sink is in the middle of; -1: none
};

}  // namespace hawser::run
