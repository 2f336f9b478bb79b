// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/switchboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "perf/common/run_protocol.h"

namespace hawser::run {
namespace {

using run_protocol::Answer;
using run_protocol::Header;
using run_protocol::Verb;

void append_frame(std::string& to, Answer kind, std::string_view body) {
  const Header header{static_cast<std::uint32_t>(body.size()), static_cast<std::uint8_t>(kind), {}};
  to.append(reinterpret_cast<const char*>(&header), sizeof(header));
  to.append(body);
}

Status malformed(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

Status check(const Header& header) {
  const bool known =
      header.kind >= static_cast<std::uint8_t>(Verb::kPut) && header.kind <= static_cast<std::uint8_t>(Verb::kGather);
  if (!known) return malformed(fmt::format("unknown verb {}", header.kind));
  if (std::any_of(std::begin(header.reserved), std::end(header.reserved), [](auto byte) { return byte != 0; }))
    return malformed("reserved bytes are not zero");
  if (header.body_bytes > run_protocol::kMaxRequestBytes)
    return malformed(
        fmt::format("a body of {} bytes, {} are allowed", header.body_bytes, run_protocol::kMaxRequestBytes));
  return {};
}

}  // namespace

Status Switchboard::receive(int rank, std::string_view bytes) {
  Peer& asking = peer(rank);
  // One question may be under way and one more may wait; a rank that sends more than that does not follow the protocol.
  if (asking.input.size() + bytes.size() > 2 * (sizeof(Header) + run_protocol::kMaxRequestBytes))
    return malformed("more questions at a time than the protocol allows");
  asking.input.append(bytes);
  return take_questions(asking);
}

Status Switchboard::wrote(int rank, std::size_t bytes) {
  Peer& asking = peer(rank);
  asking.output.erase(0, bytes);
  return take_questions(asking);
}

// A question is taken up only when the answer to the one before has been sent, so that what a rank can make us hold is
// bounded.
Status Switchboard::take_questions(Peer& asking) {
  while (asking.waiting == Waiting::kNothing && asking.output.empty() && asking.input.size() >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, asking.input.data(), sizeof(header));
    HAWSER_TRY(check(header));
    const std::size_t frame = sizeof(header) + header.body_bytes;
    if (asking.input.size() < frame) break;
    const std::string body = asking.input.substr(sizeof(header), header.body_bytes);
    asking.input.erase(0, frame);
    HAWSER_TRY(answer(asking, header.kind, body));
  }
  return {};
}

Status Switchboard::answer(Peer& asking, std::uint8_t verb, std::string_view body) {
  switch (static_cast<Verb>(verb)) {
    case Verb::kPut:
      return put(asking, body);
    case Verb::kGet:
      return get(asking, body);
    case Verb::kGather:
      return gather(asking, body);
  }
  return malformed("unknown verb");
}

Status Switchboard::put(Peer& asking, std::string_view body) {
  std::uint32_t key_bytes = 0;
  if (body.size() < sizeof(key_bytes)) return malformed("a put without a key length");
  std::memcpy(&key_bytes, body.data(), sizeof(key_bytes));
  body.remove_prefix(sizeof(key_bytes));
  if (key_bytes == 0 || key_bytes > run_protocol::kMaxKeyBytes || key_bytes > body.size())
    return malformed(fmt::format("a key of {} bytes in a body of {}", key_bytes, body.size()));
  const std::string_view key = body.substr(0, key_bytes);
  const std::string_view value = body.substr(key_bytes);
  if (value.size() > run_protocol::kMaxValueBytes) return malformed(fmt::format("a value of {} bytes", value.size()));
  const auto old = store_.find(key);
  const std::size_t freed = old == store_.end() ? 0 : old->first.size() + old->second.size();
  const std::size_t total = stored_bytes_ - freed + key.size() + value.size();
  if (total > run_protocol::kMaxStoreBytes) {
    append_frame(asking.output, Answer::kError, fmt::format("the store of this job is full ({} bytes)", stored_bytes_));
    return {};
  }
  stored_bytes_ = total;
  store_.insert_or_assign(std::string(key), std::string(value));
  append_frame(asking.output, Answer::kOk, {});
  for (Peer& other : peers_) {
    if (other.waiting != Waiting::kKey || other.value != key) continue;
    other.waiting = Waiting::kNothing;
    append_frame(other.output, Answer::kOk, value);
  }
  return {};
}

Status Switchboard::get(Peer& asking, std::string_view body) {
  if (body.empty() || body.size() > run_protocol::kMaxKeyBytes)
    return malformed(fmt::format("a key of {} bytes", body.size()));
  if (const auto found = store_.find(body); found != store_.end()) {
    append_frame(asking.output, Answer::kOk, found->second);
    return {};
  }
  asking.waiting = Waiting::kKey;
  asking.value = body;
  refuse_hopeless();
  return {};
}

Status Switchboard::gather(Peer& asking, std::string_view body) {
  if (body.size() > run_protocol::kMaxValueBytes) return malformed(fmt::format("a value of {} bytes", body.size()));
  asking.waiting = Waiting::kGather;
  asking.value = body;
  finish_gather();
  refuse_hopeless();
  return {};
}

void Switchboard::finish_gather() {
  if (!std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.waiting == Waiting::kGather; })) return;
  std::string all;
  for (const Peer& each : peers_) {
    const auto bytes = static_cast<std::uint32_t>(each.value.size());
    all.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    all.append(each.value);
  }
  for (Peer& each : peers_) {
    each.waiting = Waiting::kNothing;
    append_frame(each.output, Answer::kOk, all);
  }
}

void Switchboard::leave(int rank) {
  Peer& gone = peer(rank);
  gone = Peer{};
  gone.has_left = true;
  refuse_hopeless();
}

// Nobody may wait for what can no longer come: a gather that a rank has left, a key that every rank waits for.
void Switchboard::refuse_hopeless() {
  const auto left = std::find_if(peers_.begin(), peers_.end(), [](const Peer& p) { return p.has_left; });
  if (left != peers_.end()) {
    for (Peer& each : peers_) {
      if (each.waiting != Waiting::kGather) continue;
      each.waiting = Waiting::kNothing;
      append_frame(each.output, Answer::kError, fmt::format("rank {} has left the job", left - peers_.begin()));
    }
  }
  const bool stuck =
      std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.has_left || p.waiting == Waiting::kKey; });
  if (!stuck) return;
  for (Peer& each : peers_) {
    if (each.waiting != Waiting::kKey) continue;
    each.waiting = Waiting::kNothing;
    append_frame(each.output, Answer::kError, fmt::format("no rank is left that could put '{}'", each.value));
  }
}

}  // namespace hawser::run
