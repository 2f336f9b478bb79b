// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The landings beside slots: memory that receivers post, memory of the sender that is read in place.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "tests/transport/conformance.h"

namespace hawser::transport::suite {
namespace {

constexpr std::uint32_t kBytes = 5000;
constexpr std::array kOne{1};
const StreamSpec kSpec{0, kOne, 0, 8192, 4};

class Landings : public Conformance {
 protected:
  static bool can_post() { return subject().post != Reach::kNone; }
  static bool can_refer() { return subject().refer != Reach::kNone; }
  /// What a landing must be when nothing speaks against `wanted`.
  static void expect_landing(Landing got, Landing wanted, bool is_possible) {
    if (!is_possible) {
      EXPECT_EQ(got, Landing::kSlot);
    }
    if (is_possible && !subject().may_refuse) {
      EXPECT_EQ(got, wanted);
    }
  }
  /// What post() must answer to something that nothing speaks against.
  static void expect_posted(bool answer) {
    if (!can_post()) {
      EXPECT_FALSE(answer);
    }
    if (can_post() && !subject().may_refuse) {
      EXPECT_TRUE(answer);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, Landings, ::testing::ValuesIn(subjects()), name_of_subject);

/// Opens both ends and makes sure that the receiver knows the stream: before, it cannot post.
std::unique_ptr<SendPort> open_and_greet(Rank& rank, const StreamSpec& spec) {
  auto port = open_send(rank, spec);
  send(rank, *port, 1000, 1);
  rank.barrier();
  return port;
}
std::unique_ptr<ReceivePort> open_and_meet(Rank& rank, const StreamSpec& spec) {
  auto port = open_receive(rank, spec);
  expect_message(rank, *port, 1000, 1);
  rank.barrier();
  return port;
}

TEST_P(Landings, PostedMemoryReceivesTheMessage) {
  run(2, [](Rank& rank) {
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      rank.barrier();  // posted
      const Landing landing = send(rank, *port, 1, kBytes);
      expect_landing(landing, Landing::kDirect, can_post() && subject().is_put_in_place);
      send(rank, *port, 2, kBytes);
    } else {
      DeviceMemory memory(kBytes + 64);
      rank.transport->offer(memory.data(), kBytes + 64);
      const auto port = open_and_meet(rank, kSpec);
      const bool is_posted = port->post(1, memory.data() + 64, kBytes);
      expect_posted(is_posted);
      rank.barrier();
      const Message message = await_front(rank, *port);
      expect_landing(message.landing, Landing::kDirect, is_posted);
      EXPECT_EQ(message.landing == Landing::kDirect, message.data == memory.data() + 64);
      expect_message(rank, *port, 1, kBytes);
      EXPECT_EQ(expect_message(rank, *port, 2, kBytes), Landing::kSlot);  // nothing was posted for it
      if (message.landing == Landing::kDirect) {
        EXPECT_TRUE(holds_pattern(memory.data() + 64, 1, kBytes));
      }
    }
    rank.barrier();
  });
}

TEST_P(Landings, PostingLateIsHarmless) {
  run(2, [](Rank& rank) {
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      EXPECT_EQ(send(rank, *port, 1, kBytes), Landing::kSlot);
      rank.barrier();  // announced
    } else {
      DeviceMemory memory(kBytes);
      rank.transport->offer(memory.data(), kBytes);
      const auto port = open_and_meet(rank, kSpec);
      rank.barrier();
      expect_posted(port->post(1, memory.data(), kBytes));
      const Message message = await_front(rank, *port);
      if (subject().is_put_in_place) {
        EXPECT_EQ(message.landing, Landing::kSlot);
      }
      expect_message(rank, *port, 1, kBytes);
    }
    rank.barrier();
  });
}

TEST_P(Landings, PostsOutOfReachAreRefused) {
  run(2, [](Rank& rank) {
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      rank.barrier();
      for (std::uint64_t i = 1; i < 6; ++i) send(rank, *port, i, kBytes);
    } else {
      DeviceMemory memory(kBytes * 4);
      rank.transport->offer(memory.data(), kBytes * 4);
      const auto port = open_and_meet(rank, kSpec);
      EXPECT_FALSE(port->post(0, memory.data(), kBytes)) << "a message of the past";
      EXPECT_FALSE(port->post(5, memory.data(), kBytes)) << "more than the credit ahead";
      EXPECT_FALSE(port->post(~std::uint64_t{0}, memory.data(), kBytes));
      for (std::uint64_t i = 1; i < 5; ++i) expect_posted(port->post(i, memory.data() + (i - 1) * kBytes, kBytes));
      rank.barrier();
      for (std::uint64_t i = 1; i < 6; ++i) {
        const Message message = await_front(rank, *port);
        expect_landing(message.landing, Landing::kDirect, can_post() && i < 5);
        expect_message(rank, *port, i, kBytes);
      }
    }
    rank.barrier();
  });
}

TEST_P(Landings, ThePostedSizeMustBeExact) {
  run(2, [](Rank& rank) {
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      rank.barrier();
      EXPECT_EQ(send(rank, *port, 1, kBytes - 1), Landing::kSlot);
      EXPECT_EQ(send(rank, *port, 2, kBytes + 1), Landing::kSlot);
      EXPECT_EQ(send(rank, *port, 3, 0), Landing::kSlot);
    } else {
      DeviceMemory memory(kBytes);
      rank.transport->offer(memory.data(), kBytes);
      const auto port = open_and_meet(rank, kSpec);
      for (std::uint64_t i = 1; i < 4; ++i) port->post(i, memory.data(), kBytes);
      rank.barrier();
      EXPECT_EQ(expect_message(rank, *port, 1, kBytes - 1), Landing::kSlot);
      EXPECT_EQ(expect_message(rank, *port, 2, kBytes + 1), Landing::kSlot);
      EXPECT_EQ(expect_message(rank, *port, 3, 0), Landing::kSlot);
      EXPECT_TRUE(std::all_of(memory.data(), memory.data() + kBytes, [](std::byte b) { return b == std::byte{0}; }));
    }
    rank.barrier();
  });
}

