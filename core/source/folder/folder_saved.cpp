// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/folder_index.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/memory/mapped_file.h"

namespace dataline {
namespace {

constexpr std::string_view kSavedMagic = "DLFOLDER";
constexpr uint32_t kVersion =
    2;  // 1 listed hidden names, and compared devices in place of times of status change
constexpr int64_t kChangedMeanwhile = -1;  // instead of a modification time; never equal to one

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t total_bytes;
  uint64_t checksum;  // of all bytes, with this member as 0
  uint64_t keys;      // digest of the options that decide which files are listed
  uint64_t directories;
  uint64_t classes;
  uint64_t notes;
  uint64_t class_begins;
  uint64_t files;
  uint64_t path_bytes;
  uint64_t digest;  // FolderIndex::digest
};
static_assert(sizeof(Header) == 96);  // in the machine's byte order, which is little-endian (base/target.cpp)

uint64_t keys_digest(const FolderOptions& options) {
  Digest digest;
  digest.add(static_cast<uint64_t>(options.labels));
  digest.add(static_cast<uint64_t>(options.allow_empty));
  for (const std::string& extension : options.extensions) digest.add(extension);
  return digest.value();
}

uint64_t checksum_of(Bytes bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.checksum = 0;
  Digest digest;
  digest.add(std::as_bytes(std::span(&header, 1)));
  digest.add(bytes.subspan(sizeof header));
  return digest.value();
}

// Takes sections off the front of the bytes; nothing if they are too short.
class Sections {
 public:
  explicit Sections(Bytes bytes) : left_(bytes) {}

  std::optional<Bytes> take(uint64_t count, size_t unit) {
    if (count > left_.size() / unit) return std::nullopt;
    Bytes taken = left_.first(static_cast<size_t>(count) * unit);
    left_ = left_.subspan(taken.size());
    return taken;
  }
  template <typename T>
  std::optional<T> take_number() {
    std::optional<Bytes> bytes = take(1, sizeof(T));
    return bytes ? std::optional<T>(load_native<T>(bytes->data())) : std::nullopt;
  }
  std::optional<std::string_view> take_text() {
    std::optional<uint32_t> length = take_number<uint32_t>();
    std::optional<Bytes> bytes = length ? take(*length, 1) : std::nullopt;
    if (!bytes) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  bool empty() const { return left_.empty(); }

 private:
  Bytes left_;
};

Status check_header(const std::string& file, const Header& header, Bytes bytes) {
  if (header.total_bytes != bytes.size()) {
    return error(Code::kTruncated, file, ": offset ", bytes.size(), ": the header states ",
                 header.total_bytes, " bytes, the file has ", bytes.size(), "; remove it to rebuild it");
  }
  if (header.header_bytes == sizeof header && checksum_of(bytes) == header.checksum) return Status::ok();
  return error(Code::kCorrupt, file,
               ": offset 24: the index is damaged, its checksum is wrong; remove it to rebuild it");
}

// Why a directory is not the one it was when the index was made; "" if it is.
std::string difference(const OpenDirectory& root, const std::string& path, const FileFacts& was) {
  Result<FileFacts> now = root.look_at(path.empty() ? "." : path.c_str(), Links::kFollow);
  if (!now.is_ok()) return now.status().message();
  if (!now.value().is_directory || now.value().inode != was.inode)
    return root.path_of(path) + " is a different directory";
  if (was.changed_ns == kChangedMeanwhile) return root.path_of(path) + " changed while it was listed";
  // The second: programs that unpack archives set the first, and the inode may be that of a directory that was removed.
  if (now.value().changed_ns != was.changed_ns || now.value().status_ns != was.status_ns)
    return root.path_of(path) + " changed";
  return {};
}

class Loading {
 public:
  Loading(const std::string& file, const OpenDirectory& root, const Header& header, Bytes sections,
          FolderIndex& index)
      : file_(file), root_(root), header_(header), sections_(sections), index_(index) {}

  Result<SavedIndex> run() {
    DL_ASSIGN_OR_RETURN(std::string why, check_directories());
    if (!why.empty()) return SavedIndex{false, std::move(why)};
    bool good = take_texts(header_.classes, index_.classes) && take_texts(header_.notes, index_.notes) &&
                take_labels() && take_files() && sections_.empty();
    if (!good) return contradiction();
    index_.digest = header_.digest;
    return SavedIndex{true};
  }

 private:
  Status contradiction() const {
    return error(Code::kCorrupt, file_, ": the index contradicts itself; remove it to rebuild it");
  }

  Result<std::string> check_directories() {
    for (uint64_t i = 0; i < header_.directories; ++i) {
      FileFacts was;
      std::optional<std::string_view> path = sections_.take_text();
      std::optional<uint64_t> inode = sections_.take_number<uint64_t>();
      std::optional<int64_t> changed_ns = sections_.take_number<int64_t>(),
                             status_ns = sections_.take_number<int64_t>();
      if (!path || !inode || !changed_ns || !status_ns) return contradiction();
      if (!path->empty() && !is_plain_relative(*path)) return contradiction();
      was.inode = *inode, was.changed_ns = *changed_ns, was.status_ns = *status_ns;
      std::string why = difference(root_, std::string(*path), was);
      if (!why.empty()) return why;
    }
    return std::string();
  }

  bool take_texts(uint64_t count, std::vector<std::string>& out) {
    for (uint64_t i = 0; i < count; ++i) {
      std::optional<std::string_view> text = sections_.take_text();
      if (!text || text->find('\0') != std::string_view::npos) return false;
      out.emplace_back(*text);
    }
    return true;
  }

