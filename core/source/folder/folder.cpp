// Over 300 lines: one class, of which every function goes by the index and the root.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/folder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/over_budget.h"
#include "core/memory/file.h"
#include "core/source/files.h"
#include "core/source/folder/folder_index.h"
#include "core/source/identity.h"
#include "core/source/leaf_source.h"
#include "core/source/set_directories.h"

namespace dataline {
namespace {

constexpr int64_t kAlignment = 64;  // of each file in scratch

Schema folder_schema(const FolderOptions& options, int64_t largest_bytes) {
  std::vector<Field> fields;
  fields.push_back({"image", FieldKind::kRagged, DType::kU8, {-1}, "", largest_bytes});
  if (options.labels != FolderLabels::kNone) {
    fields.push_back({"label", FieldKind::kDense, options.label_u8 ? DType::kU8 : DType::kI64, {}, "", -1});
  }
  return column_per_field(std::move(fields));
}

// All files in one block (io=memory); file i starts at begin[i].
struct LoadedFiles {
  explicit LoadedFiles(std::pmr::memory_resource* memory) : begin(memory), facts(memory) {}
  Block block;
  std::pmr::vector<int64_t> begin;
  std::pmr::vector<FileFacts> facts;  // when each file was loaded
  std::map<int64_t, Status> bad;      // files that could not be read
};

class FolderFiles;

class Folder final : public LeafSource {
 public:
  Folder(OpenDirectory root, std::unique_ptr<FolderIndex> index, const FolderOptions& options)
      : root_(std::move(root)),
        index_(std::move(index)),
        schema_(folder_schema(options, std::min(index_->largest_bytes, kMaxFolderFileBytes))),
        links_(options.labels == FolderLabels::kFile ? Links::kBeneath : Links::kFollow),
        read_ahead_bytes_(root_.read_ahead_bytes()) {
    make_labels(options);
    if (!index_->classes.empty()) facts_.classes = &index_->classes;
  }

  Status load(const OpenContext& context);

  int64_t count() const override { return index_->count(); }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {"folder", root_.path(), index_->notes}; }
  const SourceFacts& facts() const override { return facts_; }
  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t) const override {
    return loaded_ ? 0 : round_up(schema_.fields[0].max_bytes, kAlignment);
  }
  void advise(std::span<const int64_t> indices) const override;
  bool cached(int64_t index) const override;
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    BlockCutter cutter(block_bytes, ends);
    for (int64_t i = 0; i < count(); ++i) cutter.add(index_->file_bytes(i));
    cutter.finish();
  }
  int64_t record_items(int64_t index) const override { return index_->file_bytes(index); }
  int64_t stored_bytes() const override {
    double bytes = 0;
    for (int64_t i = 0; i < count(); ++i) bytes += static_cast<double>(index_->file_bytes(i));
    return mean_bytes(bytes, count());
  }
  Place place_of(int64_t index, size_t) const override {
    PathBuffer path;
    return {root_.path_of(index_->paths.get(index, path)), ""};
  }
  std::optional<uint64_t> stamp(int64_t index) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  friend class FolderFiles;

  void make_labels(const FolderOptions& options);
  Result<FileHandle> open_file(int64_t index) const;
  Status read_file(int64_t index, int64_t bytes, std::byte* out, FileFacts* facts = nullptr) const;
  Status size_error(std::string_view path, int64_t now, int64_t listed) const;
  Status load_file(int64_t index);
  void locate_image(Run& run, int64_t row, std::byte*& scratch) const;
  void locate_labels(Run& run) const;
  // The position of a file's label in labels_.
  int64_t label_position(int64_t index) const {
    if (!index_->labels.empty()) return index;
    auto after = std::upper_bound(index_->class_begin.begin(), index_->class_begin.end(), index);
    return after - index_->class_begin.begin() - 1;
  }

  OpenDirectory root_;
  std::unique_ptr<FolderIndex> index_;
  Schema schema_;
  SourceFacts facts_;
  Links links_;
  int64_t read_ahead_bytes_;
  const std::byte* labels_ = nullptr;  // own_labels_, or the i64 labels of the list
  // One label per class of a walk, or those of the list as u8.
  std::pmr::vector<std::byte> own_labels_{&index_->resource};
  std::optional<LoadedFiles> loaded_;
};