TEST_P(Landings, SmallMessagesStayInline) {
  run(2, [](Rank& rank) {
    const std::uint32_t small = subject().inline_bytes;
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      DeviceMemory memory(kBytes);
      rank.transport->offer(memory.data(), kBytes);
      EXPECT_FALSE(port->can_refer(memory.data(), small));
      rank.barrier();
      EXPECT_EQ(send(rank, *port, 1, small), Landing::kSlot);
    } else {
      DeviceMemory memory(kBytes);
      rank.transport->offer(memory.data(), kBytes);
      const auto port = open_and_meet(rank, kSpec);
      EXPECT_FALSE(port->post(1, memory.data(), small));
      EXPECT_FALSE(port->post(1, memory.data(), 0));
      rank.barrier();
      EXPECT_EQ(expect_message(rank, *port, 1, small), Landing::kSlot);
    }
    rank.barrier();
  });
}

TEST_P(Landings, MulticastIsDirectOnlyIfAllHavePosted) {
  run(4, [](Rank& rank) {
    const std::vector<int> receivers = all_but_zero(rank.ranks);
    const StreamSpec spec{0, receivers, 0, 8192, 4};
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, spec);
      rank.barrier();
      expect_landing(send(rank, *port, 1, kBytes), Landing::kDirect, can_post() && subject().is_put_in_place);
      if (subject().is_put_in_place) {
        EXPECT_EQ(send(rank, *port, 2, kBytes), Landing::kSlot);
      } else {
        send(rank, *port, 2, kBytes);
      }
    } else {
      DeviceMemory memory(2 * kBytes);
      rank.transport->offer(memory.data(), 2 * kBytes);
      const auto port = open_and_meet(rank, spec);
      expect_posted(port->post(1, memory.data(), kBytes));
      if (rank.rank != 2) expect_posted(port->post(2, memory.data() + kBytes, kBytes));
      rank.barrier();
      expect_landing(expect_message(rank, *port, 1, kBytes), Landing::kDirect, can_post());
      const Landing second = expect_message(rank, *port, 2, kBytes);
      if (rank.rank == 2 || subject().is_put_in_place) {
        EXPECT_EQ(second, Landing::kSlot);
      }
    }
    rank.barrier();
  });
}

