// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A small machine with explicit store buffers, and a search through everything that it can do with a few short programs.
// Protocols that span threads are written as such programs; the search shows whether any interleaving and any order in
// which stores become visible breaks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hawser::transport::model {

enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease, kSeqCst };

/// What the machine promises.
enum class Machine : std::uint8_t {
  /// x86: stores become visible in program order; a sequentially consistent store waits until its buffer is empty.
  kTotalStoreOrder,
  /// Arm-like: stores become visible in any order, but a release or sequentially consistent store not before those in
  /// front of it. Only sequentially consistent *loads* wait for the thread's own sequentially consistent stores to become
  /// visible; an acquire load may overtake them (LDAPR).
  kWeak,
};

using Variable = int;
using Register = int;

/// One instruction. Values are small integers.
struct Instruction {
  enum class Kind : std::uint8_t {
    kStore,      ///< variable = value + register b (if any)
    kLoad,       ///< a = variable
    kSet,        ///< a = value + register b (if any)
    kAdd,        ///< variable += value, atomically and sequentially consistent
    kJumpEqual,  ///< if a == value + b: go to target
    kJumpLess,   ///< if a < value + b: go to target
    kExpect,     ///< a == value + b, else the program is broken
    kWait,       ///< sleeps while variable == a, until woken (a futex; the system call empties the buffer)
    kWake,       ///< wakes all that sleep on variable
  };
  Kind kind = Kind::kSet;
  Variable variable = 0;
  Register a = 0;
  Register b = -1;
  int value = 0;
  int target = 0;
  Order order = Order::kRelaxed;
};

/// A thread's program. Calls append instructions; labels are positions.
class Program {
 public:
  [[nodiscard]] int here() const { return static_cast<int>(code_.size()); }
  void store(Variable variable, int value, Order order, Register plus = -1) {
    code_.push_back({Instruction::Kind::kStore, variable, 0, plus, value, 0, order});
  }
  void load(Register into, Variable variable, Order order) {
    code_.push_back({Instruction::Kind::kLoad, variable, into, -1, 0, 0, order});
  }
  void set(Register into, int value, Register plus = -1) {
    code_.push_back({Instruction::Kind::kSet, 0, into, plus, value, 0, {}});
  }
  void add(Variable variable, int value) { code_.push_back({Instruction::Kind::kAdd, variable, 0, -1, value, 0, {}}); }
  void expect(Register a, int value, Register plus = -1) {
    code_.push_back({Instruction::Kind::kExpect, 0, a, plus, value, 0, {}});
  }
  void wait(Variable variable, Register while_equal) {
    code_.push_back({Instruction::Kind::kWait, variable, while_equal, -1, 0, 0, {}});
  }
  void wake(Variable variable) { code_.push_back({Instruction::Kind::kWake, variable, 0, -1, 0, 0, {}}); }
  /// Jumps return their position, so that land() can aim them later.
  int jump_equal(Register a, int value, int target = 0, Register plus = -1) {
    code_.push_back({Instruction::Kind::kJumpEqual, 0, a, plus, value, target, {}});
    return here() - 1;
  }
  int jump_less(Register a, int value, int target = 0, Register plus = -1) {
    code_.push_back({Instruction::Kind::kJumpLess, 0, a, plus, value, target, {}});
    return here() - 1;
  }
  void land(int jump) { code_[static_cast<std::size_t>(jump)].target = here(); }

  [[nodiscard]] const std::vector<Instruction>& code() const { return code_; }

 private:
  std::vector<Instruction> code_;
};

/// Outcome of a search.
struct Verdict {
  std::size_t states = 0;
  bool has_stuck = false;   ///< a thread sleeps for ever
  bool has_broken = false;  ///< an expectation failed
  bool can_finish = false;  ///< all programs came to their ends in some run
  [[nodiscard]] bool is_right() const { return !has_stuck && !has_broken && can_finish; }
};
/// Runs the programs in every way. All variables and registers begin as 0. Loops must be finite in state.
Verdict explore(Machine machine, const std::vector<Program>& programs, int variables);

}  // namespace hawser::transport::model
