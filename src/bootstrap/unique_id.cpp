// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "bootstrap/crypto.h"
#include "bootstrap/wire.h"

namespace hawser::bootstrap {
namespace {

constexpr std::uint32_t kMagic = 0x49525748;  // "HWRI"
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kSecretOffset = 88;
constexpr std::size_t kCheckOffset = kSecretOffset + sizeof(Secret);
constexpr std::size_t kCheckBytes = 8;
static_assert(16 + kMaxAddresses * kAddressBytes == kSecretOffset);
static_assert(kCheckOffset + kCheckBytes == sizeof(UniqueId));

Secret check_of(const Secret& secret, std::span<const std::byte> head) { return derive(secret, "unique id", head); }

Status invalid(std::string_view what) {
  return Status(Code::kInvalidArgument,
                fmt::format("the unique id {}: pass the 128 bytes that ncclGetUniqueId gave, unchanged", what));
}

bool has_valid_check(const UniqueId& id) {
  const std::span<const std::byte> bytes(id);
  const Secret secret = Reader(bytes.subspan(kSecretOffset, sizeof(Secret))).array<sizeof(Secret)>();
  const Secret expected = check_of(secret, bytes.first(kSecretOffset));
  return is_equal(bytes.subspan(kCheckOffset), std::span(expected).first(kCheckBytes));
}

}  // namespace

UniqueId encode(const IdContents& contents) {
  Writer writer;
  const std::size_t count = std::min(contents.addresses.size(), kMaxAddresses);
  writer.number(kMagic).number(kVersion).number(static_cast<std::uint8_t>(contents.kind));
  writer.number(static_cast<std::uint8_t>(count)).number(std::uint8_t{0}).number(contents.host);
  for (std::size_t i = 0; i < count; ++i) write_address(writer, contents.addresses[i]);
  std::vector<std::byte> bytes = writer.take();
  bytes.resize(kSecretOffset);
  const Secret check = check_of(contents.secret, bytes);
  bytes.insert(bytes.end(), contents.secret.begin(), contents.secret.end());
  bytes.insert(bytes.end(), check.begin(), check.begin() + kCheckBytes);
  return Reader(bytes).array<sizeof(UniqueId)>();
}

Result<IdContents> decode(const UniqueId& id) {
  Reader reader(id);
  if (reader.number<std::uint32_t>() != kMagic) return invalid("is not one of this library's");
  const auto version = reader.number<std::uint8_t>();
  if (version != kVersion)
    return invalid(fmt::format("has version {} but this library makes version {} (use the same Hawser on all ranks)",
                               version, kVersion));
  if (!has_valid_check(id)) return invalid("is damaged (its check does not match)");
  IdContents contents;
  const auto kind = reader.number<std::uint8_t>();
  const auto count = reader.number<std::uint8_t>();
  if ((kind != 1 && kind != 2) || count == 0 || count > kMaxAddresses) return invalid("has an unknown layout");
  contents.kind = static_cast<RootKind>(kind);
  reader.number<std::uint8_t>();
  contents.host = reader.number<std::uint64_t>();
  for (std::uint8_t i = 0; i < count; ++i) {
    const auto address = read_address(reader);
    if (!address || address->port == 0) return invalid("holds an address that is none");
    contents.addresses.push_back(*address);
  }
  contents.secret = Reader(std::span(id).subspan(kSecretOffset)).array<sizeof(Secret)>();
  return contents;
}

}  // namespace hawser::bootstrap
