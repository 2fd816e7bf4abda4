// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "core/base/checked.h"
#include "core/memory/file.h"

#if defined(__linux__)
#include <elf.h>
#include <link.h>
#endif

namespace dataline {
namespace {

#if defined(__linux__)

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);

// Where `count` entries of `bytes` at `offset` end; the largest number where that overflows.
int64_t end_of(uint64_t offset, uint64_t count, uint64_t bytes) {
  const auto size =
      static_cast<int64_t>(count * bytes);  // each below 2^16, or `bytes` is 1 and it is compared below
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (offset > static_cast<uint64_t>(kMax) || size < 0) return kMax;
  return checked_add(static_cast<int64_t>(offset), size).value_or(kMax);
}

// The first byte that none of the file's headers names: of its tables, and of what the linker maps.
Result<int64_t> end_by_headers(const Descriptor& file, const Header& header, const std::string& path) {
  int64_t end = end_of(header.e_phoff, header.e_phnum, header.e_phentsize);
  if (header.e_shoff != 0) end = std::max(end, end_of(header.e_shoff, header.e_shnum, header.e_shentsize));
  if (header.e_phentsize != sizeof(Segment)) return end;  // not for this linker, which says so
  std::vector<Segment> segments(header.e_phnum);
  const auto bytes = static_cast<int64_t>(segments.size() * sizeof(Segment));
  if (end == std::numeric_limits<int64_t>::max()) return end;
  const ReadResult read = read_at(file.get(), static_cast<int64_t>(header.e_phoff), bytes,
                                  reinterpret_cast<std::byte*>(segments.data()));
  if (read.number != 0) return file_error(path, read.number);
  if (read.bytes != bytes) return end;
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_LOAD) end = std::max(end, end_of(segment.p_offset, segment.p_filesz, 1));
  }
  return end;
}

// Whether the section headers are zeros. Linkers write them last, so where they have their bytes, what precedes them was written.
bool ends_in_zeros(const Descriptor& file, const Header& header) {
  if (header.e_shoff == 0 || header.e_shnum < 2 || header.e_shentsize != sizeof(Section)) return false;
  std::vector<Section> sections(header.e_shnum);
  const auto bytes = static_cast<int64_t>(sections.size() * sizeof(Section));
  const ReadResult read = read_at(file.get(), static_cast<int64_t>(header.e_shoff), bytes,
                                  reinterpret_cast<std::byte*>(sections.data()));
  // The first one has no type in any file.
  return read.bytes == bytes && std::all_of(sections.begin(), sections.end(), [](const Section& section) {
           return section.sh_type == SHT_NULL && section.sh_size == 0;
         });
}

// The file that the linker finds by its name, as far as its lists of directories tell; else the name.
std::string path_by_linker(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  Dl_info self;
  if (::dladdr(reinterpret_cast<void*>(&symbol_of_library), &self) == 0) return name;
  void* handle = ::dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) handle = ::dlopen(nullptr, RTLD_LAZY);  // this library is part of the program
  if (handle == nullptr) return name;
  std::string found = name;
  Dl_serinfo size;
  if (::dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::max_align_t> room(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* const directories = reinterpret_cast<Dl_serinfo*>(room.data());
    *directories = size;
    const bool listed = ::dlinfo(handle, RTLD_DI_SERINFO, directories) == 0;
    for (unsigned i = 0; listed && found == name && i < directories->dls_cnt; ++i) {
      const std::string path = concat(directories->dls_serpath[i].dls_name, "/", name);
      FileFacts facts;
      if (facts_of_path(path, facts) == 0) found = path;
    }
  }
  ::dlclose(handle);
  return found;
}

#else

std::string path_by_linker(const std::string& name) { return name; }

#endif

}  // namespace

Status check_library_file(const std::string& name) {
  const std::string path = path_by_linker(name);
  FileFacts facts;
  if (facts_of_path(path, facts) != 0) return Status::ok();
  if (!facts.is_file) return not_a_file_error(path, facts.mode);
#if defined(__linux__)
  const Descriptor file = Descriptor::open(path, kFileFlags);
  if (!file) return Status::ok();
  Header header;
  const ReadResult read = read_at(file.get(), 0, sizeof header, reinterpret_cast<std::byte*>(&header));
  if (read.bytes != sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Status::ok();
  const bool native =
      header.e_ident[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) &&
      header.e_ident[EI_DATA] == (std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB);
  if (!native) return Status::ok();
  DL_ASSIGN_OR_RETURN(const int64_t end, end_by_headers(file, header, path));
  if (end <= facts.bytes && !ends_in_zeros(file, header)) return Status::ok();
  if (end <= facts.bytes)
    return error(Code::kCorrupt, path,
                 ": ends in zeros, as a file that was not written to its end: install it again");
  return error(Code::kTruncated, path, ": has ", facts.bytes, " bytes, its ELF headers state ", end,
               ": the library is truncated; install it again");
#else
  return Status::ok();
#endif
}

Result<void*> symbol_of_library(const std::string& path, const char* symbol) {
  DL_RETURN_IF_ERROR(check_library_file(path));
  // RTLD_NODELETE is for a library that was found to be none of ours: it is closed, but may have left something behind.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const words = ::dlerror();
    std::string_view reason = words != nullptr ? words : "the dynamic linker refused it";
    const std::string named = path + ": ";
    if (reason.starts_with(named)) reason.remove_prefix(named.size());
    return error(Code::kNotFound, named, reason);
  }
  void* const address = ::dlsym(library, symbol);
  ::dlclose(library);
  if (address != nullptr) return address;
  return error(Code::kUnsupported, path, ": does not export ", symbol, ": not a plug-in");
}

}  // namespace dataline