  // Class c begins at class_begin[c]. They start at 0, never decrease, and end at the number of files.
  bool take_labels() {
    if (header_.class_begins != (index_.classes.empty() ? 0 : header_.classes + 1)) return false;
    std::optional<Bytes> begins = sections_.take(header_.class_begins, sizeof(int64_t));
    if (!begins) return false;
    int64_t last = 0;
    for (uint64_t i = 0; i < header_.class_begins; ++i) {
      auto begin = load_native<int64_t>(begins->data() + i * sizeof(int64_t));
      if (begin < last || (i == 0 && begin != 0)) return false;
      index_.class_begin.push_back(last = begin);
    }
    return header_.class_begins == 0 || static_cast<uint64_t>(last) == header_.files;
  }

  bool take_files() {
    std::optional<Bytes> sizes = sections_.take(header_.files, sizeof(uint32_t));
    std::optional<Bytes> blocks =
        sections_.take((header_.files + PathTable::kBlock - 1) / PathTable::kBlock, sizeof(uint64_t));
    std::optional<Bytes> paths = sections_.take(header_.path_bytes, 1);
    if (!sizes || !blocks || !paths) return false;
    index_.sizes.resize(sizes->size() / sizeof(uint32_t));
    if (!sizes->empty()) std::memcpy(index_.sizes.data(), sizes->data(), sizes->size());
    for (uint32_t size : index_.sizes) index_.largest_bytes = std::max<int64_t>(index_.largest_bytes, size);
    return index_.paths.adopt(
        index_.count(), {reinterpret_cast<const unsigned char*>(paths->data()), paths->size()}, *blocks);
  }

  const std::string& file_;
  const OpenDirectory& root_;
  const Header& header_;
  Sections sections_;
  FolderIndex& index_;
};

template <typename T>
void append_number(T value, std::string& out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}
void append_text(std::string_view text, std::string& out) {
  append_number(static_cast<uint32_t>(text.size()), out);
  out += text;
}

// The modification time; kChangedMeanwhile if something may have changed unnoticed within the same clock tick: 20 ms, or
// 2 s if the file system counts in seconds.
int64_t trusted_time(int64_t changed_ns, int64_t walk_begin_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t tick_ns = changed_ns % kSecond == 0 ? 2 * kSecond : 20'000'000;
  return changed_ns > walk_begin_ns - tick_ns ? kChangedMeanwhile : changed_ns;
}

}  // namespace

Result<SavedIndex> load_index(const std::string& file, const OpenDirectory& root,
                              const FolderOptions& options, const OpenContext& context, FolderIndex& index) {
  OpenContext in_memory = context;  // so that truncating the index meanwhile cannot raise SIGBUS
  in_memory.io = IoMode::kMemory;
  Result<MappedFile> saved = MappedFile::open(file, in_memory);
  if (!saved.is_ok()) {
    if (saved.status().os_error() == ENOENT) return SavedIndex{};
    return saved.take_status();
  }
  Bytes bytes(saved.value().at(0), static_cast<size_t>(saved.value().bytes()));
  Header header;
  std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                         std::min(bytes.size(), kSavedMagic.size()));
  if (start != kSavedMagic.substr(0, start.size())) {
    return error(Code::kCorrupt, file, ": offset 0: not an index of a folder, expected ", kSavedMagic,
                 "; it is not overwritten");
  }
  if (bytes.size() < sizeof header) {
    return error(Code::kTruncated, file, ": offset 0: the header of an index needs ", sizeof header,
                 " bytes, the file has ", bytes.size(), "; remove it to rebuild it");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion) {
    return SavedIndex{false, concat("it is of version ", header.version, ", not ", kVersion)};
  }
  DL_RETURN_IF_ERROR(check_header(file, header, bytes));
  if (header.keys != keys_digest(options)) return SavedIndex{false, "it was built with other keys"};
  return Loading(file, root, header, bytes.subspan(sizeof header), index).run();
}

Status save_index(AtomicFile file, const FolderTree& tree, const FolderOptions& options,
                  int64_t walk_begin_ns, const FolderIndex& index) {
  std::string texts;
  for (const FolderDirectory& directory : tree.directories) {
    append_text(directory.path, texts);
    append_number(directory.facts.inode, texts);
    append_number(trusted_time(directory.facts.changed_ns, walk_begin_ns), texts);
    append_number(directory.facts.status_ns, texts);
  }
  for (const std::string& name : index.classes) append_text(name, texts);
  for (const std::string& note : index.notes) append_text(note, texts);
  const Bytes sections[] = {std::as_bytes(std::span(texts)), std::as_bytes(std::span(index.class_begin)),
                            std::as_bytes(std::span(index.sizes)), std::as_bytes(index.paths.blocks()),
                            std::as_bytes(index.paths.encoded())};
  Header header{};
  std::memcpy(header.magic, kSavedMagic.data(), kSavedMagic.size());
  header.version = kVersion;
  header.header_bytes = sizeof header;
  header.keys = keys_digest(options);
  header.directories = tree.directories.size();
  header.classes = index.classes.size();
  header.notes = index.notes.size();
  header.class_begins = index.class_begin.size();
  header.files = index.sizes.size();
  header.path_bytes = index.paths.encoded().size();
  header.digest = index.digest;
  header.total_bytes = sizeof header;
  for (Bytes section : sections) header.total_bytes += section.size();
  // The checksum covers everything, so it is assembled once; that is cheap compared to the walk.
  std::vector<std::byte> whole;
  whole.reserve(header.total_bytes);
  auto append = [&whole](Bytes bytes) { whole.insert(whole.end(), bytes.begin(), bytes.end()); };
  append(std::as_bytes(std::span(&header, 1)));
  for (Bytes section : sections) append(section);
  header.checksum = checksum_of(whole);
  std::memcpy(whole.data(), &header, sizeof header);
  DL_RETURN_IF_ERROR(file.write(whole));
  return file.commit();
}

}  // namespace dataline
