// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What nccl_face.c, which is generated, builds on.
#pragma once

#include "device_types.h"

// Everything declared or defined from here to the end of the file is exported.
#pragma GCC visibility push(default)
#include <hawser/hawser.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Declares a weak second name for p##name.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared takes none
#define HAWSER_WEAK_NAME(name) extern __typeof__(p##name) name __attribute__((weak, alias("p" #name)));
