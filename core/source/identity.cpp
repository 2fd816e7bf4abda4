// SPDX-License-Identifier: Apache-2.0
#include "core/source/identity.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/checked.h"
#include "core/base/message_text.h"
#include "core/base/simd.h"
#include "core/base/text.h"
#include "core/memory/locked_file.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "core/source/tfrecord/crc32c.h"

namespace dataline {
namespace {

class OneFile final : public DataFiles {
 public:
  explicit OneFile(const MappedFile& file) : file_(file) {}

  int64_t count() const override { return 1; }
  std::string path(int64_t) const override { return file_.path(); }
  std::string name(int64_t) const override { return std::string(base_name(file_.path())); }
  int64_t bytes(int64_t) const override { return file_.file_bytes(); }
  Result<Bytes> read_end(int64_t, bool last, std::vector<std::byte>& room) const override {
    const int64_t bytes = std::min(file_.bytes(), kIdentityPieceBytes);
    room.resize(static_cast<size_t>(bytes));
    DL_RETURN_IF_ERROR(file_.read(last ? file_.bytes() - bytes : 0, bytes, room.data()));
    return Bytes(room);
  }
  Result<FileFacts> facts(int64_t) const override { return file_.at_open(); }
  std::optional<std::string> fingerprint(int64_t) const override { return file_.fingerprint(); }

 private:
  const MappedFile& file_;
};

// Without links and relative parts. As it is for an object of a storage, and where it cannot be found any more.
std::string canonical_or_given(const std::string& path) {
  Result<std::string> found = scheme_of_path(path).empty() ? absolute_path(path) : Result<std::string>(path);
  return found.is_ok() ? found.take() : path;
}

// A failure of the machine, not of one file that is gone or cut, which is a bad sample.
bool fails_for_all(const Status& status) { return is_machine_failure(status) || status.code() == Code::kIo; }

// False for what has no times and no inode: an object of a storage.
bool tells(const FileFacts& facts) {
  return facts.inode != 0 || facts.status_ns != 0 || facts.changed_ns != 0;
}

std::string hex(uint64_t value) {
  Digest digest;
  digest.add(value);
  return digest.hex();
}

std::string seconds_text(int64_t ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%09lld", static_cast<long long>(ns / kSecond),
                static_cast<long long>(ns % kSecond));
  return text;
}

// The bytes of a record as they are delivered; a record that cannot be read counts as no bytes.
void add_record(const Source& source, int64_t index, std::vector<std::byte>& scratch, Digest& digest) {
  const size_t columns = source.schema().columns.size();
  std::vector<const std::byte*> data(columns);
  std::vector<int64_t> bytes(columns);
  std::vector<Run::ColumnRows> rows(columns);
  for (size_t c = 0; c < columns; ++c) rows[c] = {&data[c], &bytes[c], false};
  RowErrors errors;
  Run run;
  run.count = 1;
  run.indices = &index;
  run.contiguous = true;
  for (const Field& field : source.schema().fields)
    run.max_bytes_per_sample = std::max(run.max_bytes_per_sample, field.max_bytes);
  scratch.resize(static_cast<size_t>(source.scratch_bytes(run.max_bytes_per_sample) + 64));
  run.scratch = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  run.columns = rows.data();
  run.errors = &errors;
  source.locate(run);
  for (size_t c = 0; c < columns; ++c) {
    const int64_t fixed = source.schema().columns[c].row_bytes;
    if (data[c] == nullptr) continue;
    const int64_t size = std::min(fixed >= 0 ? fixed : bytes[c], kIdentityPieceBytes);
    digest.add(Bytes(data[c], static_cast<size_t>(size)));
  }
}

}  // namespace

