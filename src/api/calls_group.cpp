// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Groups. They are the calling thread's own.
#include "api/exports.h"
#include "api/guard.h"
#include "group/group.h"

using hawser::api::guard;

ncclResult_t hawserGroupStart() {
  return guard([] { return hawser::group::start(); });
}

ncclResult_t hawserGroupEnd() {
  return guard([] { return hawser::group::end(); });
}
