// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/transport/delayed_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

namespace hawser::transport {
namespace {

constexpr std::byte kStale{0xDB};      ///< fills what was given back
constexpr std::byte kUnwritten{0xCD};  ///< fills what the sender is about to write

std::uint64_t scramble(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15ULL;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/// The adversary's whims for one end of one stream.
class Dice {
 public:
  Dice(const DelayedOptions& options, std::uint64_t salt) : options_(options), state_(scramble(options.seed ^ salt)) {}

  std::uint64_t below(std::uint64_t limit) {
    state_ = scramble(state_);
    return state_ % limit;
  }
  /// Mostly nothing, often little, sometimes long: so that streams overtake each other by a lot.
  std::uint32_t delay() {
    const std::uint64_t kind = below(10);
    if (kind < 5) return 0;
    if (kind < 8) return static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + below(4), options_.longest_delay));
    return static_cast<std::uint32_t>(below(options_.longest_delay + 1));
  }
  /// The same answer for the same question.
  [[nodiscard]] bool refuses(std::uint64_t question) const {
    return scramble(options_.seed * 31 + question) % 100 < options_.refusals_percent;
  }

 private:
  DelayedOptions options_;
  std::uint64_t state_;
};

/// Something that has happened and stays hidden for a number of polls.
class Hidden {
 public:
  /// One poll of something that has happened; true: now it is seen.
  bool poll(Dice& dice) {
    if (left_ < 0) left_ = dice.delay();
    if (left_-- > 0) return false;
    left_ = -1;
    return true;
  }

 private:
  std::int64_t left_ = -1;  ///< -1: nothing is hidden yet
};

/// Bytes that begin on a cache line, as slots of a real transport do.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : lines_(bytes / sizeof(Line) + 1) {}
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }
  void grow(std::size_t bytes) { lines_.resize(std::max(lines_.size(), bytes / sizeof(Line) + 1)); }
  void fill(std::byte value) { std::memset(lines_.data(), std::to_integer<int>(value), lines_.size() * sizeof(Line)); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

struct Posted {
  std::uint64_t sequence = 0;  ///< message number + 1
  std::byte* memory = nullptr;
  std::uint32_t bytes = 0;
};

struct Parcel {
  explicit Parcel(std::size_t slot_bytes) : slot(slot_bytes) {}
  Buffer slot;
  std::uint32_t bytes = 0;
  std::uint32_t call_hash = 0;
  const std::byte* reference = nullptr;
  bool is_in_place = false;  ///< the sender stored into posted memory itself
};

struct Spec {
  int sender = 0;
  std::vector<int> receivers;
  int number = 0;
  std::uint32_t slot_bytes = 0;
  std::uint32_t credit = 0;
  auto operator<=>(const Spec&) const = default;
};

std::uint64_t salt_of(const Spec& spec, int end) {
  std::uint64_t salt =
      scramble(static_cast<std::uint64_t>(spec.sender) << 32 | static_cast<std::uint32_t>(spec.number));
  for (const int receiver : spec.receivers) salt = scramble(salt + static_cast<std::uint64_t>(receiver));
  salt = scramble(salt + (std::uint64_t{spec.slot_bytes} << 32 | spec.credit));
  return scramble(salt + static_cast<std::uint64_t>(end));
}

/// What both ends share. The mutex protects all but the bytes in the slots, which belong to the sender until it
/// announces and again when all have released. Taken alone.
struct Stream {
  explicit Stream(Spec of)
      : spec(std::move(of)), parcels(spec.credit, Parcel(spec.slot_bytes)), lines(spec.receivers.size()) {
    for (Line& line : lines) line.posted.resize(spec.credit);
  }
  struct Line {
    std::uint64_t released = 0;
    std::vector<Posted> posted;
  };
  Parcel& parcel(std::uint64_t sequence) { return parcels[sequence % spec.credit]; }

  const Spec spec;
  std::mutex mutex;
  std::uint64_t announced = 0;
  std::vector<Parcel> parcels;
  std::vector<Line> lines;
};

/// What one rank has offered; used by that rank's thread only.
struct Offers {
  std::vector<std::span<const std::byte>> ranges;
  [[nodiscard]] bool has(const std::byte* memory, std::size_t bytes) const {
    return std::ranges::any_of(ranges, [&](const auto& range) {
      return memory >= range.data() && memory + bytes <= range.data() + range.size();
    });
  }
};

class DelayedSendPort final : public SendPort {
 public:
  DelayedSendPort(Stream* stream, const Offers* offers, const DelayedOptions& options)
      : stream_(*stream),
        offers_(*offers),
        options_(options),
        dice_(options, salt_of(stream->spec, -1)),
        hidden_(stream->lines.size()),
        seen_(stream->lines.size()),
        places_(stream->lines.size()) {}

  bool has_credit() override { return announced_ - released() < stream_.spec.credit; }
  Places places(std::uint32_t bytes) override;
  bool can_refer(const std::byte* local, std::uint32_t bytes) override;
  void announce(std::uint32_t bytes, std::uint32_t call_hash) override { publish(bytes, call_hash, nullptr); }
  void announce_reference(const std::byte* local, std::uint32_t bytes, std::uint32_t call_hash) override {
    is_in_place_ = false;
    publish(bytes, call_hash, local);
  }
  [[nodiscard]] std::uint64_t announced() const override { return announced_; }
  std::uint64_t released() override;
  int slowest_receiver() override;

 private:
  bool find_posted(std::uint32_t bytes);
  void publish(std::uint32_t bytes, std::uint32_t call_hash, const std::byte* reference);

  Stream& stream_;
  const Offers& offers_;
  DelayedOptions options_;
  Dice dice_;
  std::vector<Hidden> hidden_;
  std::vector<std::uint64_t> seen_;  ///< releases of each receiver that the sender has seen
  std::vector<std::byte*> places_;
  std::uint64_t announced_ = 0;
  std::uint64_t wiped_ = 0;  ///< slots of messages below this number were overwritten before use
  bool is_in_place_ = false;
};

std::uint64_t DelayedSendPort::released() {
  const std::scoped_lock lock(stream_.mutex);
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const std::uint64_t actual = stream_.lines[i].released;
    if (seen_[i] < actual && hidden_[i].poll(dice_)) seen_[i] += 1 + dice_.below(actual - seen_[i]);
  }
  return std::ranges::min(seen_);
}

