// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The process-wide set of root threads. The C API returns an id and no handle, so nobody else could own them:
// docs/decisions/0002-root-threads.md.
#pragma once

#include <memory>

#include "base/status.h"
#include "bootstrap/root.h"

namespace hawser::bootstrap {

/// Runs `root` on a thread of its own, which ends by itself and is stopped and joined at exit (or when the library is
/// unloaded). In a forked child the set is empty: threads do not survive a fork, and the child starts its own. Any
/// thread. kSystemError if no thread can be started.
Status serve_in_background(std::unique_ptr<Root> root);

/// How many root threads of this process have not ended yet.
std::size_t running_roots();

}  // namespace hawser::bootstrap