/// Announces by reference if the port agrees, else by a slot. Returns which.
Landing refer_or_send(Rank& rank, SendPort& port, std::byte* memory, std::uint64_t seed, std::uint32_t bytes) {
  await_credit(rank, port);
  const std::vector<std::byte> content = pattern(seed, bytes);
  std::ranges::copy(content, memory);
  if (!port.can_refer(memory, bytes)) return send(rank, port, seed, bytes);
  port.announce_reference(memory, bytes, hash_of(seed));
  return Landing::kReference;
}

TEST_P(Landings, ReferencesAreReadInPlaceUntilReleased) {
  run(2, [](Rank& rank) {
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      DeviceMemory memory(kBytes * 2);
      rank.transport->offer(memory.data(), kBytes * 2);
      for (std::uint64_t i = 1; i < 20; ++i) {
        // The same bytes again and again: rewritten as soon as the port says that they are released, not before.
        expect_landing(refer_or_send(rank, *port, memory.data() + 100, i, kBytes), Landing::kReference, can_refer());
        rank.await("the release", [&] { return port->released() == port->announced(); });
        std::memset(memory.data(), 0xEE, kBytes * 2);
      }
    } else {
      const auto port = open_and_meet(rank, kSpec);
      for (std::uint64_t i = 1; i < 20; ++i) {
        const Message message = await_front(rank, *port);
        expect_landing(message.landing, Landing::kReference, can_refer());
        for (int look = 0; look < 3; ++look) EXPECT_TRUE(holds_pattern(message.data, i, kBytes));
        expect_message(rank, *port, i, kBytes);
      }
    }
    rank.barrier();
  });
}

TEST_P(Landings, ReferencesOverlapAndMulticast) {
  run(4, [](Rank& rank) {
    const std::vector<int> receivers = all_but_zero(rank.ranks);
    const StreamSpec spec{0, receivers, 0, 8192, 4};
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, spec);
      DeviceMemory memory(kBytes * 4);
      rank.transport->offer(memory.data(), kBytes * 4);
      for (std::uint64_t i = 1; i < 5; ++i) {
        refer_or_send(rank, *port, memory.data() + (i - 1) * kBytes, i, kBytes);
      }
      rank.await("all releases", [&] { return port->released() == 5; });
    } else {
      const auto port = open_and_meet(rank, spec);
      for (std::uint64_t i = 1; i < 5; ++i) {
        expect_landing(expect_message(rank, *port, i, kBytes), Landing::kReference, can_refer());
      }
    }
    rank.barrier();
  });
}

TEST_P(Landings, UnknownMemoryIsRefused) {
  run(2, [](Rank& rank) {
    std::vector<std::byte> ordinary(kBytes);
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      await_credit(rank, *port);
      if (subject().refer == Reach::kAny) {
        EXPECT_TRUE(port->can_refer(ordinary.data(), kBytes));
      }
      if (subject().refer != Reach::kAny) {
        EXPECT_FALSE(port->can_refer(ordinary.data(), kBytes));
      }
      DeviceMemory memory(kBytes);
      if (subject().refer != Reach::kAny) {
        EXPECT_FALSE(port->can_refer(memory.data(), kBytes)) << "not offered";
      }
      rank.transport->offer(memory.data(), kBytes);
      if (can_refer() && !subject().may_refuse) {
        EXPECT_TRUE(port->can_refer(memory.data(), kBytes));
      }
      if (subject().refer != Reach::kAny) {
        EXPECT_FALSE(port->can_refer(memory.data(), 1U << 20)) << "beyond its end";
      }
    } else {
      const auto port = open_and_meet(rank, kSpec);
      if (subject().post == Reach::kAny) {
        EXPECT_TRUE(port->post(1, ordinary.data(), kBytes));
      }
      if (subject().post != Reach::kAny) {
        EXPECT_FALSE(port->post(1, ordinary.data(), kBytes));
      }
    }
    rank.barrier();
  });
}

