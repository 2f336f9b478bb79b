// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Loads another libnccl.so.2 for everybody to see, then Hawser, and uses Hawser. Arguments: the two libraries.
#include <dlfcn.h>
#include <hawser/hawser.h>
#include <stdio.h>
#include <string.h>

#include "fake_nccl.h"

#define HAWSER_TEST_REQUIRE(condition)                        \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      return 1;                                               \
    }                                                         \
  } while (0)

typedef ncclResult_t (*GetVersion)(int*);
typedef ncclResult_t (*InitAll)(ncclComm_t*, int, const int*);
typedef ncclResult_t (*AllReduce)(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
typedef ncclResult_t (*Destroy)(ncclComm_t);
typedef ncclResult_t (*Group)(void);
typedef int (*Calls)(void);

// NOLINTBEGIN(bugprone-macro-parentheses): names that are declared take none
// POSIX lets a function's address come as a void*, ISO C does not: through memory both are content.
#define HAWSER_TEST_LOAD(type, name, library, symbol) \
  type name;                                          \
  *(void**)&name = dlsym(library, symbol);            \
  HAWSER_TEST_REQUIRE(name != NULL)

// NOLINTEND(bugprone-macro-parentheses)

int main(int count, char** arguments) {
  HAWSER_TEST_REQUIRE(count == 3);
  void* fake = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  HAWSER_TEST_REQUIRE(fake != NULL);
  void* hawser = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
  HAWSER_TEST_REQUIRE(hawser != NULL);
  HAWSER_TEST_LOAD(Calls, calls, fake, "fake_nccl_calls");
  HAWSER_TEST_LOAD(GetVersion, version_of, hawser, "hawserGetVersion");
  HAWSER_TEST_LOAD(InitAll, init_all, hawser, "hawserCommInitAll");
  HAWSER_TEST_LOAD(AllReduce, all_reduce, hawser, "hawserAllReduce");
  HAWSER_TEST_LOAD(Destroy, destroy, hawser, "hawserCommDestroy");
  HAWSER_TEST_LOAD(Group, group_start, hawser, "hawserGroupStart");
  HAWSER_TEST_LOAD(Group, group_end, hawser, "hawserGroupEnd");

  int version = 0;
  HAWSER_TEST_REQUIRE(version_of(&version) == ncclSuccess && version == NCCL_VERSION_CODE);
  ncclComm_t comms[2] = {NULL, NULL};
  HAWSER_TEST_REQUIRE(init_all(comms, 2, NULL) == ncclSuccess);
  int data[2][3] = {{1, 2, 3}, {10, 20, 30}};
  const int sums[3] = {11, 22, 33};
  HAWSER_TEST_REQUIRE(group_start() == ncclSuccess);
  for (int rank = 0; rank < 2; ++rank)
    HAWSER_TEST_REQUIRE(all_reduce(data[rank], data[rank], 3, ncclInt, ncclSum, comms[rank], NULL) == ncclSuccess);
  HAWSER_TEST_REQUIRE(group_end() == ncclSuccess);
  for (int rank = 0; rank < 2; ++rank) {
    HAWSER_TEST_REQUIRE(memcmp(data[rank], sums, sizeof(sums)) == 0);
    HAWSER_TEST_REQUIRE(destroy(comms[rank]) == ncclSuccess);
  }
  HAWSER_TEST_REQUIRE(calls() == 0);
  return 0;
}
