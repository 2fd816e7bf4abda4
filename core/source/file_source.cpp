// SPDX-License-Identifier: Apache-2.0
#include "core/source/file_source.h"

#include <utility>

#include "core/source/identity.h"

namespace dataline {

FileSource::FileSource(MappedFile file, Schema schema, SourceInfo info)
    : own_(std::in_place, std::move(file)),
      watched_(*own_),
      file_(watched_.file()),
      schema_(std::move(schema)),
      info_(std::move(info)) {}

FileSource::FileSource(WatchedFileRef file, Schema schema, SourceInfo info)
    : shared_(std::move(file)),
      watched_(*shared_),
      file_(watched_.file()),
      schema_(std::move(schema)),
      info_(std::move(info)) {}

const SourceFacts& FileSource::facts() const {
  static constexpr SourceFacts kOfFile, kOfHost{.host_calls = HostCalls::kMayBlock};
  return file_.calls_host() ? kOfHost : kOfFile;
}

std::optional<uint64_t> FileSource::stamp(int64_t) const {
  if (const uint64_t known = stamp_.load(std::memory_order_relaxed); known != 0) return known;
  const std::optional<uint64_t> stamp = local_stamp(file_);
  if (stamp) stamp_.store(*stamp, std::memory_order_relaxed);
  return stamp;
}

Status FileSource::check_unchanged(int64_t index) const {
  const MappedFile::Change change = file_.change_since_open();
  if (change.status.is_ok()) return Status::ok();
  const FileExtent extent = extent_of(index);
  return file_.check_range(change, extent.offset, extent.bytes);
}

void FileSource::confirm(Run& run, const ReadSpan& span) const {
  const MappedFile::Change change = watched_.looked_after(span);
  if (change.status.is_ok() && !file_.faulted(span.opened_ns)) return;
  std::vector<FileExtent> extents;
  for (int64_t i = 0; i < run.count; ++i) {
    extents.clear();
    append_extents(run.indices[i], extents);
    Status status;
    for (const FileExtent& extent : extents) {
      if (status.is_ok()) status = file_.check_range(change, extent.offset, extent.bytes);
      if (status.is_ok()) status = file_.check_faults(span.opened_ns, extent.offset, extent.bytes);
    }
    if (!status.is_ok()) run.errors->fail(i, std::move(status).with_sample(run.indices[i]));
  }
  file_.heal();
}

void FileSource::advise(std::span<const int64_t> indices) const {
  for (size_t first = 0; first < indices.size();) {
    size_t end = first + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    const int64_t begin = extent_of(indices[first]).offset;
    const FileExtent last = extent_of(indices[end - 1]);
    file_.advise(begin, last.offset + last.bytes - begin);
    first = end;
  }
}

void FileSource::advise_block(int64_t first, int64_t count) const {
  const int64_t begin = extent_of(first).offset;
  const FileExtent last = extent_of(first + count - 1);
  file_.advise(begin, last.offset + last.bytes - begin);
}

bool FileSource::cached(int64_t index) const {
  const FileExtent extent = extent_of(index);
  return file_.cached(extent.offset, extent.bytes);
}

}  // namespace dataline