std::string_view base_name(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void IdentityBuilder::add_schema(const Source& source) {
  add(static_cast<uint64_t>(source.count()));
  add(static_cast<uint64_t>(source.schema().fields.size()));
  for (const Field& field : source.schema().fields) {
    add(field.name);
    add(static_cast<uint64_t>(field.kind));
    add(static_cast<uint64_t>(field.dtype));
    add(static_cast<uint64_t>(field.shape.size()));
    for (const int64_t dim : field.shape) add(static_cast<uint64_t>(dim));
    add_local(field.axes);  // what `chw` or `hflip` do to a sample, not which sample it is
  }
}

void IdentityBuilder::add_file(const MappedFile& file) { files_.push_back(std::make_unique<OneFile>(file)); }

void IdentityBuilder::add_files(std::shared_ptr<const DataFiles> files) {
  files_.push_back(std::move(files));
}

void IdentityBuilder::add_records(const Source& source) {
  std::vector<std::byte> scratch;
  const int64_t count = source.count(), head = std::min(count, kIdentityRecords);
  for (int64_t i = 0; i < head; ++i) add_record(source, i, scratch, records_);
  for (int64_t i = std::max(head, count - kIdentityRecords); i < count; ++i)
    add_record(source, i, scratch, records_);
  add_unknown("data in memory");
}

void IdentityBuilder::add_unknown(std::string_view what) {
  if (unknown_.empty()) unknown_ = what;
}

// What the builder has gathered, as the three answers.
class Identities {
 public:
  explicit Identities(const Source& source) {
    source.identify(builder_);
    for (const auto& files : builder_.files_) count_ += files->count();
  }

  Result<ContentIdentity> content() const {
    Digest names, sizes, contents = builder_.records_;
    int64_t bytes = 0;
    std::string first;  // for a person who reads a refusal
    for (const auto& files : builder_.files_) {
      if (first.empty() && files->count() > 0) first = message_text(files->name(0)) + ", ";
      if (const auto tree = files->tree()) {
        names.add(tree->digest);
        continue;
      }
      for (int64_t i = 0; i < files->count(); ++i) {
        names.add(files->name(i));
        sizes.add(static_cast<uint64_t>(files->bytes(i)));
        bytes = checked_add(bytes, files->bytes(i)).value_or(bytes);
      }
    }
    DL_RETURN_IF_ERROR(add_contents(contents));
    return ContentIdentity{builder_.structure_.hex(),
                           concat(count_, count_ == 1 ? " file, " : " files, ", first, names.hex()),
                           concat(bytes, " bytes, ", sizes.hex()), contents.hex()};
  }

  Result<std::string> local() const {
    if (!builder_.unknown_.empty())
      return error(Code::kUnsupported, builder_.unknown_, ": changes of the data cannot be detected");
    std::string text = concat("structure: ", hex(structure()), "\n");
    Digest rest;
    int64_t number = 0;
    for (const auto& files : builder_.files_) {
      for (int64_t i = 0; i < files->count(); ++i, ++number) {
        DL_ASSIGN_OR_RETURN(const std::string line, local_line(*files, i));
        if (number < kMaxIdentityFiles) text += concat("file ", number, ": ", line, "\n");
        if (number >= kMaxIdentityFiles) rest.add(line);
      }
    }
    if (number > kMaxIdentityFiles)
      text += concat("other files: ", number - kMaxIdentityFiles, ", ", rest.hex(), "\n");
    return text;
  }

  uint64_t structure() const {
    Digest digest = builder_.structure_;
    digest.add(builder_.local_structure_.value());
    for (const auto& files : builder_.files_) {
      if (const auto tree = files->tree()) {
        digest.add(canonical_or_given(tree->root));
        digest.add(tree->digest);
        continue;
      }
      for (int64_t i = 0; i < files->count(); ++i) digest.add(canonical_or_given(files->path(i)));
    }
    return digest.value();
  }

 private:
  Status add_contents(Digest& contents) const {
    const Crc32c crc(best_simd_target());
    std::vector<std::byte> room;
    int64_t before = 0, k = 0;  // files of earlier groups; the next pick
    for (const auto& files : builder_.files_) {
      for (; k < std::min(count_, kMaxIdentityFiles) && pick(k) < before + files->count(); ++k) {
        for (const bool last : {false, true}) {
          const Result<Bytes> bytes = files->read_end(pick(k) - before, last, room);
          // A job with bad samples has states too.
          if (bytes.is_ok())
            contents.add(static_cast<uint64_t>(crc.of(bytes.value())));
          else if (fails_for_all(bytes.status()))
            return bytes.status();
          else
            contents.add("unreadable");
        }
      }
      before += files->count();
    }
    return Status::ok();
  }

  // The number of file `k` of those whose ends are read.
  int64_t pick(int64_t k) const {
    if (count_ <= kMaxIdentityFiles) return k;
    __extension__ typedef __int128 i128;
    return static_cast<int64_t>(static_cast<i128>(count_ - 1) * k / (kMaxIdentityFiles - 1));
  }

  static Result<std::string> local_line(const DataFiles& files, int64_t i) {
    const std::string path = files.path(i);
    if (const auto fingerprint = files.fingerprint(i); fingerprint && !fingerprint->empty())
      return concat(message_text(files.name(i)), ", fingerprint ", message_text(*fingerprint), ", path ",
                    path_digest(path));
    Result<FileFacts> found = files.facts(i);
    if (!found.is_ok()) {
      if (fails_for_all(found.status())) return found.take_status();
      return concat(message_text(files.name(i)), ", unreadable, path ", path_digest(path));
    }
    const FileFacts& facts = found.value();
    if (!tells(facts))
      return error(Code::kUnsupported, path,
                   ": its storage reports no fingerprint, so changes of the object cannot be detected");
    return concat(message_text(files.name(i)), ", ", facts.bytes, " bytes, modified ",
                  seconds_text(facts.changed_ns), ", changed ", seconds_text(facts.status_ns), ", inode ",
                  facts.inode, ", path ", path_digest(canonical_or_given(path)));
  }

  static std::string path_digest(std::string_view path) {
    Digest digest;
    digest.add(path);
    return digest.hex();
  }

  IdentityBuilder builder_;
  int64_t count_ = 0;
};

std::vector<std::string> data_files_of(const Source& source) {
  IdentityBuilder builder;
  source.identify(builder);
  std::vector<std::string> paths;
  for (const auto& files : builder.files_)
    for (int64_t i = 0; i < files->count(); ++i) paths.push_back(files->path(i));
  return paths;
}

Result<ContentIdentity> content_identity(const Source& source) { return Identities(source).content(); }

Result<std::string> local_identity(const Source& source) { return Identities(source).local(); }

uint64_t local_structure(const Source& source) { return Identities(source).structure(); }

std::optional<uint64_t> local_stamp_below(std::string_view name, const FileFacts& facts) {
  if (!tells(facts)) return std::nullopt;
  Digest digest;
  digest.add(name);
  for (const uint64_t word : {static_cast<uint64_t>(facts.bytes), static_cast<uint64_t>(facts.changed_ns),
                              static_cast<uint64_t>(facts.status_ns), facts.inode})
    digest.add(word);
  return digest.value();
}

std::optional<uint64_t> local_stamp(const std::string& path, const FileFacts& facts) {
  return local_stamp_below(canonical_or_given(path), facts);
}

std::optional<uint64_t> local_stamp(const MappedFile& file) {
  if (!file.fingerprint()) return local_stamp(file.path(), file.at_open());
  if (file.fingerprint()->empty()) return std::nullopt;
  Digest digest;
  digest.add(file.path());
  digest.add(*file.fingerprint());
  return digest.value();
}

}  // namespace dataline
