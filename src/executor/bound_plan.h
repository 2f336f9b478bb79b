// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// A Plan bound to one call: chunks have become byte ranges, streams have become ports. Built once per (collective, count, type, op, root)
// and kept by the communicator; an Execution runs it any number of times on different buffers. Nothing in it changes while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/types.h"
#include "kernels/reduce_copy.h"
#include "plan/geometry.h"
#include "plan/plan.h"
#include "transport/transport.h"

namespace hawser::executor {

/// Bytes of one or several adjacent chunks in a space. Tile t takes [offset + t * tile, ...) of them, at most tile bytes; scratch, which
/// exists per tile, always starts at offset.
struct Piece {
  plan::Space space = plan::Space::kInput;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// Indices [begin, end) into one of BoundPlan's arrays.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// A source or destination: a port, or pieces.
struct Operand {
  std::int32_t port = -1;     ///< index into BoundPlan::receive_ports (sources) or send_ports (destinations); -1: local
  std::uint32_t message = 0;  ///< which of the port's messages of a tile this one is
  Range pieces;
};

struct BoundStep {
  Range sources;
  Range destinations;
  Range shape;  ///< pieces that give the size
  Range after;
  std::uint64_t pre_mask = 0;  ///< sources to scale; 0 for a step that only moves
  bool apply_post = false;
  bool is_move = false;    ///< one source, no arithmetic
  bool is_single = false;  ///< every local operand is one piece
  bool can_post = false;   ///< moves a message into one local piece: the memory may be posted as its landing
};

struct PortUse {
  std::int32_t stream = -1;  ///< index into the plan's streams
  std::uint32_t messages_per_tile = 0;
};

struct BoundPlan {
  std::vector<Piece> pieces;
  std::vector<Operand> operands;
  std::vector<BoundStep> steps;  ///< all lanes back to back
  std::vector<Range> lanes;      ///< into steps
  std::vector<plan::After> after;
  std::vector<std::uint32_t> issue_order;        ///< into steps, for straight-line execution
  std::vector<transport::SendPort*> send_ports;  ///< borrowed from the communicator's PortTable
  std::vector<transport::ReceivePort*> receive_ports;
  std::vector<PortUse> send_use;     ///< parallel to send_ports
  std::vector<PortUse> receive_use;  ///< parallel to receive_ports

  std::size_t tiles = 1;
  std::size_t tile_bytes = 0;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::size_t scratch_bytes = 0;  ///< of one copy
  std::uint32_t window = 1;
  std::uint32_t credit = 1;
  bool is_straight_line = false;

  DataType type = DataType::kFloat32;
  kernels::Combine combine = kernels::Combine::kSum;
  std::uint32_t divisor = 0;  ///< post: 0 or the number of ranks
  bool has_pre = false;
  std::uint32_t call_hash = 0;
};

/// What a plan is bound to.
struct Binding {
  std::size_t count = 0;  ///< elements per part vector or per block, as the API counts them
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::size_t tile_bytes = 0;  ///< agreed; a multiple of 64 and of the element size
  std::uint32_t credit = 1;    ///< agreed; at least the plan's
  std::uint32_t call_hash = 0;
};

/// Opens ports on demand and keeps them: a stream that several plans use is one port, whose sequence numbers run on.
class PortTable {
 public:
  explicit PortTable(transport::Transport* transport) : transport_(transport) {}
  Result<transport::SendPort*> send(const transport::StreamSpec& spec);
  Result<transport::ReceivePort*> receive(const transport::StreamSpec& spec);

 private:
  struct Key {
    int sender;
    std::vector<int> receivers;
    int number;
    std::uint32_t slot_bytes;
    std::uint32_t credit;
    bool operator==(const Key&) const = default;
  };
  static Key key_of(const transport::StreamSpec& spec);

  transport::Transport* transport_;
  std::vector<std::pair<Key, std::unique_ptr<transport::SendPort>>> sends_;
  std::vector<std::pair<Key, std::unique_ptr<transport::ReceivePort>>> receives_;
};

/// Binds a plan. Fails as opening ports does, or with kInternalError if the plan does not fit the binding.
Result<BoundPlan> bind(const plan::Plan& plan, const Binding& binding, PortTable& ports);

}  // namespace hawser::executor
