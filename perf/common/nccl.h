// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// <nccl.h> for programs that are built without a CUDA toolkit: streams are opaque and always null here.
#pragma once

#ifndef HAWSER_NO_CUDA_HEADERS
#define HAWSER_NO_CUDA_HEADERS 1
#endif
#include <nccl.h>
