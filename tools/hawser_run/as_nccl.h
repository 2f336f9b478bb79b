// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// hawser-run --as-nccl: makes a program that was built for NCCL find Hawser's libnccl.so.2.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace hawser::run {

/// Hawser's libnccl.so.2, absolute, found relative to the executable `self`: beside it, in the library directory of an
/// installation, or in a build tree. kSystemError naming the places if it is in none of them.
Result<std::filesystem::path> find_library(const std::filesystem::path& self);

/// NAME=VALUE pairs that put `library` in front: LD_PRELOAD by absolute path, LD_LIBRARY_PATH by its folder; what the
/// variables held before (null: unset) stays behind. kInvalidArgument if the loader could not parse the path.
Result<std::vector<std::string>> preload_variables(const std::filesystem::path& library, const char* old_preload,
                                                   const char* old_path);

/// DT_RPATH of a 64-bit ELF program, which the loader searches before LD_LIBRARY_PATH; empty if the file has none, has
/// DT_RUNPATH too (DT_RPATH is then ignored), or is no such program. The file is parsed as hostile.
std::optional<std::string> overriding_rpath(const std::filesystem::path& program);

/// The file that execvp would run for `program`; empty if there is none.
std::filesystem::path resolve_program(const std::string& program, const char* search_path);

}  // namespace hawser::run
