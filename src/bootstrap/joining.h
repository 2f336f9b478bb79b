// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A rank's way to its root: reaches it, says who it is, and hears of its partners. Used by Bootstrap::join().
#pragma once

#include <vector>

#include "base/status.h"
#include "bootstrap/deadline.h"
#include "bootstrap/roster.h"
#include "bootstrap/unique_id.h"

namespace hawser::bootstrap {

/// Ends when the root has answered, at the deadline (a second later if the root was reached), or when cancelled. The Status is that of Bootstrap::join().
Result<Table> ask_root(const IdContents& id, const Member& self, int ranks, const Deadline& deadline);

}  // namespace hawser::bootstrap
