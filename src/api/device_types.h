// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Records of NCCL's device header that its host calls pass by value. For the files of this folder that define such calls;
// C and C++. tests/api compares them with NCCL's.
#pragma once

// NOLINTBEGIN(readability-identifier-naming): the names of members are NCCL's
struct ncclTeam {
  int nRanks;
  int rank;
  int stride;
};

struct ncclMultimemHandle {
  void* mcBasePtr;
};
// NOLINTEND(readability-identifier-naming)
