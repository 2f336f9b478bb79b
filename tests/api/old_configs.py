#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Hawser authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ header with ncclConfig_t as each release of NCCL had it: what a program compiled then hands over."""
import sys

import abi

VALUES = {"NCCL_CONFIG_UNDEF_INT": "INT_MIN", "NCCL_CONFIG_UNDEF_PTR": "nullptr"}


def initial_values(release, shape):
    """As the release's own initialiser set them. Its first three are size, magic and version, by names of today."""
    values = abi.initialiser("NCCL_CONFIG_INITIALIZER", release)
    assert len(values) == len(shape["fields"]), (release, values)
    return ["sizeof(Config)", "0xcafebeef", f"{abi.version_code(release)}u",
            *(VALUES.get(value, value) for value in values[3:])]


def release_source(release):
    shape = abi.config_shape(release)
    fields = abi.fields(shape)
    members = "".join(f"    {kind} {name};\n" for name, kind, _ in fields)
    checks = "".join(f"  static_assert(offsetof(Config, {name}) == {offset});\n" for name, _, offset in fields)
    settings = "".join(f"    config.{name} = {'kText' if kind.endswith('*') else 1};\n" for name, kind, _ in fields[3:])
    names = ", ".join(f'"{name}"' for name, _, _ in fields[3:])
    return f"""struct Release{release.replace('.', '_')} {{
  struct Config {{
{members}  }};
  static_assert(sizeof(Config) == {shape['size']});
{checks}  static constexpr unsigned int kVersion = {abi.version_code(release)};
  static constexpr Config kInitial = {{{', '.join(initial_values(release, shape))}}};
  static constexpr std::array<std::string_view, {len(fields) - 3}> kMembers = {{{names}}};
  static void set_all(Config& config) {{
{settings}  }}
}};
"""


def current_members():
    """Tables of today's members: numbers and texts."""
    fields = abi.fields(abi.config_shape(abi.LATEST))[3:]
    for title, kind in (("kNumbers", "int"), ("kTexts", "const char *")):
        rows = ", ".join(f'Member<{kind}>{{"{name}", &ncclConfig_t::{name}}}' for name, found, _ in fields if found == kind)
        yield f"inline constexpr std::array {title} = {{{rows}}};\n"


def main():
    releases = abi.FACTS["initialisers"]["NCCL_CONFIG_INITIALIZER"]
    types = ", ".join(f"old_configs::Release{release.replace('.', '_')}" for release in releases)
    body = "\n".join(release_source(release) for release in releases)
    print(f"""#pragma once
#include <nccl.h>

#include <array>
#include <climits>
#include <cstddef>
#include <string_view>

namespace old_configs {{

/// What set_all() gives to texts; numbers become 1, which each may be.
inline constexpr const char* kText = "text";

template <class Value>
struct Member {{
  std::string_view name;
  Value ncclConfig_t::*pointer;
}};
{"".join(current_members())}
{body}
#define OLD_CONFIG_RELEASES {types}

}}  // namespace old_configs""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
