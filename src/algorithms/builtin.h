// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// One accessor per algorithm, defined in the algorithm's own file. Only builtin.cpp calls them: everybody else asks
// builtin() of algorithm.h.
#pragma once

#include "algorithms/algorithm.h"

namespace hawser::algorithms {

const Algorithm& flat_one_shot();
const Algorithm& flat_two_shot();
const Algorithm& ring_all_reduce();
const Algorithm& tree();
const Algorithm& recursive_doubling();
const Algorithm& rabenseifner();
const Algorithm& ring_all_gather();
const Algorithm& bruck();
const Algorithm& pairwise();

}  // namespace hawser::algorithms
