// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Another libnccl.so.2, as a process may have it loaded before Hawser: it counts its calls and answers wrongly. With
// FAKE_HAWSER_NAMES it also has hawser* names of its own, which must not draw libhawser's inner calls.
#include "fake_nccl.h"

int ncclGetVersion(int* version);

static int calls;

int fake_nccl_calls(void) { return calls; }

int ncclGetVersion(int* version) {
  ++calls;
  *version = FAKE_VERSION;
  return 0;
}

#define COUNTED(name)   \
  int name(void);       \
  int name(void) {      \
    ++calls;            \
    return FAKE_RESULT; \
  }

COUNTED(ncclAllReduce)
COUNTED(ncclCommCount)
COUNTED(ncclCommDestroy)
COUNTED(ncclCommInitAll)
COUNTED(ncclCommInitRank)
COUNTED(ncclCommInitRankConfig)
COUNTED(ncclGetUniqueId)
COUNTED(ncclGroupEnd)
COUNTED(ncclGroupStart)
COUNTED(ncclMemAlloc)
COUNTED(ncclMemFree)
COUNTED(pncclAllReduce)
COUNTED(pncclGetVersion)
COUNTED(pncclGroupEnd)
COUNTED(pncclGroupStart)

#ifdef FAKE_HAWSER_NAMES
COUNTED(hawserAllReduce)
COUNTED(hawserGetVersion)
COUNTED(hawserGroupEnd)
COUNTED(hawserGroupStart)
#endif
