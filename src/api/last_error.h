// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The text behind ncclGetLastError(): one for the process, because that is what the C API promises (its communicator
// argument may be NULL). Written by src/api alone, when a call fails.
#pragma once

#include <string_view>

namespace hawser::api {

/// Longest text, its end included; the rest of a longer one is cut off, between two characters.
inline constexpr std::size_t kLastErrorBytes = 1024;

/// Replaces the text. Any thread.
void set_last_error(std::string_view text) noexcept;

/// The text; empty if no call has failed yet. The caller's own copy: valid until the same thread asks again or ends.
const char* last_error() noexcept;

}  // namespace hawser::api
