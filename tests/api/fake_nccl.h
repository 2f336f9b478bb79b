// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// What the fake libnccl.so.2 of these tests answers.
#pragma once

#define HAWSER_TEST_FAKE_VERSION 1
#define HAWSER_TEST_FAKE_RESULT 3

// How often one of its functions was called.
int fake_nccl_calls(void);