/// Frees and allocates between messages, so that old addresses come back with new memory behind them.
TEST_P(Landings, ReallocatedMemoryIsNewMemory) {
  constexpr std::uint64_t kRounds = 24;
  run(2, [](Rank& rank) {
    std::vector<std::byte*> seen;
    const auto is_new = [&](std::byte* address) {
      const bool is_known = std::ranges::find(seen, address) != seen.end();
      seen.push_back(address);
      return !is_known;
    };
    int repeats = 0;
    if (rank.rank == 0) {
      const auto port = open_and_greet(rank, kSpec);
      for (std::uint64_t i = 1; i <= kRounds; ++i) {
        DeviceMemory memory(kBytes);
        if (!is_new(memory.data())) ++repeats;
        rank.transport->offer(memory.data(), kBytes);
        rank.barrier();  // posted
        if (i % 2 == 0) {
          refer_or_send(rank, *port, memory.data(), i, kBytes);
        } else {
          send(rank, *port, i, kBytes);
        }
        rank.await("the release", [&] { return port->released() == port->announced(); });
      }
    } else {
      const auto port = open_and_meet(rank, kSpec);
      for (std::uint64_t i = 1; i <= kRounds; ++i) {
        DeviceMemory memory(kBytes);
        if (!is_new(memory.data())) ++repeats;
        rank.transport->offer(memory.data(), kBytes);
        const bool is_posted = i % 2 != 0 && port->post(i, memory.data(), kBytes);
        rank.barrier();
        const Message message = await_front(rank, *port);
        const bool is_referred = i % 2 == 0 && can_refer();
        expect_landing(message.landing, is_referred ? Landing::kReference : Landing::kDirect, is_posted || is_referred);
        if (message.landing == Landing::kDirect) {
          EXPECT_TRUE(holds_pattern(memory.data(), i, kBytes));
        }
        expect_message(rank, *port, i, kBytes);
      }
    }
    rank.barrier();
    EXPECT_GT(repeats, 0) << "no address came back: the test shows nothing";
  });
}

TEST_P(Landings, AllWaysMixed) {
  constexpr std::uint64_t kCount = 400;
  run(3, [](Rank& rank) {
    const std::array receivers{1, 2};
    const StreamSpec spec{0, receivers, 7, 4096, 5};
    const auto size_of_message = [](std::uint64_t i) {
      return static_cast<std::uint32_t>(i % 7 == 0 ? i % 41 : i * 131 % 4097);
    };
    DeviceMemory memory(4096 * 5);
    rank.transport->offer(memory.data(), 4096 * 5);
    if (rank.rank == 0) {
      const auto port = open_send(rank, spec);
      for (std::uint64_t i = 0; i < kCount; ++i) {
        // With credit for message i, message i - credit is released, and its fifth of the memory is free again.
        if (i % 3 == 0) refer_or_send(rank, *port, memory.data() + i % 5 * 4096, i, size_of_message(i));
        if (i % 3 != 0) send(rank, *port, i, size_of_message(i));
      }
    } else {
      const auto port = open_receive(rank, spec);
      std::uint64_t posted = 0;
      for (std::uint64_t i = 0; i < kCount; ++i) {
        for (posted = std::max(posted, i); posted < i + spec.credit; ++posted) {
          if (posted % 4 < 3) port->post(posted, memory.data() + posted % 5 * 4096, size_of_message(posted));
        }
        expect_message(rank, *port, i, size_of_message(i));
      }
    }
    rank.barrier();
  });
}

}  // namespace
}  // namespace hawser::transport::suite
