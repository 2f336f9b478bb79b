// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "algorithms/builtin.h"

#include <array>

namespace hawser::algorithms {

std::span<const Algorithm* const> builtin() {
  static const std::array<const Algorithm*, 9> all = {
      &flat_one_shot(), &flat_two_shot(),   &ring_all_reduce(), &tree(),     &recursive_doubling(),
      &rabenseifner(),  &ring_all_gather(), &bruck(),           &pairwise(),
  };
  return all;
}

}  // namespace hawser::algorithms
