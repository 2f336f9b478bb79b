// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A program of somebody who installed Hawser: three ranks of one thread sum a vector. By NCCL's names, or with USE_HAWSER
// by Hawser's own.
#ifdef USE_HAWSER
#include <hawser/hawser.h>
#define CALL(name) hawser##name
#else
#include <nccl.h>
#define CALL(name) nccl##name
#endif

#include <stdio.h>

#define RANKS 3

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, CALL(GetLastError)(NULL));
  return 1;
}

int main(void) {
  ncclComm_t comms[RANKS];
  if (CALL(CommInitAll)(comms, RANKS, NULL) != ncclSuccess) return failed("CommInitAll");
  int data[RANKS][2] = {{1, 10}, {2, 20}, {3, 30}};
  if (CALL(GroupStart)() != ncclSuccess) return failed("GroupStart");
  for (int rank = 0; rank < RANKS; ++rank) {
    if (CALL(AllReduce)(data[rank], data[rank], 2, ncclInt, ncclSum, comms[rank], NULL) != ncclSuccess)
      return failed("AllReduce");
  }
  if (CALL(GroupEnd)() != ncclSuccess) return failed("GroupEnd");
  for (int rank = 0; rank < RANKS; ++rank) {
    if (data[rank][0] != 6 || data[rank][1] != 60) return failed("wrong sums");
    if (CALL(CommDestroy)(comms[rank]) != ncclSuccess) return failed("CommDestroy");
  }
  int version = 0;
  if (CALL(GetVersion)(&version) != ncclSuccess) return failed("GetVersion");
  printf("%d ranks, version %d\n", RANKS, version);
  return 0;
}
