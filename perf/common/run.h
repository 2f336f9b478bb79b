// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The main program of every *_perf.
#pragma once

#include "perf/common/collective.h"

namespace hawser::perf {

/// Parses the command line, measures and checks, and returns the exit code (exit_codes.h).
int run(const Collective& collective, int argc, const char* const* argv);

}  // namespace hawser::perf
