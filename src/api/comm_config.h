// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// ncclConfig_t as programs of any age pass it, made into what src/comm takes. Called when a communicator is created.
#pragma once

#include <string_view>

#include "api/exports.h"
#include "base/status.h"

namespace hawser::api {

/// The user's record as if it had been written for this version: members that its size or version does not cover are
/// undefined. kInvalidArgument if it was not made by an initialiser. config may be NULL: all undefined.
Result<ncclConfig_t> complete_config(const ncclConfig_t* config, std::string_view call);

/// kInvalidArgument, naming member, value and range, for a member that is set to what it cannot be.
Status check_config(const ncclConfig_t& config, std::string_view call);

}  // namespace hawser::api
