// SPDX-License-Identifier: Apache-2.0
#include "core/source/host/host_files.h"

#include <algorithm>
#include <utility>

namespace dataline {

namespace {

Status check_ends(const std::vector<int64_t>& ends, int64_t record_count) {
  int64_t last = 0;
  for (size_t f = 0; f < ends.size(); ++f) {
    if (ends[f] < last || ends[f] > record_count)
      return error(Code::kInvalidArgument, "reader: file_ends[", f, "] is ", ends[f], ", expected ", last,
                   " to ", record_count, " (they must ascend to record_count)");
    last = ends[f];
  }
  if (last == record_count) return Status::ok();
  return error(Code::kInvalidArgument, "reader: the ", ends.size(), " file_ends end at ", last,
               ", record_count is ", record_count);
}

}  // namespace

Result<std::shared_ptr<const HostFiles>> HostFiles::open(ReaderFiles files, int64_t record_count,
                                                         const OpenContext& context) {
  if (files.paths.empty()) return std::shared_ptr<const HostFiles>();
  if (!files.ends.empty()) DL_RETURN_IF_ERROR(check_ends(files.ends, record_count));
  auto made = std::make_shared<HostFiles>();
  made->ends_ = std::move(files.ends);
  Digest all;
  bool tell = true;
  for (const std::string& path : files.paths) {
    File file{.path = path};
    if (storage_of(path, context.storages) != nullptr) {
      DL_ASSIGN_OR_RETURN(MappedFile object, MappedFile::open_unloaded(path, context));
      file.facts = object.at_open();
      file.stamp = local_stamp(object);
      file.object = std::make_unique<const MappedFile>(std::move(object));
    } else {
      if (const int number = facts_of_path(path, file.facts); number != 0) return file_error(path, number);
      file.stamp = local_stamp(path, file.facts);
    }
    tell = tell && file.stamp;
    all.add(file.stamp.value_or(0));
    made->files_.push_back(std::move(file));
  }
  if (tell) made->stamp_of_all_ = all.value();
  return std::shared_ptr<const HostFiles>(std::move(made));
}

std::optional<uint64_t> HostFiles::stamp(int64_t record) const {
  if (ends_.empty()) return stamp_of_all_;
  return at(std::upper_bound(ends_.begin(), ends_.end(), record) - ends_.begin()).stamp;
}

std::string HostFiles::name(int64_t index) const { return std::string(base_name(at(index).path)); }

std::optional<std::string> HostFiles::fingerprint(int64_t index) const {
  const File& file = at(index);
  return file.object == nullptr ? std::nullopt : file.object->fingerprint();
}

Result<Bytes> HostFiles::read_end(int64_t index, bool last, std::vector<std::byte>& room) const {
  const File& file = at(index);
  const int64_t piece = std::min(file.facts.bytes, kIdentityPieceBytes);
  const int64_t offset = last ? file.facts.bytes - piece : 0;
  room.resize(static_cast<size_t>(piece));
  if (file.object != nullptr) {
    DL_RETURN_IF_ERROR(file.object->read(offset, piece, room.data()));
    return Bytes(room);
  }
  const Descriptor opened = Descriptor::open(file.path, kFileFlags);
  if (!opened) return file_error(file.path, errno);
  DL_ASSIGN_OR_RETURN(const FileFacts now, facts_of(opened.get(), file.path));
  // Not the time of status change: a link or another mode changes that, and no byte.
  if (!now.same_as(file.facts) || now.bytes != file.facts.bytes || now.changed_ns != file.facts.changed_ns)
    return error(Code::kChanged, file.path, ": was replaced or written since the dataset was created");
  const ReadResult got = read_at(opened.get(), offset, piece, room.data());
  if (got.number != 0) return file_error_at(file.path, offset, got.number);
  return Bytes(room).first(static_cast<size_t>(got.bytes));
}

}  // namespace dataline
