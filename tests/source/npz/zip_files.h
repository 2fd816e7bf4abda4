// zip archives made by hand, so that every number in them can be chosen.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/source/gzip_files.h"
#include "tests/source/source_support.h"

namespace dataline {

struct ZipInput {
  std::string name, data;
  uint16_t method = 0;
  std::string packed = {};  // of method 8: the deflate stream; empty: stored blocks
};

// The archive, and where its records begin.
struct MadeZip {
  std::string bytes;
  std::vector<size_t> locals, data, entries;
  size_t directory = 0, end64 = 0, locator64 = 0, end = 0;

  template <typename T>
  MadeZip& put(size_t at, T value) {
    bytes.replace(at, sizeof value, raw_bytes(value));
    return *this;
  }
};

enum class ZipKind {
  kPlain,
  kNumPy,       // zip64 fields in local headers, as numpy.savez writes them
  kZip64,       // zip64 fields and records everywhere
  kSizesFollow  // sizes are 0 in local headers, and follow the data
};

inline MadeZip make_zip(const std::vector<ZipInput>& inputs, ZipKind kind = ZipKind::kPlain,
                        const std::string& comment = "") {
  MadeZip zip;
  std::string& out = zip.bytes;
  std::string directory;
  const bool follow = kind == ZipKind::kSizesFollow, zip64 = kind == ZipKind::kZip64;
  const uint16_t flags = follow ? 8 : 0;
  for (const ZipInput& input : inputs) {
    const std::string stored = input.method == 0      ? input.data
                               : input.packed.empty() ? stored_deflate(input.data)
                                                      : input.packed;
    const uint32_t crc = crc32_of(input.data);
    const auto bytes = static_cast<uint32_t>(input.data.size()),
               stored_bytes = static_cast<uint32_t>(stored.size());
    const bool far = kind == ZipKind::kNumPy || zip64;
    const std::string sizes = far      ? raw_bytes<uint32_t>(~0u) + raw_bytes<uint32_t>(~0u)
                              : follow ? std::string(8, '\0')
                                       : raw_bytes(stored_bytes) + raw_bytes(bytes);
    const std::string local_extra = far ? raw_bytes<uint16_t>(1) + raw_bytes<uint16_t>(16) +
                                              raw_bytes<uint64_t>(bytes) + raw_bytes<uint64_t>(stored_bytes)
                                        : "";
    const size_t local = out.size();
    zip.locals.push_back(local);
    out += "PK\x03\x04" + raw_bytes<uint16_t>(20) + raw_bytes(flags) + raw_bytes(input.method) +
           std::string(4, '\0') + raw_bytes(follow ? 0 : crc) + sizes +
           raw_bytes(static_cast<uint16_t>(input.name.size())) +
           raw_bytes(static_cast<uint16_t>(local_extra.size())) + input.name + local_extra;
    zip.data.push_back(out.size());
    out += stored;
    if (follow) out += "PK\x07\x08" + raw_bytes(crc) + raw_bytes(stored_bytes) + raw_bytes(bytes);
    const std::string extra = zip64 ? raw_bytes<uint16_t>(0x5455) + raw_bytes<uint16_t>(1) + "t" +
                                          raw_bytes<uint16_t>(1) + raw_bytes<uint16_t>(24) +
                                          raw_bytes<uint64_t>(bytes) + raw_bytes<uint64_t>(stored_bytes) +
                                          raw_bytes<uint64_t>(local)
                                    : "";
    zip.entries.push_back(directory.size());
    directory += "PK\x01\x02" + raw_bytes<uint16_t>(20) + raw_bytes<uint16_t>(20) + raw_bytes(flags) +
                 raw_bytes(input.method) + std::string(4, '\0') + raw_bytes(crc) +
                 raw_bytes(zip64 ? ~0u : stored_bytes) + raw_bytes(zip64 ? ~0u : bytes) +
                 raw_bytes(static_cast<uint16_t>(input.name.size())) +
                 raw_bytes(static_cast<uint16_t>(extra.size())) + std::string(10, '\0') +
                 raw_bytes(zip64 ? ~0u : static_cast<uint32_t>(local)) + input.name + extra;
  }
  zip.directory = out.size();
  for (size_t& entry : zip.entries) entry += zip.directory;
  out += directory;
  const auto count = static_cast<uint16_t>(inputs.size());
  if (zip64) {
    zip.end64 = out.size();
    out += "PK\x06\x06" + raw_bytes<uint64_t>(44) + raw_bytes<uint16_t>(45) + raw_bytes<uint16_t>(45) +
           std::string(8, '\0') + raw_bytes<uint64_t>(count) + raw_bytes<uint64_t>(count) +
           raw_bytes<uint64_t>(directory.size()) + raw_bytes<uint64_t>(zip.directory);
    zip.locator64 = out.size();
    out += "PK\x06\x07" + std::string(4, '\0') + raw_bytes<uint64_t>(zip.end64) + raw_bytes<uint32_t>(1);
  }
  zip.end = out.size();
  out += "PK\x05\x06" + std::string(4, '\0') + raw_bytes<uint16_t>(zip64 ? 0xffff : count) +
         raw_bytes<uint16_t>(zip64 ? 0xffff : count) +
         raw_bytes(zip64 ? ~0u : static_cast<uint32_t>(directory.size())) +
         raw_bytes(zip64 ? ~0u : static_cast<uint32_t>(zip.directory)) +
         raw_bytes(static_cast<uint16_t>(comment.size())) + comment;
  return zip;
}

}  // namespace dataline