int DelayedSendPort::slowest_receiver() {
  const auto slowest = std::ranges::min_element(seen_);
  if (*slowest == announced_) return -1;
  return stream_.spec.receivers[static_cast<std::size_t>(slowest - seen_.begin())];
}

bool DelayedSendPort::find_posted(std::uint32_t bytes) {
  if (options_.landings != DelayedLandings::kLoadStore || bytes == 0 || dice_.refuses(announced_ * 3)) return false;
  const std::scoped_lock lock(stream_.mutex);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Posted& posted = stream_.lines[i].posted[announced_ % stream_.spec.credit];
    if (posted.sequence != announced_ + 1 || posted.bytes != bytes) return false;
    places_[i] = posted.memory;
  }
  return true;
}

Places DelayedSendPort::places(std::uint32_t bytes) {
  is_in_place_ = find_posted(bytes);
  if (is_in_place_) return {places_, Landing::kDirect};
  Buffer& slot = stream_.parcel(announced_).slot;
  if (wiped_ <= announced_) slot.fill(kUnwritten);
  wiped_ = announced_ + 1;
  places_[0] = slot.data();
  return {std::span(places_).first(1), Landing::kSlot};
}

bool DelayedSendPort::can_refer(const std::byte* local, std::uint32_t bytes) {
  if (options_.landings != DelayedLandings::kGet && options_.landings != DelayedLandings::kLoadStore) return false;
  return bytes > 0 && !dice_.refuses(announced_ * 3 + 1) && offers_.has(local, bytes);
}

void DelayedSendPort::publish(std::uint32_t bytes, std::uint32_t call_hash, const std::byte* reference) {
  const std::scoped_lock lock(stream_.mutex);
  Parcel& parcel = stream_.parcel(announced_);
  parcel.bytes = bytes;
  parcel.call_hash = call_hash;
  parcel.reference = reference;
  parcel.is_in_place = is_in_place_;
  is_in_place_ = false;
  stream_.announced = ++announced_;
}

class DelayedReceivePort final : public ReceivePort {
 public:
  DelayedReceivePort(Stream* stream, std::size_t index, const Offers* offers, const DelayedOptions& options)
      : stream_(*stream),
        line_(stream->lines[index]),
        offers_(*offers),
        options_(options),
        dice_(options, salt_of(stream->spec, static_cast<int>(index))),
        arrived_(stream->spec.slot_bytes) {}

