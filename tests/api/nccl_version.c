// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A program that was linked with some libnccl.so.2: prints the version that it finds at run time.
#include <stdio.h>

#include "fake_nccl.h"

int ncclGetVersion(int* version);

int main(void) {
  int version = 0;
  if (ncclGetVersion(&version) != 0) return 1;
  printf("%d\n", version);
  return 0;
}
