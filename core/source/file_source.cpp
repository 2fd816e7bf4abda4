// SPDX-License-Identifier: Apache-2.0
#include "core/source/file_source.h"

#include <algorithm>
#include <utility>

#include "core/base/thread.h"

namespace dataline {
namespace {

int64_t at(const std::atomic<int64_t>& when_ns) { return when_ns.load(std::memory_order_relaxed); }

void advance(std::atomic<int64_t>& when_ns, int64_t now_ns) {
  int64_t seen_ns = at(when_ns);
  while (seen_ns < now_ns && !when_ns.compare_exchange_weak(seen_ns, now_ns, std::memory_order_relaxed)) {
  }
}

}  // namespace

FileSource::FileSource(MappedFile file, Schema schema, SourceInfo info)
    : file_(std::move(file)), schema_(std::move(schema)), info_(std::move(info)) {}

bool FileSource::check_before(int64_t opened_ns) const {
  if (file_.io() == IoMode::kMemory) return true;
  if (std::max(at(long_ns_), at(same_ns_)) >= opened_ns) return true;
  const int64_t now_ns = monotonic_ns();
  file_.heal();
  const bool whole = file_.check_length().is_ok();
  advance(checked_ns_, now_ns);
  if (whole) advance(long_ns_, now_ns);
  return whole;
}

bool FileSource::unchanged(const ReadSpan& span) const {
  if (file_.io() == IoMode::kMemory) return true;
  // A batch that read from this file called check_before(), so checked_ns_ or a check it relied on is not older than the
  // batch.
  if (std::max({at(checked_ns_), at(long_ns_), at(same_ns_)}) < span.opened_ns) return true;
  return looked_after(span).status.is_ok() && !file_.faulted(span.opened_ns);
}

void FileSource::confirm(Run& run, const ReadSpan& span) const {
  const MappedFile::Change change = looked_after(span);
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

MappedFile::Change FileSource::looked_after(const ReadSpan& span) const {
  if (at(same_ns_) >= span.copied_ns) return {};
  const int64_t now_ns = monotonic_ns();
  MappedFile::Change change = file_.change_since_open();
  if (change.status.is_ok()) advance(same_ns_, now_ns);
  return change;
}

}  // namespace dataline
