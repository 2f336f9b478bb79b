// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A Topology as JSON text and back: what HAWSER_TOPO_DUMP_FILE writes, HAWSER_TOPO_FILE reads and hawser-explain takes.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "topology/topology.h"

namespace hawser::topology {

std::string to_json(const Topology& topology);
/// kInvalidArgument with what is wrong and where. Checks ranges: the result is fit to plan with.
Result<Topology> from_json(std::string_view text);

/// Writes or reads a file; kSystemError with the path and the system's reason.
Status dump(const Topology& topology, const std::string& path);
Result<Topology> load(const std::string& path);

}  // namespace hawser::topology
