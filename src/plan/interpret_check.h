// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the byte interpreter must know before it may touch memory: every index of every plan is in range.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "plan/interpret.h"

namespace hawser::plan {

/// kInternalError with a sentence if an index, a size or an option would lead outside of what exists.
Status check_plans(std::span<const Plan> plans, std::span<const std::vector<std::byte>> inputs,
                   const InterpretOptions& options, std::size_t element_bytes);

}  // namespace hawser::plan
