// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The declarations of the C API as the files that define it include them: what is declared here is exported.
#pragma once

#include "api/device_types.h"

#pragma GCC visibility push(default)
#include <hawser/hawser.h>
#pragma GCC visibility pop
