// The central directory of a zip archive, for archives of arrays (.npz): which members there are, and where their data lie.
//
// From the end: the end record (22 bytes and a comment), before it in large archives the zip64 locator and the zip64 end
// record, before these the central directory, an entry a member. Sizes and offsets of 2^32 - 1 stand for those in the entry's
// zip64 extra field. An entry leads to a local header, which says the same once more, unless the writer could not know it yet
// (flag 3); the data follow. All of it is checked against the file and against each other before it is used: the records
// touch, no two members overlap, and none reaches into the directory.
// Limits: one volume, kMaxArrays members, kMaxZipDirectoryBytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/mapped_file.h"

namespace dataline {

constexpr int64_t kMaxZipDirectoryBytes = 64 << 20;

struct ZipMember {
  explicit ZipMember(std::pmr::memory_resource* memory) : name(memory) {}

  std::pmr::string name;  // as stored
  uint32_t flags = 0, method = 0, crc32 = 0;
  int64_t stored_bytes = 0, bytes = 0;  // in the archive, and of what it holds
  int64_t header_offset = 0;            // of the local header
  int64_t room_end = 0;                 // where what lies next in the file begins
};

struct ZipDirectory {
  explicit ZipDirectory(std::shared_ptr<HostMemory> counted)
      : memory(std::make_unique<MetadataResource>(std::move(counted))), members(memory.get()) {}

  std::unique_ptr<MetadataResource> memory;
  std::pmr::vector<ZipMember> members;  // in the order of the directory
};

// kTruncated: no end record; kCorrupt; kUnsupported (several volumes); kTooLarge; kCancelled; std::bad_alloc.
Result<ZipDirectory> read_zip_directory(const MappedFile& file, const OpenContext& context);

// Where the data of a member begin; they lie before its room_end. kCorrupt: its local header is none, or says otherwise.
Result<int64_t> find_zip_data(const MappedFile& file, const ZipMember& member);

// "FILE: offset 7: zip member 'a.npy'"
std::string zip_member_text(const MappedFile& file, const ZipMember& member);

}  // namespace dataline