// Stores labels as they are delivered, so that rows can point at them.
void Folder::make_labels(const FolderOptions& options) {
  if (options.labels == FolderLabels::kNone) return;
  const bool listed = options.labels == FolderLabels::kFile;
  if (listed && !options.label_u8) {
    labels_ = reinterpret_cast<const std::byte*>(index_->labels.data());
    return;
  }
  const size_t count = listed ? index_->labels.size() : index_->classes.size();
  for (size_t i = 0; i < count; ++i) {
    const int64_t label = listed ? index_->labels[i] : static_cast<int64_t>(i);
    const Bytes bytes = std::as_bytes(std::span(&label, 1));
    // Little-endian (folder_saved.cpp): the first byte is the u8.
    own_labels_.insert(own_labels_.end(), bytes.begin(), options.label_u8 ? bytes.begin() + 1 : bytes.end());
  }
  labels_ = own_labels_.data();
}

Result<FileHandle> Folder::open_file(int64_t index) const {
  PathBuffer path;
  return root_.open_file(index_->paths.get(index, path).data(), links_);
}

Status Folder::size_error(std::string_view path, int64_t now, int64_t listed) const {
  std::string name = root_.path_of(path);
  if (now < listed) {
    return error(Code::kTruncated, name, ": offset ", now, ": expected ", listed - now,
                 " more bytes, the file ends here; it had ", listed, " bytes when the folder was listed");
  }
  return error(Code::kChanged, name, ": has ", now, " bytes, it had ", listed, " when the folder was listed");
}

// Reads the first `bytes` of the file, at most its listed size, into `out`.
Status Folder::read_file(int64_t index, int64_t bytes, std::byte* out, FileFacts* facts) const {
  PathBuffer path;
  std::string_view name = index_->paths.get(index, path);
  DL_ASSIGN_OR_RETURN(FileHandle file, root_.open_file(path.data(), links_));
  const int64_t listed = index_->file_bytes(index);
  if (file.bytes() > kMaxFolderFileBytes) {
    return error(Code::kTooLarge, root_.path_of(name), ": has ", file.bytes(), " bytes, expected at most ",
                 kMaxFolderFileBytes);
  }
  if (file.bytes() != listed) return size_error(name, file.bytes(), listed);
  if (listed == 0) return error(Code::kTruncated, root_.path_of(name), ": offset 0: the file is empty");
  int64_t got = file.read(out, bytes);
  if (got < 0) return file_error(root_.path_of(name), static_cast<int32_t>(-got));
  if (got < bytes) return size_error(name, got, listed);
  // A file that is truncated during the read may yield zeros instead of a short read.
  DL_ASSIGN_OR_RETURN(const FileFacts now, file.facts(root_.path_of(name)));
  if (now.bytes != listed) return size_error(name, now.bytes, listed);
  if (facts != nullptr) *facts = now;
  if (now.changed_ns == file.changed_ns()) return Status::ok();
  return error(Code::kChanged, root_.path_of(name), ": was modified while it was read");
}

void Folder::locate_image(Run& run, int64_t row, std::byte*& scratch) const {
  const int64_t index = run.indices[row];
  const int64_t listed = index_->file_bytes(index);
  const int64_t bytes = run.head_bytes > 0 && !loaded_ ? std::min(run.head_bytes, listed) : listed;
  run.columns[0].bytes[row] = bytes;
  Status status;
  if (loaded_) {
    run.columns[0].data[row] = loaded_->block.data() + loaded_->begin[static_cast<size_t>(index)];
    auto bad = loaded_->bad.find(index);
    if (bad != loaded_->bad.end()) status = bad->second;
  } else {
    run.columns[0].data[row] = scratch;
    status = read_file(index, bytes, scratch);
  }
  if (!status.is_ok()) {
    run.columns[0].bytes[row] = 0;
    return run.fail(row, schema_.columns.size(), std::move(status));
  }
  // Files are packed instead of each starting at its own share of scratch, so that fewer cache lines are touched.
  if (!loaded_) scratch += round_up(bytes, kAlignment);
}

