// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "hawser_run/as_nccl.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>

namespace hawser::run {
namespace {

namespace fs = std::filesystem;

// Reads plain records of an ELF file at offsets that the file itself gives; every read is checked.
class ElfFile {
 public:
  explicit ElfFile(const fs::path& path) : file_(path, std::ios::binary) {}

  template <class T>
  std::optional<T> read(std::uint64_t offset) {
    T record;
    if (!seek(offset) || !file_.read(reinterpret_cast<char*>(&record), sizeof(record))) return std::nullopt;
    return record;
  }

  std::optional<std::string> read_text(std::uint64_t offset) {
    constexpr std::size_t kMaxPathBytes = 4096;
    std::string text;
    if (!seek(offset)) return std::nullopt;
    for (char c = 0; text.size() < kMaxPathBytes && file_.get(c) && c != '\0';) text += c;
    return text;
  }

 private:
  bool seek(std::uint64_t offset) {
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<std::streamoff>::max())) return false;
    file_.clear();
    return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(offset)));
  }

  std::ifstream file_;
};

std::vector<Elf64_Phdr> program_headers(ElfFile& file) {
  std::vector<Elf64_Phdr> headers;
  const auto elf = file.read<Elf64_Ehdr>(0);
  const bool is_ours = elf && std::memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 && elf->e_ident[EI_CLASS] == ELFCLASS64 &&
                       elf->e_phentsize == sizeof(Elf64_Phdr);
  if (!is_ours) return headers;
  for (std::uint64_t i = 0; i < elf->e_phnum; ++i) {
    const auto header = file.read<Elf64_Phdr>(elf->e_phoff + i * sizeof(Elf64_Phdr));
    if (!header) break;
    headers.push_back(*header);
  }
  return headers;
}

std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
  for (const Elf64_Phdr& each : headers)
    if (each.p_type == PT_LOAD && address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz)
      return each.p_offset + (address - each.p_vaddr);
  return std::nullopt;
}

struct Dynamic {
  std::optional<std::uint64_t> strings, rpath;
  bool has_runpath = false;
};

Dynamic read_dynamic(ElfFile& file, const Elf64_Phdr& segment) {
  constexpr std::uint64_t kMaxEntries = 4096;
  Dynamic found;
  const std::uint64_t entries = std::min(segment.p_filesz / sizeof(Elf64_Dyn), kMaxEntries);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const auto entry = file.read<Elf64_Dyn>(segment.p_offset + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_STRTAB) found.strings = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RPATH) found.rpath = entry->d_un.d_val;
    if (entry->d_tag == DT_RUNPATH) found.has_runpath = true;
  }
  return found;
}

std::string prepended(std::string_view name, const std::string& front, const char* old) {
  const bool has_old = old != nullptr && *old != '\0';
  return fmt::format("{}={}{}{}", name, front, has_old ? ":" : "", has_old ? old : "");
}

}  // namespace

Result<fs::path> find_library(const fs::path& self) {
  // Where an installation keeps it (HAWSER_LIBDIR_FROM_BINDIR), then where a build tree does.
  static constexpr const char* kPlaces[] = {HAWSER_LIBDIR_FROM_BINDIR, "../lib", ".", "../../lib"};
  std::string tried;
  for (const char* place : kPlaces) {
    const fs::path candidate = (self.parent_path() / place / "libnccl.so.2").lexically_normal();
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate;
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", candidate.parent_path().string());
  }
  return Status(Code::kSystemError, fmt::format("Hawser's libnccl.so.2 is in none of {}", tried));
}

Result<std::vector<std::string>> preload_variables(const fs::path& library, const char* old_preload,
                                                   const char* old_path) {
  // The loader splits LD_PRELOAD at spaces and colons, and expands '$'; there is no way to quote them.
  if (library.native().find_first_of(" :;$\t\n") != std::string::npos)
    return Status(Code::kInvalidArgument,
                  fmt::format("LD_PRELOAD cannot hold the path '{}': it has a space, colon, semicolon or dollar sign",
                              library.native()));
  return std::vector<std::string>{prepended("LD_PRELOAD", library.native(), old_preload),
                                  prepended("LD_LIBRARY_PATH", library.parent_path().native(), old_path)};
}

std::optional<std::string> overriding_rpath(const fs::path& program) {
  ElfFile file(program);
  const std::vector<Elf64_Phdr> headers = program_headers(file);
  for (const Elf64_Phdr& each : headers) {
    if (each.p_type != PT_DYNAMIC) continue;
    const Dynamic dynamic = read_dynamic(file, each);
    if (!dynamic.rpath || !dynamic.strings || dynamic.has_runpath) return std::nullopt;
    const auto strings = file_offset(headers, *dynamic.strings);
    if (!strings) return std::nullopt;
    return file.read_text(*strings + *dynamic.rpath);
  }
  return std::nullopt;
}

fs::path resolve_program(const std::string& program, const char* search_path) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? fs::path(program) : fs::path();
  std::string_view rest = search_path == nullptr ? "/usr/bin:/bin" : search_path;
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace hawser::run
