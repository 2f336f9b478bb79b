// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/messages.h"

#include <fmt/format.h>

#include "bootstrap/wire.h"

namespace hawser::bootstrap {

std::string text_of(Milliseconds limit) { return fmt::format("{:g} s", static_cast<double>(limit.count()) / 1000.0); }

Status cancelled(int rank) {
  return Status(Code::kInvalidUsage,
                fmt::format("rank {}: the program aborted the communicator before it was initialised", rank));
}

std::string text_of(Operation operation) { return operation == Operation::kAllGather ? "all_gather" : "barrier"; }

std::vector<std::byte> encode(const Block& block) {
  Writer writer;
  writer.number(block.call).number(static_cast<std::uint8_t>(block.operation)).number(block.round);
  return writer.number(block.origin).bytes(block.bytes).take();
}

std::vector<std::byte> encode(const Abort& abort) {
  return Writer().number(abort.origin).text(std::string_view(abort.reason).substr(0, 4096)).take();
}

std::optional<Block> decode_block(std::span<const std::byte> payload) {
  Reader reader(payload);
  Block block;
  block.call = reader.number<std::uint32_t>();
  const auto operation = reader.number<std::uint8_t>();
  block.round = reader.number<std::uint8_t>();
  block.origin = reader.number<std::uint32_t>();
  block.bytes = reader.rest();
  if (reader.has_failed() || (operation != 1 && operation != 2)) return std::nullopt;
  block.operation = static_cast<Operation>(operation);
  return block;
}

std::optional<Abort> decode_abort(std::span<const std::byte> payload) {
  Reader reader(payload);
  Abort abort;
  abort.origin = reader.number<std::uint32_t>();
  abort.reason = reader.text();
  if (!reader.is_complete()) return std::nullopt;
  return abort;
}

}  // namespace hawser::bootstrap
