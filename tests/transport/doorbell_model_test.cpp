// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The doorbell protocol of transport/doorbell.h on a machine with store buffers: no wake-up is lost in any execution; and
// each weakened form loses one, so that the search is seen to be able to find it.
#include <gtest/gtest.h>

#include "tests/transport/store_buffer_machine.h"

namespace hawser::transport::model {
namespace {

constexpr Variable kSleeping = 0;
constexpr Variable kBell = 1;
constexpr Variable kWork = 2;  ///< and the following, one per waker

/// The memory orders in use; the defaults are the code's.
struct Orders {
  Order work = Order::kSeqCst;      ///< SlotHeader::sequence and ReceiverLine::released, stored
  Order look = Order::kSeqCst;      ///< the same, loaded
  Order announce = Order::kSeqCst;  ///< fall_asleep's store
  Order ask = Order::kSeqCst;       ///< ring_if_asleep's load
  bool reads_bell_late = false;     ///< after announcing sleep and looking, not before
  bool looks_again = true;          ///< after announcing sleep
};

/// Sends `amount` pieces of work, ringing after each: ShmSendPort::publish, ShmReceivePort::release.
Program waker(Variable work, int amount, const Orders& orders) {
  Program program;
  for (int piece = 1; piece <= amount; ++piece) {
    program.store(work, piece, orders.work);
    program.load(0, kSleeping, orders.ask);
    const int is_awake = program.jump_equal(0, 0);
    program.add(kBell, 1);
    program.wake(kBell);
    program.land(is_awake);
  }
  return program;
}

/// Appends: go to the returned jumps if some waker's work is missing.
std::vector<int> look(Program& program, int wakers, int amount, Order order) {
  std::vector<int> missing;
  for (int i = 0; i < wakers; ++i) {
    program.load(0, kWork + i, order);
    missing.push_back(program.jump_less(0, amount));
  }
  return missing;
}

/// Waits until all wakers have sent all: Waiter::arm, a last poll, Waiter::sleep.
Program sleeper(int wakers, int amount, const Orders& orders) {
  Program program;
  const int again = program.here();
  std::vector<int> missing = look(program, wakers, amount, orders.look);
  const int is_done = program.jump_equal(0, amount);
  for (const int jump : missing) program.land(jump);
  if (!orders.reads_bell_late) program.load(1, kBell, Order::kSeqCst);
  program.store(kSleeping, 1, orders.announce);
  int is_there = -1;
  if (orders.looks_again) {
    missing = look(program, wakers, amount, orders.look);
    is_there = program.jump_equal(0, amount);
    for (const int jump : missing) program.land(jump);
  }
  if (orders.reads_bell_late) program.load(1, kBell, Order::kSeqCst);
  program.wait(kBell, 1);
  if (is_there >= 0) program.land(is_there);
  program.store(kSleeping, 0, Order::kSeqCst);
  program.set(2, 0);
  program.jump_equal(2, 0, again);
  program.land(is_done);
  return program;
}

Verdict run(Machine machine, int wakers, int amount, const Orders& orders) {
  std::vector<Program> programs{sleeper(wakers, amount, orders)};
  for (int i = 0; i < wakers; ++i) programs.push_back(waker(kWork + i, amount, orders));
  return explore(machine, programs, kWork + wakers);
}

TEST(DoorbellModel, LosesNoWakeUp) {
  for (const Machine machine : {Machine::kTotalStoreOrder, Machine::kWeak}) {
    for (const auto& [wakers, amount] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {3, 1}}) {
      const Verdict verdict = run(machine, wakers, amount, {});
      EXPECT_TRUE(verdict.is_right()) << wakers << " wakers, " << amount << " pieces of work";
      EXPECT_GT(verdict.states, 20U) << "hardly anything was tried";
    }
  }
}

TEST(DoorbellModel, AReleaseStoreOfTheWorkLosesOne) {
  EXPECT_TRUE(run(Machine::kTotalStoreOrder, 1, 1, {.work = Order::kRelease}).has_stuck);
  EXPECT_TRUE(run(Machine::kWeak, 1, 1, {.work = Order::kRelease}).has_stuck);
}

TEST(DoorbellModel, AReleaseStoreOfTheFlagLosesOne) {
  // On this machine the sleeping system call empties the buffer, but only after the last look was taken.
  EXPECT_TRUE(run(Machine::kTotalStoreOrder, 1, 1, {.announce = Order::kRelease}).has_stuck);
  EXPECT_TRUE(run(Machine::kWeak, 1, 1, {.announce = Order::kRelease}).has_stuck);
}

/// Why front() and released() load with sequential consistency: x86 forgives an acquire load, Arm's LDAPR does not.
TEST(DoorbellModel, AcquireLoadsLoseOneOnWeakMachines) {
  EXPECT_TRUE(run(Machine::kTotalStoreOrder, 1, 1, {.look = Order::kAcquire}).is_right());
  EXPECT_TRUE(run(Machine::kWeak, 1, 1, {.look = Order::kAcquire}).has_stuck);
  EXPECT_TRUE(run(Machine::kTotalStoreOrder, 1, 1, {.ask = Order::kAcquire}).is_right());
  EXPECT_TRUE(run(Machine::kWeak, 1, 1, {.ask = Order::kAcquire}).has_stuck);
}

TEST(DoorbellModel, TheSleeperMustLookAgainAndKnowTheBellBefore) {
  EXPECT_TRUE(run(Machine::kTotalStoreOrder, 1, 1, {.looks_again = false}).has_stuck);
  EXPECT_TRUE(run(Machine::kTotalStoreOrder, 1, 1, {.reads_bell_late = true}).has_stuck);
}

}  // namespace
}  // namespace hawser::transport::model
