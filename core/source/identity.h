// Which data a dataset holds, for those that reuse what was made of it earlier. Two questions are asked, and this is their one
// place:
//
//   LocalIdentity    are these the same files on this machine? Asked by the option `cache` and by a conversion that resumes. Of
//                    each file it compares the canonical path, size, time of modification, time of status change (ctime; Windows:
//                    of creation) and inode, not the device number, which a remount may change. In doubt: other data.
//   ContentIdentity  is this the same data, perhaps copied to another machine? Asked by saved states. Of each file it compares the
//                    base name (in a folder: the path below it), the size and the CRC-32C of the first and last 64 KiB; of a set of
//                    more than 64 files the CRC of 64 of them, evenly spread, the first and the last among them.
//
// Both compare the structure too: formats, fields, counts, keys that change records, and the order of parts.
//
// Not detected: bytes in the middle of a file that change while everything above stays, and, by LocalIdentity, a file that is
// written twice within one tick of its file system's clock (at most 10 ms; Linux 6.13 and later tell these apart).
//
// Threads: a builder belongs to one thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/memory/file.h"

namespace dataline {

class MappedFile;
class Source;

constexpr int64_t kIdentityPieceBytes = int64_t{64} << 10;  // read of each end of a file
constexpr int64_t kMaxIdentityFiles = 64;  // whose ends are read, and that are named one by one
constexpr int64_t kIdentityRecords = 64;   // compared of each end of data in memory

// Files of a source, by their place in it.
class DataFiles {
 public:
  virtual ~DataFiles() = default;
  virtual int64_t count() const = 0;
  virtual std::string path(int64_t index) const = 0;  // as it is opened now
  virtual std::string name(int64_t index) const = 0;  // that a copy keeps
  virtual int64_t bytes(int64_t index) const = 0;     // where it is stored
  // Its first or last bytes, up to kIdentityPieceBytes, in `room` or where they are stored. A compressed file yields decompressed bytes.
  virtual Result<Bytes> read_end(int64_t index, bool last, std::vector<std::byte>& room) const = 0;
  virtual Result<FileFacts> facts(int64_t index) const = 0;
  // What a storage states of an object, instead of facts; nullopt: a file.
  virtual std::optional<std::string> fingerprint(int64_t index) const {
    return static_cast<void>(index), std::nullopt;
  }
  // For many files below one directory: the directory, and a digest of all names and sizes, so that nobody asks for each.
  struct Tree {
    std::string root;
    uint64_t digest = 0;
  };
  virtual std::optional<Tree> tree() const { return std::nullopt; }
};

std::string_view base_name(std::string_view path);

// What Source::identify() describes a source to. Order counts.
class IdentityBuilder {
 public:
  // The structure: whatever decides, beside the files, which record has which number and which values.
  void add(uint64_t word) { structure_.add(word); }
  void add(std::string_view text) { structure_.add(text); }
  // Count, fields, dtypes and shapes. Every identify() begins with it.
  void add_schema(const Source& source);
  // The structure of this job alone: compared by LocalIdentity only.
  void add_local(std::string_view text) { local_structure_.add(text); }

  void add_file(const MappedFile& file);  // outlives the builder
  void add_files(std::shared_ptr<const DataFiles> files);
  // Data in memory, by its records at both ends; it has no LocalIdentity.
  void add_records(const Source& source);
  // A directory that the dataset's URI names. Not part of an identity: see refuse_in_set().
  void add_directory(const std::string& path, const FileFacts& facts) {
    directories_.push_back({path, facts});
  }
  // There is no LocalIdentity: `what` cannot tell when its data changes, as in "a reader without a fingerprint".
  void add_unknown(std::string_view what);

 private:
  friend class Identities;
  friend std::vector<std::string> data_files_of(const Source& source);
  friend Status refuse_in_set(const Source& source, const std::string& path, std::string_view what);

  struct Directory {
    std::string path;  // as the URI names it
    FileFacts facts;   // at open
  };
  Digest structure_, local_structure_, records_;
  std::vector<std::shared_ptr<const DataFiles>> files_;
  std::vector<Directory> directories_;
  std::string unknown_;
};

// The paths of the files that a source states, in their order; none for data in memory.
std::vector<std::string> data_files_of(const Source& source);

// The lines of a saved state.
struct ContentIdentity {
  std::string structure;  // a digest
  std::string names;      // "2 files, FIRST, DIGEST"
  std::string sizes;      // "4096 bytes, DIGEST"
  std::string contents;   // a digest
};
// Reads the ends of at most kMaxIdentityFiles files. The first error of a file, with its path.
Result<ContentIdentity> content_identity(const Source& source);

// Small text, one line per file for the first kMaxIdentityFiles and one for the rest; paths are in it as digests only, so that it
// can be stored in a set that is published. Looks at each file of a folder. kUnsupported: it cannot be told, and why.
Result<std::string> local_identity(const Source& source);

// Which record has which number: the structure and the canonical paths. The files themselves are compared by Source::stamp().
uint64_t local_structure(const Source& source);

// Source::stamp() of a file; nullopt where its file system does not tell.
std::optional<uint64_t> local_stamp(const std::string& path, const FileFacts& facts);
std::optional<uint64_t> local_stamp(const MappedFile& file);
// The same of a file below the root of a DataFiles::Tree, which is in local_structure().
std::optional<uint64_t> local_stamp_below(std::string_view name, const FileFacts& facts);

}  // namespace dataline
