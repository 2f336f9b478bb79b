// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The part of verify that shows: the outputs are what the collective demands.
#pragma once

#include "base/status.h"
#include "plan/verify_network.h"
#include "plan/verify_run.h"

namespace hawser::plan {

/// Runs a complete execution on symbols and looks at every output chunk of every tile.
Status check_values(const Network& network, const Execution& execution, const VerifyOptions& options);

}  // namespace hawser::plan
