// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Preloaded before libnccl.so.2. HAWSER_TEST_FAULT says what goes wrong in calls on 64 floats or more (smaller ones are
// the perf programs' own), made outside a group: "bit" one bit of the result is wrong, "overrun" a byte behind it is written, "input" the
// input is changed, "error" the call fails, "hang" it returns only when some communicator is aborted.
#include <dlfcn.h>
#include <nccl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef ncclResult_t (*AllReduce)(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);

static atomic_int was_aborted;

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  atomic_store(&was_aborted, 1);
  ncclResult_t (*next)(ncclComm_t) = (ncclResult_t(*)(ncclComm_t))dlsym(RTLD_NEXT, "ncclCommAbort");
  return next(comm);
}

ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  const AllReduce next = (AllReduce)dlsym(RTLD_NEXT, "ncclAllReduce");
  const char* fault = getenv("HAWSER_TEST_FAULT");
  if (count < 64 || fault == NULL) return next(send, recv, count, type, op, comm, stream);
  if (strcmp(fault, "error") == 0) return ncclInternalError;
  while (strcmp(fault, "hang") == 0) {
    if (atomic_load(&was_aborted)) return ncclInternalError;
    sched_yield();
  }
  const ncclResult_t result = next(send, recv, count, type, op, comm, stream);
  unsigned char* out = recv;
  if (strcmp(fault, "bit") == 0) out[count / 2] ^= 1;
  if (strcmp(fault, "overrun") == 0) out[count * sizeof(float)] ^= 1;
  if (strcmp(fault, "input") == 0 && send != recv) *(unsigned char*)(uintptr_t)send ^= 1;
  return result;
}