void Folder::locate_labels(Run& run) const {
  const int64_t label_bytes = schema_.columns[1].row_bytes;
  for (int64_t i = 0; i < run.count; ++i)
    run.columns[1].data[i] = labels_ + label_position(run.indices[i]) * label_bytes;
  run.columns[1].contiguous = run.count == 1 || (run.contiguous && !index_->labels.empty());
}

void Folder::locate(Run& run) const {
  run.columns[0].contiguous = false;
  if (schema_.columns.size() > 1) locate_labels(run);
  std::byte* scratch = run.scratch;
  for (int64_t i = 0; i < run.count; ++i) locate_image(run, i, scratch);
}

void Folder::advise(std::span<const int64_t> indices) const {
  if (loaded_) return;
  for (int64_t index : indices) {
    Result<FileHandle> file = open_file(index);
    if (file.is_ok()) file.value().advise(read_ahead_bytes_);
  }
}

class FolderFiles final : public DataFiles {
 public:
  explicit FolderFiles(const Folder& folder) : folder_(folder) {}

  int64_t count() const override { return folder_.count(); }
  std::string path(int64_t index) const override { return join_path(folder_.root_.path(), name(index)); }
  std::string name(int64_t index) const override {
    PathBuffer path;
    return std::string(folder_.index_->paths.get(index, path));
  }
  int64_t bytes(int64_t index) const override { return folder_.index_->file_bytes(index); }
  Result<FileFacts> facts(int64_t index) const override {
    if (folder_.loaded_) return folder_.loaded_->facts[static_cast<size_t>(index)];
    return folder_.root_.look_at(name(index).c_str(), folder_.links_);
  }
  // A file that has grown since it was listed is read up to its listed size.
  Result<Bytes> read_end(int64_t index, bool last, std::vector<std::byte>& room) const override {
    const int64_t listed = bytes(index), piece = std::min(listed, kIdentityPieceBytes);
    const int64_t offset = last ? listed - piece : 0;
    room.resize(static_cast<size_t>(piece));
    if (folder_.loaded_) {
      const std::byte* const loaded =
          folder_.loaded_->block.data() + folder_.loaded_->begin[static_cast<size_t>(index)] + offset;
      std::copy_n(loaded, piece, room.data());
      return Bytes(room);
    }
    DL_ASSIGN_OR_RETURN(const FileHandle file, folder_.open_file(index));
    const int64_t got = file.read(room.data(), piece, offset);
    if (got < 0) return file_error(path(index), static_cast<int32_t>(-got));
    return Bytes(room).first(static_cast<size_t>(got));
  }
  std::optional<Tree> tree() const override { return Tree{folder_.root_.path(), folder_.index_->digest}; }

 private:
  const Folder& folder_;
};

void Folder::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add("folder");
  identity.add_files(std::make_unique<FolderFiles>(*this));
}

std::optional<uint64_t> Folder::stamp(int64_t index) const {
  PathBuffer path;
  const std::string_view name = index_->paths.get(index, path);
  if (loaded_) return local_stamp_below(name, loaded_->facts[static_cast<size_t>(index)]);
  const Result<FileFacts> facts = root_.look_at(name.data(), links_);
  if (!facts.is_ok()) return std::nullopt;
  return local_stamp_below(name, facts.value());
}

bool Folder::cached(int64_t index) const {
  if (loaded_) return true;
  Result<FileHandle> file = open_file(index);
  return !file.is_ok() || file.value().cached();
}

Status Folder::load_file(int64_t index) {
  std::byte* out = loaded_->block.data() + loaded_->begin[static_cast<size_t>(index)];
  Status status =
      read_file(index, index_->file_bytes(index), out, &loaded_->facts[static_cast<size_t>(index)]);
  // A lack of resources or an I/O error is not the file's fault and must not make it a bad sample for good.
  if (status.is_ok() || is_machine_failure(status) || status.code() == Code::kIo) return status;
  loaded_->bad.emplace(index, std::move(status));
  return Status::ok();
}

