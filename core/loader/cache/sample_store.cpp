// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/sample_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/loader/cache/store_layout.h"
#include "core/memory/file_map.h"
#include "core/memory/machine_limits.h"

namespace dataline {
namespace {

// Reserved at a time: few enough calls, and little that is lost when a writer is killed, which the next one takes up.
constexpr int64_t kLeastReserve = int64_t{1} << 20, kMostReserve = int64_t{64} << 20;

Status of_cache(const Status& status) {
  return error(status.code(), "option cache: ", status.message()).with_os_error(status.os_error());
}

// Whether the option names no directory and none that can be made: a file, or a path whose parent is missing.
bool is_mistake(const std::string& path) {
  FileFacts facts;
  if (facts_of_path(path, facts) == 0) return !facts.is_directory;
  const size_t end = path.find_last_not_of('/');
  const size_t slash = end == std::string::npos ? std::string::npos : path.find_last_of('/', end);
  const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const int number = facts_of_path(parent, facts);
  return number == ENOENT || number == ENOTDIR || (number == 0 && !facts.is_directory);
}

// Whether the header is this cache's but for a few damaged bytes. The digit of the version decides what the entries mean.
bool is_damaged_header(const StoreHeader& found, const StoreHeader& expected) {
  constexpr std::ptrdiff_t kMaxDamagedBytes = 4, kVersion = 7;
  if (found[kVersion] != expected[kVersion]) return false;
  std::ptrdiff_t damaged = 0;
  for (size_t i = 0; i < found.size(); ++i) damaged += found[i] == expected[i] ? 0 : 1;
  return damaged <= kMaxDamagedBytes;
}

// As a file is that was made and not written, or whose bytes a loss of power took.
Result<bool> has_only_zeros(const LockedFile& file, int64_t bytes) {
  std::array<std::byte, size_t{16} << 10> piece;
  for (int64_t at = 0; at < bytes;) {
    const ReadResult read =
        file.read_at(at, std::min<int64_t>(bytes - at, static_cast<int64_t>(piece.size())), piece.data());
    if (read.number != 0) return file_error(file.path(), read.number);
    if (read.bytes == 0) break;
    const auto end = piece.begin() + read.bytes;
    if (std::any_of(piece.begin(), end, [](std::byte byte) { return byte != std::byte{0}; })) return false;
    at += read.bytes;
  }
  return true;
}

}  // namespace

// Others may remove the directory while it is opened (rm -r): it is made again, and a few times in a row is enough.
Result<std::unique_ptr<SampleStore>> SampleStore::open(const StoreSettings& settings) {
  constexpr int kAttempts = 8;
  const auto without = [&](const Status& why) {
    settings.log(LogLevel::kWarning, concat("option cache: the job continues without it: ", why.text()));
    return std::unique_ptr<SampleStore>();
  };
  if (const Status left = descriptors_left(settings); !left.is_ok() && !is_mistake(settings.directory))
    return without(left);
  Result<std::unique_ptr<SampleStore>> made = open_to_fill(settings);
  for (int attempt = 1; !made.is_ok() && made.status().code() == Code::kNotFound; ++attempt) {
    if (attempt == kAttempts || is_mistake(settings.directory)) break;
    made = open_to_fill(settings);
  }
  if (made.is_ok()) return made;
  if (is_mistake(settings.directory)) return of_cache(made.status());
  Result<std::unique_ptr<SampleStore>> read = open_to_read(settings, made.status());
  if (read.is_ok()) return read;
  return without(read.status().code() == Code::kNotFound ? made.status() : read.status());
}

// kTooManyFiles. What the store opens at a time, beside the segments that it reads, is below kStoreDescriptors.
Status SampleStore::descriptors_left(const StoreSettings& settings) {
  constexpr int64_t kStoreDescriptors = 8;
  if (can_open_files(settings.job_descriptors + kStoreDescriptors)) return Status::ok();
  return error(
      Code::kTooManyFiles, settings.directory,
      ": this process has too many open files for a cache (see ulimit -n), and leaves the rest to the job");
}

Result<std::unique_ptr<SampleStore>> SampleStore::open_to_fill(const StoreSettings& settings) {
  DL_ASSIGN_OR_RETURN(CacheDirectory parent,
                      CacheDirectory::open(settings.directory, settings.budget_bytes, WhenMissing::kMake));
  DL_ASSIGN_OR_RETURN(const LockedFile lock, parent.lock());
  DL_ASSIGN_OR_RETURN(SharedDirectory directory, parent.cache(settings.key, WhenMissing::kMake));
  // Never waits: while the parent is locked, nobody removes a cache.
  DL_ASSIGN_OR_RETURN(std::optional<LockedFile> index,
                      directory.open_file(kCacheIndexName, LockKind::kShared, WhenLocked::kWait));
  std::unique_ptr<SampleStore> store(
      new SampleStore(settings, std::move(parent), std::move(directory), std::move(*index)));
  DL_RETURN_IF_ERROR(store->prepare_index());
  return store;
}

Result<std::unique_ptr<SampleStore>> SampleStore::open_to_read(const StoreSettings& settings,
                                                               const Status& refused) {
  DL_ASSIGN_OR_RETURN(CacheDirectory parent,
                      CacheDirectory::open(settings.directory, settings.budget_bytes, WhenMissing::kFail));
  DL_ASSIGN_OR_RETURN(SharedDirectory directory, parent.cache(settings.key, WhenMissing::kFail));
  DL_ASSIGN_OR_RETURN(LockedFile index, directory.open_to_read(kCacheIndexName));
  std::unique_ptr<SampleStore> store(
      new SampleStore(settings, std::move(parent), std::move(directory), std::move(index)));
  DL_ASSIGN_OR_RETURN(const bool whole, store->index_is_whole());
  if (!whole) return error(Code::kNotFound, store->index_.path(), ": stores none of these samples");
  store->stop_filling(std::string(refused.message()));
  return store;
}

Result<bool> SampleStore::index_is_whole() const {
  StoreHeader found = {};
  DL_ASSIGN_OR_RETURN(const int64_t bytes, index_.bytes());
  if (const ReadResult read = index_.read_at(0, kStoreHeaderBytes, found.data()); read.number != 0)
    return file_error(index_.path(), read.number);
  const int64_t expected = kStoreHeaderBytes + settings_.samples * kStoreEntryBytes;
  const StoreHeader header = store_header(kIndexMagic, settings_.samples, settings_.key);
  if (found == header && bytes <= expected) return bytes == expected;
  if (bytes == expected && is_damaged_header(found, header)) {
    report_damage(concat(index_.path(), ": its header is damaged and is written again"));
    return false;
  }
  if (found == StoreHeader{} && bytes <= expected) {
    DL_ASSIGN_OR_RETURN(const bool empty, has_only_zeros(index_, bytes));
    if (empty) return false;
  }
  return error(Code::kCorrupt, index_.path(), ": is not an index of this cache; remove ", directory_.path());
}

// The header first: by it others know that the directory is a cache.
Status SampleStore::prepare_index() {
  DL_ASSIGN_OR_RETURN(const bool whole, index_is_whole());
  if (whole) return index_.touch();
  DL_RETURN_IF_ERROR(index_.write_at(0, store_header(kIndexMagic, settings_.samples, settings_.key)));
  return index_.set_bytes(kStoreHeaderBytes + settings_.samples * kStoreEntryBytes);
}

// The part that is reserved and not used goes back. In a forked child the segment is the parent's.
SampleStore::~SampleStore() {
  if (fork_guard_.forked()) return;
  ThreadLock lock(mutex_);
  if (own_ && reserved_end_ > end_) static_cast<void>(own_->set_bytes(end_));
}

bool SampleStore::read_entry(int64_t sample, StoreEntry& out) const {
  StoreEntry::Stored stored;
  const int64_t at = kStoreHeaderBytes + sample * kStoreEntryBytes;
  if (index_.read_at(at, kStoreEntryBytes, stored.data()).bytes != kStoreEntryBytes) return false;
  if (out.load(sample, stored, crc_)) return true;
  if (stored == StoreEntry::Stored{}) return false;  // nothing is stored
  // Another process may have been in the middle of writing it.
  StoreEntry::Stored again;
  if (index_.read_at(at, kStoreEntryBytes, again.data()).bytes != kStoreEntryBytes) return false;
  if (out.load(sample, again, crc_)) return true;
  if (again == stored)
    report_damage(concat(index_.path(), ": the entry of a sample is damaged; the sample is made again"));
  return false;
}

int64_t SampleStore::read(int64_t sample, uint64_t stamp, std::byte* out, int64_t room) const {
  StoreEntry entry;
  if (!read_entry(sample, entry) || entry.stamp != stamp || entry.bytes > room) return -1;
  const int file = segment_descriptor(entry.segment);
  if (file < 0) return -1;
  const ReadResult read = read_at(file, static_cast<int64_t>(entry.offset), entry.bytes, out);
  if (read.bytes == entry.bytes && crc_.of({out, entry.bytes}) == entry.checksum) return entry.bytes;
  report_damage(concat(directory_.path(), ": a stored sample is damaged and is made again"));
  return -1;
}

bool SampleStore::is_whole(const StoreEntry& entry) const {
  const int file = segment_descriptor(entry.segment);
  std::array<std::byte, size_t{16} << 10> piece;
  uint32_t checksum = 0;
  for (int64_t at = 0; at < entry.bytes;) {
    const int64_t wanted = std::min<int64_t>(entry.bytes - at, piece.size());
    const ReadResult read = read_at(file, static_cast<int64_t>(entry.offset) + at, wanted, piece.data());
    if (read.bytes != wanted) return false;
    checksum = crc_.extend(checksum, piece.data(), wanted);
    at += wanted;
  }
  return checksum == entry.checksum;
}

std::optional<bool> SampleStore::cached(int64_t sample) const {
  StoreEntry entry;
  if (!read_entry(sample, entry)) return std::nullopt;
  const int file = segment_descriptor(entry.segment);
  const auto first = static_cast<int64_t>(entry.offset), last = first + std::max<int64_t>(entry.bytes, 1) - 1;
  return file < 0 || (is_cached(file, first) && is_cached(file, last));
}

bool SampleStore::advise(int64_t sample) const {
  StoreEntry entry;
  if (!read_entry(sample, entry)) return false;
  const int file = segment_descriptor(entry.segment);
  if (file >= 0) advise_file(file, static_cast<int64_t>(entry.offset), entry.bytes);
  return true;
}

int SampleStore::segment_descriptor(uint32_t segment) const {
  Status failed;
  {
    ThreadLock lock(files_mutex_);
    if (files_.size() < segment) files_.resize(segment);
    Descriptor& file = files_[segment - 1];
    if (file) return file.get();
    failed = descriptors_left(settings_);
    if (failed.is_ok()) {
      const std::string name = segment_name(segment);
      file = directory_.open_without_lock(name);
      if (file) return file.get();
      const int number = errno;
      const std::string path = directory_.path_of(name);
      failed = number == ELOOP ? error(Code::kNotAFile, path, ": is a symbolic link, expected a file")
                               : file_error(path, number);
    }
  }
  report_damage(concat(failed.message(), "; the samples in it are made again"));
  return -1;
}

void SampleStore::keep(int64_t sample, uint64_t stamp, Bytes bytes) {
  if (full() || bytes.size() > std::numeric_limits<uint32_t>::max()) return;
  if (StoreEntry kept; read_entry(sample, kept) && kept.stamp == stamp && is_whole(kept)) return;
  const int64_t offset = take_room(static_cast<int64_t>(bytes.size()));
  if (offset < 0) return;
  const LockedFile* own = nullptr;
  StoreEntry entry{.bytes = static_cast<uint32_t>(bytes.size()),
                   .offset = static_cast<uint64_t>(offset),
                   .stamp = stamp,
                   .checksum = crc_.of(bytes)};
  {
    ThreadLock lock(mutex_);
    own = &*own_;  // stays
    entry.segment = own_segment_;
  }
  Status status = own->write_at(offset, bytes);
  if (status.is_ok())
    status = index_.write_at(kStoreHeaderBytes + sample * kStoreEntryBytes, entry.stored(sample, crc_));
  if (!status.is_ok()) stop_filling(std::string(status.message()));
}

int64_t SampleStore::take_room(int64_t bytes) {
  std::string why;
  {
    ThreadLock lock(mutex_);
    const int64_t taken = round_up(bytes, kStoredSampleAlignment);
    Result<bool> room = taken <= reserved_end_ - end_ ? Result<bool>(true) : reserve(taken);
    if (room.is_ok() && room.value()) return std::exchange(end_, end_ + taken);
    why = room.is_ok()
              ? (settings_.budget_bytes < 0 ? std::string("a tenth of its file system must stay free")
                                            : concat("cache_bytes=", settings_.budget_bytes, " is used up"))
              : std::string(room.status().message());
  }
  stop_filling(why);
  return -1;
}

Result<bool> SampleStore::reserve(int64_t bytes) {
  DL_RETURN_IF_ERROR(descriptors_left(settings_));
  DL_ASSIGN_OR_RETURN(const LockedFile lock, parent_.lock());
  if (!own_) DL_RETURN_IF_ERROR(take_segment());
  const int64_t share = settings_.budget_bytes < 0 ? kMostReserve : settings_.budget_bytes / 64;
  const int64_t wanted = std::max(bytes, std::clamp(share, kLeastReserve, kMostReserve));
  for (const int64_t more : {wanted, bytes}) {
    DL_ASSIGN_OR_RETURN(const bool fits, parent_.make_room(more, settings_.key));
    if (!fits) continue;
    DL_RETURN_IF_ERROR(own_->set_bytes(reserved_end_ + more));
    reserved_end_ += more;
    return true;
  }
  return false;
}

// The first segment that nobody writes, behind what is kept in it.
Status SampleStore::take_segment() {
  for (uint32_t segment = 1; segment <= kMostStoreSegments; ++segment) {
    DL_ASSIGN_OR_RETURN(const bool taken, take_segment(segment));
    if (taken) return Status::ok();
  }
  return error(Code::kTooManyFiles, directory_.path(), ": ", kMostStoreSegments,
               " files are already being written, the maximum");
}

Result<bool> SampleStore::take_segment(uint32_t segment) {
  Result<std::optional<LockedFile>> opened =
      directory_.open_file(segment_name(segment), LockKind::kAlone, WhenLocked::kGiveUp);
  if (!opened.is_ok() && opened.status().code() == Code::kNotAFile) return false;  // a link, a directory
  if (!opened.is_ok()) return opened.take_status();
  std::optional<LockedFile> file = opened.take();
  if (!file) return false;
  DL_ASSIGN_OR_RETURN(const int64_t bytes, file->bytes());
  const StoreHeader header = store_header(kSegmentMagic, segment, settings_.key);
  if (bytes == 0) {
    DL_RETURN_IF_ERROR(file->write_at(0, header));
  } else {
    StoreHeader found = {};
    const ReadResult read = file->read_at(0, kStoreHeaderBytes, found.data());
    if (read.number != 0) return file_error(file->path(), read.number);
    if (found != header) return false;
  }
  end_ = reserved_end_ = end_of_segment(segment);
  DL_RETURN_IF_ERROR(file->set_bytes(end_));
  own_ = std::move(file);
  own_segment_ = segment;
  return true;
}

int64_t SampleStore::end_of_segment(uint32_t segment) const {
  constexpr int64_t kAtOnce = 4096;
  std::vector<StoreEntry::Stored> piece(kAtOnce);
  int64_t end = kStoreHeaderBytes;
  for (int64_t first = 0; first < settings_.samples; first += kAtOnce) {
    const int64_t count = std::min(kAtOnce, settings_.samples - first);
    const ReadResult read = index_.read_at(kStoreHeaderBytes + first * kStoreEntryBytes,
                                           count * kStoreEntryBytes, piece[0].data());
    for (int64_t i = 0; i < read.bytes / kStoreEntryBytes; ++i) {
      StoreEntry entry;
      if (!entry.load(first + i, piece[static_cast<size_t>(i)], crc_) || entry.segment != segment) continue;
      end = std::max(
          end, static_cast<int64_t>(entry.offset) + round_up(int64_t{entry.bytes}, kStoredSampleAlignment));
    }
  }
  return end;
}

// Once: a damaged file may have many such samples.
void SampleStore::report_damage(const std::string& what) const {
  if (!damage_reported_.exchange(true)) settings_.log(LogLevel::kWarning, concat("option cache: ", what));
}

void SampleStore::stop_filling(const std::string& why) {
  if (full_.exchange(true)) return;
  settings_.log(LogLevel::kWarning,
                concat("option cache: ", settings_.directory, ": stores no more samples: ", why));
}

}  // namespace dataline
