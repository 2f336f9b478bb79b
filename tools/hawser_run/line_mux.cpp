// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/line_mux.h"

#include <fmt/format.h>

namespace hawser::run {
namespace {
// A line longer than this is written in pieces: a rank that never ends its line must not fill our memory.
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
}  // namespace

// `line` ends with '\n' or is a piece of a line that more pieces may follow.
void LineMux::emit(std::string& to, int rank, std::string_view line) {
  if (line.empty()) return;
  if (mid_line_ >= 0 && mid_line_ != rank) to += '\n';
  const bool labelled = rank != 0 || labels_ == Labels::kAll;
  if (labelled && mid_line_ != rank) fmt::format_to(std::back_inserter(to), "[{}] ", rank);
  to += line;
  mid_line_ = line.back() == '\n' ? -1 : rank;
}

std::string LineMux::feed(int rank, std::string_view bytes) {
  std::string& kept = partial_[static_cast<std::size_t>(rank)];
  std::string out;
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    kept += bytes.substr(0, end + 1);
    emit(out, rank, kept);
    kept.clear();
    bytes.remove_prefix(end + 1);
  }
  kept += bytes;
  if (kept.size() > kMaxLineBytes) {
    emit(out, rank, kept);
    kept.clear();
  }
  return out;
}

std::string LineMux::flush_prompt() {
  std::string out;
  if (!holds_prompt()) return out;
  emit(out, 0, partial_[0]);
  partial_[0].clear();
  return out;
}

std::string LineMux::finish(int rank) {
  std::string& kept = partial_[static_cast<std::size_t>(rank)];
  std::string out;
  emit(out, rank, kept);
  kept.clear();
  const bool labelled = rank != 0 || labels_ == Labels::kAll;
  if (labelled && mid_line_ == rank) {
    out += '\n';
    mid_line_ = -1;
  }
  return out;
}

}  // namespace hawser::run