  const Message* front() override;
  void release() override;
  bool post(std::uint64_t sequence, std::byte* memory, std::uint32_t bytes) override;
  [[nodiscard]] std::uint64_t consumed() const override { return consumed_; }
  [[nodiscard]] int sender() const override { return stream_.spec.sender; }

 private:
  void deliver(Parcel& parcel);

  Stream& stream_;
  Stream::Line& line_;
  const Offers& offers_;
  DelayedOptions options_;
  Dice dice_;
  Hidden hidden_;
  Buffer arrived_;  ///< the front message's bytes unless they lie in user memory
  std::uint64_t consumed_ = 0;
  bool has_front_ = false;
  Message front_;
};

const Message* DelayedReceivePort::front() {
  if (has_front_) return &front_;
  const std::scoped_lock lock(stream_.mutex);
  if (stream_.announced == consumed_ || !hidden_.poll(dice_)) return nullptr;
  deliver(stream_.parcel(consumed_));
  has_front_ = true;
  return &front_;
}

/// Moves the bytes: not before this moment do they leave the sender or come into posted memory.
void DelayedReceivePort::deliver(Parcel& parcel) {
  const Posted& posted = line_.posted[consumed_ % stream_.spec.credit];
  const bool is_posted = posted.sequence == consumed_ + 1 && posted.bytes == parcel.bytes;
  front_ = {arrived_.data(), parcel.bytes, parcel.call_hash, Landing::kSlot};
  if (parcel.reference != nullptr) {
    front_.landing = Landing::kReference;
    front_.data = parcel.reference;
    if (options_.landings == DelayedLandings::kLoadStore) return;
    arrived_.grow(parcel.bytes);
    front_.data = arrived_.data();
    std::memcpy(arrived_.data(), parcel.reference, parcel.bytes);
  } else if (parcel.is_in_place) {
    front_.landing = Landing::kDirect;
    front_.data = posted.memory;
  } else if (options_.landings == DelayedLandings::kPut && is_posted && !dice_.refuses(consumed_ * 3)) {
    front_.landing = Landing::kDirect;
    front_.data = posted.memory;
    std::memcpy(posted.memory, parcel.slot.data(), parcel.bytes);
  } else {
    std::memcpy(arrived_.data(), parcel.slot.data(), parcel.bytes);
  }
}

void DelayedReceivePort::release() {
  arrived_.fill(kStale);
  has_front_ = false;
  ++consumed_;
  const std::scoped_lock lock(stream_.mutex);
  line_.released = consumed_;
}

bool DelayedReceivePort::post(std::uint64_t sequence, std::byte* memory, std::uint32_t bytes) {
  if (options_.landings != DelayedLandings::kPut && options_.landings != DelayedLandings::kLoadStore) return false;
  if (sequence < consumed_ || sequence - consumed_ >= stream_.spec.credit || bytes == 0) return false;
  if (dice_.refuses(sequence * 3 + 2) || !offers_.has(memory, bytes)) return false;
  const std::scoped_lock lock(stream_.mutex);
  line_.posted[sequence % stream_.spec.credit] = {sequence + 1, memory, bytes};
  return true;
}

/// What all ranks share. The mutex protects all members; no other is taken under it.
class World {
 public:
  explicit World(int count) : ranks_(static_cast<std::size_t>(count)) {}

  enum class Presence : std::uint8_t { kPresent, kFinished, kAborted, kGone };
  struct Standing {
    Presence presence = Presence::kPresent;
    int cause = -1;  ///< kAborted: whom the rank blames
    CallRecord call;
  };

  Stream* stream(const Spec& spec) {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Stream>& found = streams_[spec];
    if (found == nullptr) found = std::make_unique<Stream>(spec);
    return found.get();
  }
  [[nodiscard]] std::vector<Standing> ranks() {
    const std::scoped_lock lock(mutex_);
    return ranks_;
  }
  void record(int rank, const CallRecord& call) {
    const std::scoped_lock lock(mutex_);
    ranks_[static_cast<std::size_t>(rank)].call = call;
  }
  /// The first word counts.
  void leave(int rank, Presence how, int cause) {
    const std::scoped_lock lock(mutex_);
    Standing& standing = ranks_[static_cast<std::size_t>(rank)];
    if (standing.presence != Presence::kPresent) return;
    standing.presence = how;
    standing.cause = cause;
  }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }

 private:
  std::mutex mutex_;
  std::vector<Standing> ranks_;
  std::map<Spec, std::unique_ptr<Stream>> streams_;
};

