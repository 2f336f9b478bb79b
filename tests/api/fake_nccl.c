// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Another libnccl.so.2, as a process may have it loaded before Hawser: it counts its calls and answers wrongly. With
// FAKE_HAWSER_NAMES it also has hawser* names of its own, which must not draw libhawser's inner calls.
#include "fake_nccl.h"

int ncclGetVersion(int* version);

static int calls;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): what the test counts

int fake_nccl_calls(void) { return calls; }

int ncclGetVersion(int* version) {
  ++calls;
  *version = HAWSER_TEST_FAKE_VERSION;
  return 0;
}

#define HAWSER_TEST_COUNTED(name)   \
  int name(void);                   \
  int name(void) {                  \
    ++calls;                        \
    return HAWSER_TEST_FAKE_RESULT; \
  }

HAWSER_TEST_COUNTED(ncclAllReduce)
HAWSER_TEST_COUNTED(ncclCommCount)
HAWSER_TEST_COUNTED(ncclCommDestroy)
HAWSER_TEST_COUNTED(ncclCommInitAll)
HAWSER_TEST_COUNTED(ncclCommInitRank)
HAWSER_TEST_COUNTED(ncclCommInitRankConfig)
HAWSER_TEST_COUNTED(ncclGetUniqueId)
HAWSER_TEST_COUNTED(ncclGroupEnd)
HAWSER_TEST_COUNTED(ncclGroupStart)
HAWSER_TEST_COUNTED(ncclMemAlloc)
HAWSER_TEST_COUNTED(ncclMemFree)
HAWSER_TEST_COUNTED(pncclAllReduce)
HAWSER_TEST_COUNTED(pncclGetVersion)
HAWSER_TEST_COUNTED(pncclGroupEnd)
HAWSER_TEST_COUNTED(pncclGroupStart)

#ifdef FAKE_HAWSER_NAMES
HAWSER_TEST_COUNTED(hawserAllReduce)
HAWSER_TEST_COUNTED(hawserGetVersion)
HAWSER_TEST_COUNTED(hawserGroupEnd)
HAWSER_TEST_COUNTED(hawserGroupStart)
#endif