Status Folder::load(const OpenContext& context) {
  LoadedFiles loaded(&index_->resource);
  loaded.begin.reserve(static_cast<size_t>(count()));
  loaded.facts.resize(static_cast<size_t>(count()));
  int64_t bytes = 0;
  for (int64_t i = 0; i < count(); ++i) {
    loaded.begin.push_back(bytes);
    if (index_->file_bytes(i) > kMaxFolderFileBytes) continue;  // read_file() reports it
    std::optional<int64_t> sum = checked_add(bytes, round_up(index_->file_bytes(i), kAlignment));
    if (!sum) return error(Code::kTooLarge, root_.path(), ": more than 2^63 bytes");
    bytes = *sum;
  }
  DL_ASSIGN_OR_RETURN(
      loaded.block, context.memory->allocate(bytes, kAlignment, MemoryKind::kData, "the files of a folder"));
  loaded_ = std::move(loaded);
  context.progress->expect_bytes(bytes);
  for (int64_t i = 0; i < count(); ++i) {
    if (context.cancelled()) {
      return error(Code::kCancelled, root_.path(), ": cancelled after ", i, " of ", count(),
                   " files were read");
    }
    DL_RETURN_IF_ERROR(load_file(i));
    const int64_t end = i + 1 < count() ? loaded_->begin[static_cast<size_t>(i + 1)] : bytes;
    context.progress->add_bytes(end - loaded_->begin[static_cast<size_t>(i)]);
    context.report("reading ", root_.path());
  }
  return Status::ok();
}

Status check_label_range(const std::string& path, const FolderOptions& options, const FolderIndex& index) {
  constexpr size_t kU8Classes = 256;
  if (!options.label_u8 || index.classes.size() <= kU8Classes) return Status::ok();
  return error(Code::kOutOfRange, path, ": ", index.classes.size(), " classes, label_dtype=u8 holds ",
               kU8Classes);
}

Status index_walk(const OpenDirectory& root, const FolderOptions& options, const OpenContext& context,
                  FolderIndex& index, std::optional<AtomicFile> save_to) {
  const int64_t begin_ns = wall_clock_ns();
  DL_ASSIGN_OR_RETURN(FolderTree tree, walk_folder(root, options, context, &index.resource));
  DL_RETURN_IF_ERROR(index_tree(root.path(), tree, options, index));
  if (!save_to) return Status::ok();
  return save_index(std::move(*save_to), tree, options, begin_ns, index);
}

// Uses the saved index if it is up to date, else lists the directories.
Result<std::unique_ptr<FolderIndex>> find_files(const OpenDirectory& root, const FolderOptions& options,
                                                const OpenContext& context) {
  auto index = std::make_unique<FolderIndex>(context.memory);
  if (options.labels == FolderLabels::kFile) {
    DL_RETURN_IF_ERROR(index_list(root, options, context, *index));
    return index;
  }
  if (options.index_file.empty()) {
    DL_RETURN_IF_ERROR(index_walk(root, options, context, *index, std::nullopt));
    return index;
  }
  if (lies_in(options.index_file, root.facts()))
    return in_set_error("index", options.index_file, root.path());
  DL_ASSIGN_OR_RETURN(const SavedIndex saved, load_index(options.index_file, root, options, context, *index));
  if (saved.fits) return index;
  index = std::make_unique<FolderIndex>(context.memory);
  DL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(options.index_file));
  DL_RETURN_IF_ERROR(index_walk(root, options, context, *index, std::move(file)));
  if (!saved.why.empty()) {
    index->notes.push_back(concat("index ", options.index_file, " was rebuilt: ", saved.why));
  }
  return index;
}

}  // namespace

Result<SourceRef> open_folder(const FolderOptions& options, const std::string& path,
                              const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(OpenDirectory root, OpenDirectory::open(path));
  try {
    DL_ASSIGN_OR_RETURN(std::unique_ptr<FolderIndex> index, find_files(root, options, context));
    DL_RETURN_IF_ERROR(check_label_range(path, options, *index));
    auto folder = std::make_shared<Folder>(std::move(root), std::move(index), options);
    if (context.io == IoMode::kMemory) DL_RETURN_IF_ERROR(folder->load(context));
    return SourceRef(std::move(folder));
  } catch (const OverBudget& refused) {
    return refused.status(concat(path, ": the index of its files"));
  }
}

}  // namespace dataline