class DelayedTransport final : public Transport {
 public:
  DelayedTransport(int rank, std::shared_ptr<World> world, const DelayedOptions& options)
      : rank_(rank), world_(std::move(world)), options_(options) {}
  ~DelayedTransport() override { world_->leave(rank_, World::Presence::kGone, -1); }
  DelayedTransport(const DelayedTransport&) = delete;
  DelayedTransport& operator=(const DelayedTransport&) = delete;

  Result<std::unique_ptr<SendPort>> open_send(const StreamSpec& spec) override {
    HAWSER_TRY(check(spec));
    return std::unique_ptr<SendPort>(std::make_unique<DelayedSendPort>(stream_of(spec), &offers_, options_));
  }
  Result<std::unique_ptr<ReceivePort>> open_receive(const StreamSpec& spec) override {
    HAWSER_TRY(check(spec));
    const auto self = std::ranges::find(spec.receivers, rank_);
    if (self == spec.receivers.end()) return refusal("does not receive this stream");
    const auto index = static_cast<std::size_t>(self - spec.receivers.begin());
    return std::unique_ptr<ReceivePort>(
        std::make_unique<DelayedReceivePort>(stream_of(spec), index, &offers_, options_));
  }
  void offer(const std::byte* memory, std::size_t bytes) override {
    if (!offers_.has(memory, bytes)) offers_.ranges.emplace_back(memory, bytes);
  }
  Doorbell* doorbell() override { return nullptr; }
  Status check_peers() override;
  void record_call(const CallRecord& record) override { world_->record(rank_, record); }
  [[nodiscard]] CallRecord call_of(int peer) const override {
    return world_->ranks()[static_cast<std::size_t>(peer)].call;
  }
  void leave(Leave how) override;

 private:
  [[nodiscard]] Status refusal(const char* why) const {
    return {Code::kInternalError, fmt::format("rank {} {}", rank_, why)};
  }
  [[nodiscard]] Status check(const StreamSpec& spec) const {
    const bool is_known = std::ranges::all_of(spec.receivers, [&](int receiver) {
      return receiver >= 0 && receiver < world_->size() && receiver != spec.sender;
    });
    if (spec.receivers.empty() || !is_known) return refusal("cannot reach a receiver of this stream");
    return spec.credit == 0 ? refusal("was given a stream without credit") : Status();
  }
  [[nodiscard]] Stream* stream_of(const StreamSpec& spec) const {
    return world_->stream(
        {spec.sender, {spec.receivers.begin(), spec.receivers.end()}, spec.number, spec.slot_bytes, spec.credit});
  }

  int rank_;
  std::shared_ptr<World> world_;  ///< shared: ranks end in any order
  DelayedOptions options_;
  Offers offers_;
};

Status DelayedTransport::check_peers() {
  const std::vector<World::Standing> ranks = world_->ranks();
  for (const World::Presence presence : {World::Presence::kGone, World::Presence::kAborted}) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (static_cast<int>(i) == rank_ || ranks[i].presence != presence) continue;
      const int cause = presence == World::Presence::kAborted ? ranks[i].cause : static_cast<int>(i);
      return {Code::kRemoteError, fmt::format("rank {}: rank {} {}", rank_, cause,
                                              cause == static_cast<int>(i) && presence == World::Presence::kAborted
                                                  ? "aborted the communicator"
                                                  : "has died")};
    }
  }
  return {};
}

void DelayedTransport::leave(Leave how) {
  int cause = rank_;
  const std::vector<World::Standing> ranks = world_->ranks();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].presence == World::Presence::kGone) cause = static_cast<int>(i);
  }
  const bool is_finished = how == Leave::kFinished;
  world_->leave(rank_, is_finished ? World::Presence::kFinished : World::Presence::kAborted, cause);
}

}  // namespace

std::vector<std::unique_ptr<Transport>> make_delayed(int ranks, const DelayedOptions& options) {
  auto world = std::make_shared<World>(ranks);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < ranks; ++rank) {
    transports.push_back(std::make_unique<DelayedTransport>(rank, world, options));
  }
  return transports;
}

}  // namespace hawser::transport
