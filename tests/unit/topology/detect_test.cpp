// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "topology/detect.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace hawser::topology {
namespace {

TEST(Detect, CountsTheProcessorsThatThisProcessMayUse) {
  const Machine machine = detect();
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(machine.cores, CPU_COUNT(&set));
  EXPECT_GE(machine.numa_domains, 1);
  EXPECT_GE(machine.cache_bytes, 64U << 10);
  EXPECT_FALSE(machine.source.empty());
}

TEST(Detect, SeesABindingOfTheThread) {
  Machine machine;
  std::thread bound([&] {
    cpu_set_t all;
    CPU_ZERO(&all);
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    machine = detect();
  });
  bound.join();
  EXPECT_EQ(machine.cores, 1);
}

}  // namespace
}  // namespace hawser::topology
