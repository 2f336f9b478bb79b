// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The slot and landing protocols of transport/shm/ports.cpp on a machine with store buffers: no receiver sees bytes of
// another message, no slot is reused too early, no landing is read half written; and each weakened form does so.
#include <gtest/gtest.h>

#include "tests/transport/store_buffer_machine.h"

namespace hawser::transport::model {
namespace {

struct Orders {
  Order publish = Order::kSeqCst;  ///< store of SlotHeader::sequence
  Order release = Order::kSeqCst;  ///< store of ReceiverLine::released
  Order post = Order::kRelease;    ///< store of PostedLanding::sequence
  bool releases_early = false;     ///< before the bytes are read
  bool looks_late = false;         ///< bytes are read before the sequence number
  bool ignores_credit = false;
};

/// Variables of a stream: per slot a sequence number and one datum, per receiver a count and per slot a posted landing.
struct Layout {
  int credit = 1;
  int receivers = 1;
  [[nodiscard]] Variable sequence(int message) const { return message % credit * 2; }
  [[nodiscard]] Variable datum(int message) const { return message % credit * 2 + 1; }
  [[nodiscard]] Variable released(int receiver) const { return 2 * credit + receiver; }
  [[nodiscard]] Variable posted_sequence(int message) const { return 2 * credit + receivers + message % credit * 2; }
  [[nodiscard]] Variable posted_address(int message) const { return posted_sequence(message) + 1; }
  /// Memory that the receiver posts for a message, one datum long.
  [[nodiscard]] Variable memory(int message) const { return 4 * credit + receivers + message; }
  [[nodiscard]] int variables(int messages) const { return memory(messages); }
};
/// What message number `message` carries.
int content(int message) { return 10 + message; }
/// A direct message says so in its slot's datum.
constexpr int kDirect = 5;

void await_credit(Program& program, const Layout& layout, int message) {
  for (int receiver = 0; receiver < layout.receivers; ++receiver) {
    const int again = program.here();
    program.load(0, layout.released(receiver), Order::kSeqCst);
    program.jump_less(0, message + 1 - layout.credit, again);
  }
}

Program sender(const Layout& layout, int messages, const Orders& orders) {
  Program program;
  for (int message = 0; message < messages; ++message) {
    if (!orders.ignores_credit) await_credit(program, layout, message);
    program.store(layout.datum(message), content(message), Order::kRelaxed);
    program.store(layout.sequence(message), message + 1, orders.publish);
  }
  return program;
}

void await_message(Program& program, const Layout& layout, int message) {
  const int again = program.here();
  program.load(0, layout.sequence(message), Order::kSeqCst);
  program.jump_less(0, message + 1, again);
  program.expect(0, message + 1);  // no lap was missed
}

Program receiver(const Layout& layout, int self, int messages, const Orders& orders) {
  Program program;
  for (int message = 0; message < messages; ++message) {
    if (orders.looks_late) program.load(1, layout.datum(message), Order::kRelaxed);
    await_message(program, layout, message);
    if (orders.releases_early) program.store(layout.released(self), message + 1, orders.release);
    if (!orders.looks_late) program.load(1, layout.datum(message), Order::kRelaxed);
    program.expect(1, content(message));
    if (!orders.releases_early) program.store(layout.released(self), message + 1, orders.release);
  }
  return program;
}

Verdict run_slots(Machine machine, const Layout& layout, int messages, const Orders& orders) {
  std::vector<Program> programs{sender(layout, messages, orders)};
  for (int i = 0; i < layout.receivers; ++i) programs.push_back(receiver(layout, i, messages, orders));
  return explore(machine, programs, layout.variables(0));
}

TEST(SlotModel, CarriesEveryMessage) {
  for (const Machine machine : {Machine::kTotalStoreOrder, Machine::kWeak}) {
    for (const auto& [credit, receivers, messages] :
         {std::tuple{1, 1, 3}, {2, 1, 5}, {3, 1, 7}, {1, 2, 3}, {2, 2, 4}, {1, 3, 2}}) {
      const Verdict verdict = run_slots(machine, {credit, receivers}, messages, {});
      EXPECT_TRUE(verdict.is_right()) << "credit " << credit << " receivers " << receivers;
      EXPECT_GT(verdict.states, 30U);
    }
  }
}

TEST(SlotModel, ReleaseStoresWouldDoWithoutSleepers) {
  const Orders orders{.publish = Order::kRelease, .release = Order::kRelease};
  EXPECT_TRUE(run_slots(Machine::kWeak, {2, 2}, 4, orders).is_right());
}

TEST(SlotModel, ARelaxedSequenceIsFoundFaulty) {
  EXPECT_TRUE(run_slots(Machine::kTotalStoreOrder, {2, 1}, 3, {.publish = Order::kRelaxed}).is_right());
  EXPECT_TRUE(run_slots(Machine::kWeak, {2, 1}, 3, {.publish = Order::kRelaxed}).has_broken);
}

TEST(SlotModel, ReadingOutsideItsBoundsIsFoundFaulty) {
  for (const Machine machine : {Machine::kTotalStoreOrder, Machine::kWeak}) {
    EXPECT_TRUE(run_slots(machine, {1, 1}, 2, {.releases_early = true}).has_broken);
    EXPECT_TRUE(run_slots(machine, {1, 1}, 1, {.looks_late = true}).has_broken);
    EXPECT_TRUE(run_slots(machine, {1, 1}, 2, {.ignores_credit = true}).has_broken);
    EXPECT_TRUE(run_slots(machine, {2, 2}, 3, {.ignores_credit = true}).has_broken);
  }
}

/// ShmSendPort::find_posted and places: into the posted memory if it is seen in time, else into the slot. Addresses are
/// modelled by the message they belong to, plus one.
Program direct_sender(const Layout& layout, int messages, const Orders& orders) {
  Program program;
  for (int message = 0; message < messages; ++message) {
    await_credit(program, layout, message);
    program.load(0, layout.posted_sequence(message), Order::kAcquire);
    const int is_early = program.jump_less(0, message + 1);
    program.expect(0, message + 1);
    program.load(1, layout.posted_address(message), Order::kRelaxed);
    program.expect(1, message + 1);
    program.store(layout.memory(message), content(message), Order::kRelaxed);
    program.store(layout.datum(message), kDirect, Order::kRelaxed);
    program.set(2, 0);
    const int is_stored = program.jump_equal(2, 0);
    program.land(is_early);
    program.store(layout.datum(message), content(message), Order::kRelaxed);
    program.land(is_stored);
    program.store(layout.sequence(message), message + 1, orders.publish);
  }
  return program;
}

/// Posts as far ahead as the credit allows, then takes the next message.
Program direct_receiver(const Layout& layout, int messages, int ahead, const Orders& orders) {
  Program program;
  int posted = 0;
  for (int message = 0; message < messages; ++message) {
    for (; posted < messages && posted < message + ahead; ++posted) {
      program.store(layout.posted_address(posted), posted + 1, Order::kRelaxed);
      program.store(layout.posted_sequence(posted), posted + 1, orders.post);
    }
    await_message(program, layout, message);
    program.load(1, layout.datum(message), Order::kRelaxed);
    const int is_slot = program.jump_equal(1, content(message));
    program.expect(1, kDirect);
    program.load(1, layout.memory(message), Order::kRelaxed);
    program.expect(1, content(message));
    program.land(is_slot);
    program.store(layout.released(0), message + 1, orders.release);
  }
  return program;
}

Verdict run_landings(Machine machine, int credit, int messages, int ahead, const Orders& orders) {
  const Layout layout{credit, 1};
  return explore(machine, {direct_sender(layout, messages, orders), direct_receiver(layout, messages, ahead, orders)},
                 layout.variables(messages));
}

TEST(LandingModel, NoLandingIsTornOrMistaken) {
  for (const Machine machine : {Machine::kTotalStoreOrder, Machine::kWeak}) {
    for (const auto& [credit, messages] : {std::pair{1, 3}, {2, 4}, {3, 4}}) {
      const Verdict verdict = run_landings(machine, credit, messages, credit, {});
      EXPECT_TRUE(verdict.is_right()) << "credit " << credit;
      EXPECT_GT(verdict.states, 100U);
    }
  }
}

TEST(LandingModel, ARelaxedPostIsFoundFaulty) {
  EXPECT_TRUE(run_landings(Machine::kTotalStoreOrder, 2, 3, 2, {.post = Order::kRelaxed}).is_right());
  EXPECT_TRUE(run_landings(Machine::kWeak, 2, 3, 2, {.post = Order::kRelaxed}).has_broken);
}

TEST(LandingModel, ARelaxedSequenceIsFoundFaulty) {
  EXPECT_TRUE(run_landings(Machine::kWeak, 1, 1, 1, {.publish = Order::kRelaxed}).has_broken);
}

/// Why post() refuses what is `credit` or more ahead of the front: its place may be being read.
TEST(LandingModel, PostingFurtherAheadIsFoundFaulty) {
  for (const Machine machine : {Machine::kTotalStoreOrder, Machine::kWeak}) {
    EXPECT_TRUE(run_landings(machine, 1, 2, 2, {}).has_broken);
    EXPECT_TRUE(run_landings(machine, 2, 4, 3, {}).has_broken);
  }
}

}  // namespace
}  // namespace hawser::transport::model
