// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// Messages, order, credit, multicast, streams side by side.
#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/transport/conformance.h"

namespace hawser::transport::suite {
namespace {

constexpr std::uint32_t kMebi = 1U << 20;
constexpr std::array kOne{1};
constexpr std::array kZero{0};

using Messages = Conformance;
INSTANTIATE_TEST_SUITE_P(All, Messages, ::testing::ValuesIn(subjects()), name_of_subject);

TEST_P(Messages, EverySizeArrivesIntact) {
  constexpr std::array<std::uint32_t, 19> kSizes = {0,    1,    39,   40,   41,    63,    64,        65,    127, 128,
                                                    4095, 4096, 4097, 4160, 65535, 65536, kMebi - 1, kMebi, 0};
  run(2, [&](Rank& rank) {
    const StreamSpec spec{0, kOne, 0, kMebi, 3};
    if (rank.rank == 0) {
      const auto port = open_send(rank, spec);
      for (std::size_t i = 0; i < kSizes.size(); ++i) EXPECT_EQ(send(rank, *port, i, kSizes.at(i)), Landing::kSlot);
      EXPECT_EQ(port->announced(), kSizes.size());
      rank.await("the last release", [&] { return port->released() == kSizes.size(); });
    } else {
      const auto port = open_receive(rank, spec);
      EXPECT_EQ(port->sender(), 0);
      for (std::size_t i = 0; i < kSizes.size(); ++i) {
        EXPECT_EQ(port->consumed(), i);
        EXPECT_EQ(expect_message(rank, *port, i, kSizes.at(i)), Landing::kSlot);
      }
    }
  });
}

TEST_P(Messages, SlotsAreAligned) {
  run(2, [](Rank& rank) {
    const StreamSpec spec{0, kOne, 0, 4096, 4};
    const auto is_aligned = [](const std::byte* data, std::uint32_t bytes) {
      return reinterpret_cast<std::uintptr_t>(data) % (bytes >= 64 ? 64 : 8) == 0;
    };
    if (rank.rank == 0) {
      const auto port = open_send(rank, spec);
      for (std::uint32_t bytes = 0; bytes < 200; ++bytes) {
        await_credit(rank, *port);
        EXPECT_TRUE(is_aligned(port->places(bytes).data.front(), bytes)) << bytes;
        send(rank, *port, bytes, bytes);
      }
    } else {
      const auto port = open_receive(rank, spec);
      for (std::uint32_t bytes = 0; bytes < 200; ++bytes) {
        const Message message = await_front(rank, *port);
        EXPECT_TRUE(is_aligned(message.data, bytes)) << bytes;
        expect_message(rank, *port, bytes, bytes);
      }
    }
    rank.barrier();
  });
}

TEST_P(Messages, StayInOrderWithManyUnderWay) {
  constexpr std::uint64_t kCount = 1500;
  const auto size_of_message = [](std::uint64_t i) { return static_cast<std::uint32_t>(i * i * 7 % 301); };
  run(2, [&](Rank& rank) {
    const StreamSpec spec{0, kOne, 0, 300, 16};
    if (rank.rank == 0) {
      const auto port = open_send(rank, spec);
      std::uint64_t last = 0;
      for (std::uint64_t i = 0; i < kCount; ++i) {
        send(rank, *port, i, size_of_message(i));
        const std::uint64_t released = port->released();
        ASSERT_GE(released, last);
        ASSERT_LE(released, port->announced());
        ASSERT_LE(port->announced() - released, spec.credit);
        last = released;
      }
    } else {
      const auto port = open_receive(rank, spec);
      for (std::uint64_t i = 0; i < kCount; ++i) {
        // Now and then the queue is left to fill up, so that both a full and an empty stream are passed.
        if (i % 100 == 50) rank.await("a full stream", [&, polls = 0]() mutable { return ++polls > 2000; });
        expect_message(rank, *port, i, size_of_message(i));
      }
    }
    rank.barrier();
  });
}

TEST_P(Messages, CreditEndsAndComesBack) {
  run(2, [](Rank& rank) {
    const StreamSpec spec{0, kOne, 0, 64, 4};
    if (rank.rank == 0) {
      const auto port = open_send(rank, spec);
      EXPECT_EQ(port->slowest_receiver(), -1);
      for (std::uint64_t i = 0; i < spec.credit; ++i) send(rank, *port, i, 64);
      for (int poll = 0; poll < 1000; ++poll) ASSERT_FALSE(port->has_credit());
      EXPECT_EQ(port->slowest_receiver(), 1);
      EXPECT_EQ(port->released(), 0U);
      rank.barrier();  // the receiver releases one
      await_credit(rank, *port);
      EXPECT_EQ(port->released(), 1U);
      send(rank, *port, 4, 64);
      for (int poll = 0; poll < 1000; ++poll) ASSERT_FALSE(port->has_credit());
      rank.barrier();  // the receiver takes the rest
      rank.await("the rest", [&] { return port->released() == 5; });
      EXPECT_EQ(port->slowest_receiver(), -1);
    } else {
      const auto port = open_receive(rank, spec);
      rank.barrier();
      expect_message(rank, *port, 0, 64);
      rank.barrier();
      for (std::uint64_t i = 1; i < 5; ++i) expect_message(rank, *port, i, 64);
    }
    rank.barrier();
  });
}

TEST_P(Messages, TheFrontStaysUntilReleased) {
  run(2, [](Rank& rank) {
    const StreamSpec spec{0, kOne, 0, 256, 2};
    if (rank.rank == 0) {
      const auto port = open_send(rank, spec);
      send(rank, *port, 0, 256);
      send(rank, *port, 1, 100);
      rank.barrier();
      send(rank, *port, 2, 256);
    } else {
      const auto port = open_receive(rank, spec);
      const Message first = await_front(rank, *port);
      for (int poll = 0; poll < 100; ++poll) {
        ASSERT_EQ(port->front()->data, first.data);
        ASSERT_TRUE(holds_pattern(port->front()->data, 0, 256));
      }
      EXPECT_EQ(port->consumed(), 0U);
      expect_message(rank, *port, 0, 256);
      EXPECT_EQ(port->consumed(), 1U);
      rank.barrier();
      expect_message(rank, *port, 1, 100);
      expect_message(rank, *port, 2, 256);
      for (int poll = 0; poll < 100; ++poll) ASSERT_EQ(port->front(), nullptr);
    }
    rank.barrier();
  });
}

/// One sender, all others receive; the last is slow.
void multicast_with_one_slow(Rank& rank) {
  constexpr std::uint64_t kCount = 40;
  const std::vector<int> receivers = all_but_zero(rank.ranks);
  const StreamSpec spec{0, receivers, 3, 500, 4};
  const int slow = rank.ranks - 1;
  std::atomic<std::uint64_t>& may_go_on = rank.word(0);
  if (rank.rank == 0) {
    const auto port = open_send(rank, spec);
    for (std::uint64_t i = 0; i < spec.credit; ++i) send(rank, *port, i, static_cast<std::uint32_t>(i * 12));
    rank.await("all but the slow one", [&] { return rank.word(1).load() == static_cast<std::uint64_t>(slow - 1); });
    // Releases may be seen late, those of the quick ones too.
    rank.await("the slow one's name", [&] { return !port->has_credit() && port->slowest_receiver() == slow; });
    may_go_on.store(1);
    for (std::uint64_t i = spec.credit; i < kCount; ++i) send(rank, *port, i, static_cast<std::uint32_t>(i * 12));
    rank.await("all releases", [&] { return port->released() == kCount; });
    EXPECT_EQ(port->slowest_receiver(), -1);
  } else {
    const auto port = open_receive(rank, spec);
    if (rank.rank == slow) rank.await("permission", [&] { return may_go_on.load() != 0; });
    for (std::uint64_t i = 0; i < kCount; ++i) {
      expect_message(rank, *port, i, static_cast<std::uint32_t>(i * 12));
      if (i + 1 == spec.credit && rank.rank != slow) rank.word(1).fetch_add(1);
    }
  }
  rank.barrier();
}

TEST_P(Messages, MulticastReachesAllAndWaitsForTheSlowest) {
  for (const int receivers : {1, 2, 3, 7}) run(receivers + 1, multicast_with_one_slow);
}

TEST_P(Messages, StreamsAreIndependentInBothDirections) {
  constexpr std::uint64_t kCount = 30;
  run(2, [](Rank& rank) {
    const int other = 1 - rank.rank;
    const std::array out{other};
    const std::array in{rank.rank};
    // Specs that differ in one field only are different streams.
    const std::vector<std::array<std::uint32_t, 3>> kinds = {
        {0, 128, 4}, {1, 128, 4}, {2, 128, 4}, {0, 256, 4}, {0, 128, 5}};
    std::vector<std::unique_ptr<SendPort>> sends;
    std::vector<std::unique_ptr<ReceivePort>> receives;
    for (const auto& [number, slot_bytes, credit] : kinds) {
      sends.push_back(open_send(rank, {rank.rank, out, static_cast<int>(number), slot_bytes, credit}));
      receives.push_back(open_receive(rank, {other, in, static_cast<int>(number), slot_bytes, credit}));
    }
    const auto seed = [](int sender, std::size_t stream, std::uint64_t i) {
      return i * 100 + stream * 10 + static_cast<std::uint64_t>(sender);
    };
    std::vector<std::uint64_t> sent(kinds.size());
    std::vector<std::uint64_t> received(kinds.size());
    rank.await("all messages of all streams", [&] {
      bool is_done = true;
      for (std::size_t s = 0; s < kinds.size(); ++s) {
        if (sent[s] < kCount && sends[s]->has_credit()) {
          send(rank, *sends[s], seed(rank.rank, s, sent[s]), static_cast<std::uint32_t>(s * 20 + sent[s] % 9));
          ++sent[s];
        }
        if (received[s] < kCount && receives[s]->front() != nullptr) {
          expect_message(rank, *receives[s], seed(other, s, received[s]),
                         static_cast<std::uint32_t>(s * 20 + received[s] % 9));
          ++received[s];
        }
        is_done &= sent[s] == kCount && received[s] == kCount;
      }
      return is_done;
    });
    rank.barrier();
  });
}

TEST_P(Messages, EitherEndMayOpenFirst) {
  run(2, [](Rank& rank) {
    const StreamSpec forth{0, kOne, 0, 64, 2};
    const StreamSpec back{1, kZero, 0, 64, 2};
    if (rank.rank == 0) {
      const auto receive = open_receive(rank, back);  // long before its sender
      for (int poll = 0; poll < 100; ++poll) ASSERT_EQ(receive->front(), nullptr);
      EXPECT_EQ(receive->consumed(), 0U);
      const auto port = open_send(rank, forth);
      send(rank, *port, 0, 64);
      send(rank, *port, 1, 7);
      rank.barrier();
      expect_message(rank, *receive, 5, 33);
    } else {
      rank.barrier();
      const auto port = open_receive(rank, forth);  // when its messages wait already
      expect_message(rank, *port, 0, 64);
      expect_message(rank, *port, 1, 7);
      const auto sender = open_send(rank, back);
      send(rank, *sender, 5, 33);
    }
    rank.barrier();
  });
}

TEST_P(Messages, ManySendersToOneReceiver) {
  constexpr std::uint64_t kCount = 60;
  run(8, [](Rank& rank) {
    if (rank.rank != 0) {
      const auto port = open_send(rank, {rank.rank, kZero, 1, 256, 3});
      for (std::uint64_t i = 0; i < kCount; ++i) send(rank, *port, i * 8 + static_cast<std::uint64_t>(rank.rank), 200);
    } else {
      std::vector<std::unique_ptr<ReceivePort>> ports;
      for (int sender = 1; sender < rank.ranks; ++sender)
        ports.push_back(open_receive(rank, {sender, kZero, 1, 256, 3}));
      rank.await("all messages", [&] {
        bool is_done = true;
        for (const auto& port : ports) {
          if (port->consumed() < kCount && port->front() != nullptr) {
            expect_message(rank, *port, port->consumed() * 8 + static_cast<std::uint64_t>(port->sender()), 200);
          }
          is_done &= port->consumed() == kCount;
        }
        return is_done;
      });
    }
    rank.barrier();
  });
}

TEST_P(Messages, NonsenseIsRefused) {
  run(2, [](Rank& rank) {
    const std::array self{rank.rank};
    const std::array nobody{7};
    const std::array other{1 - rank.rank};
    EXPECT_FALSE(rank.transport->open_send({rank.rank, self, 0, 64, 2}).is_ok());
    EXPECT_FALSE(rank.transport->open_send({rank.rank, nobody, 0, 64, 2}).is_ok());
    EXPECT_FALSE(rank.transport->open_send({rank.rank, {}, 0, 64, 2}).is_ok());
    EXPECT_FALSE(rank.transport->open_send({rank.rank, other, 0, 64, 0}).is_ok());
    EXPECT_FALSE(rank.transport->open_receive({rank.rank, self, 0, 64, 2}).is_ok());
    EXPECT_FALSE(rank.transport->open_receive({1 - rank.rank, other, 0, 64, 2}).is_ok());
    EXPECT_FALSE(rank.transport->open_receive({1 - rank.rank, self, 0, 64, 0}).is_ok());
    rank.barrier();
  });
}

}  // namespace
}  // namespace hawser::transport::suite
