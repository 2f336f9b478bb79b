// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// NCCL hands out one shared buffer that the next failure overwrites under the reader's eyes. Here each thread gets its
// own copy, so that a text is never half one and half another.
#include "api/last_error.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "api/exports.h"

namespace hawser::api {

namespace {

/// Trivially destructible: threads may fail until the very end of the process.
struct LastError {
  std::mutex mutex;  // protects the members below; a leaf of the lock order
  std::size_t length = 0;
  std::array<char, kLastErrorBytes> text{};
};

constinit LastError shared;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): see last_error.h

/// The longest part of text that leaves room for the end and does not cut a UTF-8 character.
std::size_t fitting_length(std::string_view text) {
  if (text.size() < kLastErrorBytes) return text.size();
  std::size_t length = kLastErrorBytes - 1;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return length;
}

}  // namespace

void set_last_error(std::string_view text) noexcept {
  const std::scoped_lock lock(shared.mutex);
  shared.length = fitting_length(text);
  std::copy_n(text.data(), shared.length, shared.text.data());
}

const char* last_error() noexcept {
  thread_local std::array<char, kLastErrorBytes> copy;
  const std::scoped_lock lock(shared.mutex);
  std::copy_n(shared.text.data(), shared.length, copy.data());
  copy[shared.length] = '\0';
  return copy.data();
}

}  // namespace hawser::api

const char* hawserGetLastError(ncclComm_t /*comm*/) { return hawser::api::last_error(); }
