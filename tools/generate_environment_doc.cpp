// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Prints docs/environment.md from the one table of variables. A test compares the file with this program's output.
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/config.h"

namespace {

/// A bar would end the table's cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

}  // namespace

int main() {
  fmt::print(
      "# Environment variables\n\n"
      "Made from the table in src/base/config.cpp by `./dev docs`; edit that table, not this page.\n\n"
      "A communicator reads the environment once, when it is created; the log reads it at its first line. An empty "
      "value "
      "means unset.\nA value that does not follow its grammar makes the creation of the communicator fail with "
      "ncclInvalidArgument; ncclGetLastError names\nthe variable, its value and the grammar. NCCL_* variables that are "
      "not listed have no effect.\n\n"
      "| variable | value | default | meaning |\n| --- | --- | --- | --- |\n");
  for (const hawser::Variable& variable : hawser::variables()) {
    fmt::print("| {} | {} | {} | {} |\n", variable.name, cell(variable.grammar), cell(variable.default_text),
               cell(variable.meaning));
  }
  return 0;
}
