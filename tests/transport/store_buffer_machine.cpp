// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/transport/store_buffer_machine.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace hawser::transport::model {
namespace {

constexpr std::size_t kRegisters = 8;

struct Pending {
  std::int8_t variable;
  std::int8_t value;
  Order order;
};

struct Thread {
  std::int8_t position = 0;
  std::int8_t asleep_on = -1;
  std::array<std::int8_t, kRegisters> registers{};
  std::vector<Pending> buffer;  ///< oldest first
};

struct State {
  std::vector<std::int8_t> memory;
  std::vector<Thread> threads;

  /// Equal keys, equal states.
  [[nodiscard]] std::string key() const {
    std::string text(memory.begin(), memory.end());
    for (const Thread& thread : threads) {
      text.push_back(static_cast<char>(thread.position));
      text.push_back(static_cast<char>(thread.asleep_on));
      text.append(thread.registers.begin(), thread.registers.end());
      text.push_back(static_cast<char>(thread.buffer.size()));
      for (const Pending& pending : thread.buffer) {
        text.push_back(static_cast<char>(pending.variable));
        text.push_back(static_cast<char>(pending.value));
        text.push_back(static_cast<char>(pending.order));
      }
    }
    return text;
  }
};

bool is_ordered(Order order) { return order == Order::kRelease || order == Order::kSeqCst; }

class Search {
 public:
  Search(Machine machine, const std::vector<Program>& programs) : machine_(machine), programs_(programs) {}

  Verdict run(State start) {
    push(std::move(start));
    while (!todo_.empty() && !verdict_.has_stuck && !verdict_.has_broken) {
      const State state = std::move(todo_.back());
      todo_.pop_back();
      visit(state);
    }
    verdict_.states = seen_.size();
    return verdict_;
  }

 private:
  void push(State state) {
    if (seen_.insert(state.key()).second) todo_.push_back(std::move(state));
  }

  void visit(const State& state) {
    bool is_asleep = false;
    bool can_go_on = false;
    for (std::size_t t = 0; t < state.threads.size(); ++t) {
      can_go_on |= drain(state, t);
      is_asleep |= state.threads[t].asleep_on >= 0;
      if (state.threads[t].asleep_on < 0 && !is_finished(state, t)) can_go_on |= step(state, t);
    }
    if (can_go_on) return;
    if (is_asleep) verdict_.has_stuck = true;
    if (!is_asleep) verdict_.can_finish = true;
  }

  [[nodiscard]] bool is_finished(const State& state, std::size_t t) const {
    return static_cast<std::size_t>(state.threads[t].position) >= programs_[t].code().size();
  }

  /// Every store that may become visible next does, in a state of its own.
  bool drain(const State& state, std::size_t t) {
    const std::vector<Pending>& buffer = state.threads[t].buffer;
    bool is_any = false;
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      if (i > 0 && !may_overtake(buffer, i)) continue;
      State next = state;
      next.memory[static_cast<std::size_t>(buffer[i].variable)] = buffer[i].value;
      std::vector<Pending>& left = next.threads[t].buffer;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      push(std::move(next));
      is_any = true;
    }
    return is_any;
  }

  [[nodiscard]] bool may_overtake(const std::vector<Pending>& buffer, std::size_t i) const {
    if (machine_ == Machine::kTotalStoreOrder || is_ordered(buffer[i].order)) return false;
    const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(i);
    return std::none_of(buffer.begin(), end, [&](const Pending& p) { return p.variable == buffer[i].variable; });
  }

  /// Whether a load must wait for stores of its own thread.
  [[nodiscard]] bool must_wait(const Thread& thread, Order order) const {
    const bool has_strong =
        std::ranges::any_of(thread.buffer, [](const Pending& p) { return p.order == Order::kSeqCst; });
    return has_strong && (machine_ == Machine::kTotalStoreOrder || order == Order::kSeqCst);
  }

  static std::int8_t visible(const State& state, const Thread& thread, Variable variable) {
    for (auto pending = thread.buffer.rbegin(); pending != thread.buffer.rend(); ++pending) {
      if (pending->variable == variable) return pending->value;
    }
    return state.memory[static_cast<std::size_t>(variable)];
  }

  static int operand(const Thread& thread, const Instruction& instruction) {
    return instruction.value + (instruction.b < 0 ? 0 : thread.registers.at(static_cast<std::size_t>(instruction.b)));
  }

  /// Lets a thread run its next instruction, if it may; whether it did.
  bool step(const State& state, std::size_t t) {
    const Instruction& instruction = programs_[t].code()[static_cast<std::size_t>(state.threads[t].position)];
    State next = state;
    Thread& thread = next.threads[t];
    ++thread.position;
    const int value = operand(thread, instruction);
    std::int8_t& a = thread.registers.at(static_cast<std::size_t>(instruction.a));
    std::int8_t& cell = next.memory[static_cast<std::size_t>(instruction.variable)];
    switch (instruction.kind) {
      case Instruction::Kind::kStore:
        thread.buffer.push_back(
            {static_cast<std::int8_t>(instruction.variable), static_cast<std::int8_t>(value), instruction.order});
        break;
      case Instruction::Kind::kLoad:
        if (must_wait(thread, instruction.order)) return false;
        a = visible(next, thread, instruction.variable);
        break;
      case Instruction::Kind::kSet:
        a = static_cast<std::int8_t>(value);
        break;
      case Instruction::Kind::kAdd:
        if (!thread.buffer.empty()) return false;
        cell = static_cast<std::int8_t>(cell + value);
        break;
      case Instruction::Kind::kJumpEqual:
        if (a == value) thread.position = static_cast<std::int8_t>(instruction.target);
        break;
      case Instruction::Kind::kJumpLess:
        if (a < value) thread.position = static_cast<std::int8_t>(instruction.target);
        break;
      case Instruction::Kind::kExpect:
        if (a != value) verdict_.has_broken = true;
        break;
      case Instruction::Kind::kWait:
        if (!thread.buffer.empty()) return false;
        if (cell == a) thread.asleep_on = static_cast<std::int8_t>(instruction.variable);
        break;
      case Instruction::Kind::kWake:
        if (!thread.buffer.empty()) return false;
        for (Thread& other : next.threads) {
          if (other.asleep_on == instruction.variable) other.asleep_on = -1;
        }
        break;
    }
    push(std::move(next));
    return true;
  }

  Machine machine_;
  const std::vector<Program>& programs_;
  std::unordered_set<std::string> seen_;
  std::vector<State> todo_;
  Verdict verdict_;
};

}  // namespace

Verdict explore(Machine machine, const std::vector<Program>& programs, int variables) {
  State start;
  start.memory.resize(static_cast<std::size_t>(variables));
  start.threads.resize(programs.size());
  return Search(machine, programs).run(std::move(start));
}

}  // namespace hawser::transport::model
