// SPDX-License-Identifier: Apache-2.0
#include "core/loader/aspect.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/base/thread_mutex.h"
#include "core/loader/pipeline.h"
#include "core/memory/machine_limits.h"
#include "core/transform/decode/image_header.h"

namespace dataline {
namespace {

constexpr int64_t kRecordsAtOnce = 64;
constexpr int64_t kHeaderScratchBytes = int64_t{1} << 20;  // of one thread, beyond one record
constexpr int64_t kMaxHeaderThreads = 16;                  // that wait for storage
// Enough for almost every header; where Exif blocks and profiles before it are longer, the whole record is read.
constexpr int64_t kHeadBytes = int64_t{64} << 10;
constexpr int64_t kProgressNs = 500'000'000;

// The bytes themselves are wrong, and will be the next time.
bool is_of_content(const Status& status) {
  switch (status.code()) {
    case Code::kCorrupt:
    case Code::kTruncated:
    case Code::kUnsupported:
    case Code::kTooLarge:
      return true;
    default:
      return false;
  }
}

// What one thread reads with.
class HeaderReader {
 public:
  static Result<HeaderReader> create(const ShapeRequest& request) {
    HeaderReader reader;
    const int64_t record = request.source->scratch_bytes(request.max_bytes_per_sample);
    reader.records_ =
        std::clamp<int64_t>(record > 0 ? kHeaderScratchBytes / record : kRecordsAtOnce, 1, kRecordsAtOnce);
    const std::optional<int64_t> bytes = checked_multiply(record, reader.records_);
    if (!bytes) return error(Code::kOverBudget, "option bucket_by: a record does not fit in memory");
    // Fresh pages, zeroed as sources require: those that no record touches use no memory.
    DL_ASSIGN_OR_RETURN(reader.scratch_, request.memory->allocate(*bytes, 64, MemoryKind::kData,
                                                                  "reading the headers of images"));
    if (request.memory->table().allocate != nullptr)
      std::fill_n(reader.scratch_.data(), reader.scratch_.bytes(), std::byte{0});
    reader.memory_ = std::make_unique<RunMemory>(*request.source, reader.records_, reader.scratch_.data());
    Run& run = reader.memory_->run;
    run.max_bytes_per_sample = request.max_bytes_per_sample;
    if (request.token != nullptr) run.cancelled = &request.token->flag();
    return reader;
  }

  int64_t records() const { return records_; }
  RunMemory& memory() { return *memory_; }

  void locate(const Source& source, int64_t first, int64_t count, int64_t head_bytes) {
    std::iota(indices_.begin(), indices_.begin() + count, first);
    Run& run = memory_->run;
    run.indices = indices_.data();
    run.count = count;
    run.contiguous = true;
    run.head_bytes = head_bytes;
    run.opened_ns = monotonic_ns();
    memory_->locate(source);
  }

 private:
  HeaderReader() = default;

  int64_t records_ = 1;
  Block scratch_;
  std::unique_ptr<RunMemory> memory_;
  std::vector<int64_t> indices_ = std::vector<int64_t>(static_cast<size_t>(kRecordsAtOnce));
};

class ShapeReading {
 public:
  ShapeReading(const ShapeRequest& request, std::span<StoredSize> sizes, std::span<uint16_t> shape_of)
      : request_(request),
        source_(*request.source),
        place_(source_.schema().places[request.field]),
        sizes_(sizes),
        shape_of_(shape_of) {}

  Status run() {
    const int64_t pieces = (source_.count() + kRecordsAtOnce - 1) / kRecordsAtOnce;
    // A host's reader may not expect to be called from threads that nobody told it of.
    const int64_t wanted = source_.facts().host_calls != HostCalls::kNone
                               ? 1
                               : std::min<int64_t>({2 * available_cpus(), pieces, kMaxHeaderThreads});
    // First, so that the helpers do not take its memory.
    DL_ASSIGN_OR_RETURN(HeaderReader reader, HeaderReader::create(request_));
    run_in_threads("dl-headers", wanted, [&](bool here) { here ? work(reader, /*reports=*/true) : help(); });
    if (refused_ != nullptr) std::rethrow_exception(refused_);
    if (cancelled()) return {Code::kCancelled, ""};
    ThreadLock lock(mutex_);
    if (!failure_.is_ok()) return failure_;
    if (unreadable_ > 0) place_unreadable();
    return Status::ok();
  }

 private:
  bool cancelled() const { return request_.token != nullptr && request_.token->cancelled(); }

  // One thread more, if there is memory for it.
  void help() noexcept {
    try {
      Result<HeaderReader> reader = HeaderReader::create(request_);
      if (reader.is_ok()) work(reader.value(), /*reports=*/false);
    } catch (const std::bad_alloc&) {  // the others do its work
    }
  }

  void work(HeaderReader& reader, bool reports) noexcept {
    try {
      int64_t told_ns = monotonic_ns();
      while (!stop_.load() && !cancelled()) {
        // Relaxed: a ticket; what is written is published by the joins.
        const int64_t first = next_.fetch_add(kRecordsAtOnce, std::memory_order_relaxed);
        if (first >= source_.count()) return;
        read_piece(reader, first, std::min(source_.count(), first + kRecordsAtOnce));
        if (!reports || monotonic_ns() - told_ns < kProgressNs) continue;
        told_ns = monotonic_ns();
        request_.log(LogLevel::kProgress,
                     concat("reading headers of images: ", first, " of ", source_.count()));
      }
    } catch (...) {  // memory is all that can run out here
      if (!out_of_memory_.exchange(true)) refused_ = std::current_exception();
      stop_.store(true);
    }
  }

  void read_piece(HeaderReader& reader, int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end && !stop_.load(); first += reader.records()) {
      const int64_t count = std::min(reader.records(), end - first);
      const ReturnLoans once_read(reader.memory().loans);
      reader.locate(source_, first, count, kHeadBytes);
      std::vector<int64_t> whole;  // to be read once more
      for (const RowError& failed : reader.memory().errors.all()) refuse(first + failed.row, failed.status);
      for (int64_t row = 0; row < count; ++row) {
        if (!take(reader, row, first + row, /*head=*/true)) whole.push_back(first + row);
      }
      for (const int64_t sample : whole) {
        reader.locate(source_, sample, 1, 0);
        if (!reader.memory().errors.empty()) refuse(sample, reader.memory().errors.all().front().status);
        take(reader, 0, sample, /*head=*/false);
      }
    }
  }

  // False if the row's first bytes do not tell.
  bool take(HeaderReader& reader, int64_t row, int64_t sample, bool head) {
    const Run::ColumnRows& column = reader.memory().run.columns[place_.column];
    const std::byte* const data = column.data[row];
    if (data == nullptr) return true;  // refused
    const int64_t bytes = column.bytes[row];
    const bool cut = head && bytes == kHeadBytes;
    Result<ImageHeader> header = read_image_header(Bytes(data + place_.offset, static_cast<size_t>(bytes)));
    // Of a JPEG the orientation lies before the size, of others it may be the last thing in the file.
    const bool later = request_.upright && header.is_ok() && header.value().format != ImageFormat::kJpeg;
    if (cut && (!header.is_ok() || later)) return false;
    if (!header.is_ok()) {
      const auto number = static_cast<size_t>(place_.column);
      refuse(sample, header.take_status().in(place_text(source_.place_of(sample, number))));
      return true;
    }
    set(sample, header.value());
    return true;
  }

  void set(int64_t sample, const ImageHeader& header) {
    int64_t height = header.height, width = header.width;
    if (request_.upright && header.orientation > 4) std::swap(height, width);
    const auto at = static_cast<size_t>(sample);
    sizes_[at] = {static_cast<int32_t>(height), static_cast<int32_t>(width)};
    shape_of_[at] = static_cast<uint16_t>(nearest_shape(height, width, request_.shapes));
  }

  void refuse(int64_t sample, const Status& status) {
    if (!is_of_content(status)) return fail(sample, status);
    const auto at = static_cast<size_t>(sample);
    sizes_[at] = {};
    shape_of_[at] = 0;
    ThreadLock lock(mutex_);
    ++unreadable_;
    if (sample > first_unreadable_) return;
    first_unreadable_ = sample;
    why_ = status;
  }

  // Of several failures that of the first sample is told.
  void fail(int64_t sample, Status status) {
    stop_.store(true);
    ThreadLock lock(mutex_);
    if (!failure_.is_ok() && failed_ <= sample) return;
    failed_ = sample;
    failure_ = std::move(status).in(concat("sample ", sample)).with_sample(sample);
  }

  // In the shape that most have, the first of equal ones, so that others can stand in for them; the same on every rank.
  void place_unreadable() DL_REQUIRES(mutex_) {
    std::vector<int64_t> images(request_.shapes.size(), 0);
    for (size_t i = 0; i < sizes_.size(); ++i) images[shape_of_[i]] += sizes_[i].height > 0 ? 1 : 0;
    const auto most = static_cast<size_t>(std::max_element(images.begin(), images.end()) - images.begin());
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i].height == 0) shape_of_[i] = static_cast<uint16_t>(most);
    }
    request_.log(LogLevel::kWarning,
                 concat(unreadable_, " of ", source_.count(),
                        " images have no readable header and are bad samples of the most common shape, ",
                        picture_size(request_.shapes[most].height, request_.shapes[most].width), ": sample ",
                        first_unreadable_, ": ", why_.text()));
  }

  const ShapeRequest& request_;
  const Source& source_;
  const FieldPlace place_;
  std::span<StoredSize> sizes_;
  std::span<uint16_t> shape_of_;
  Atomic<int64_t> next_{0};
  Atomic<bool> stop_{false}, out_of_memory_{false};
  std::exception_ptr refused_;  // of the first thread without memory; read after the joins
  ThreadMutex mutex_;
  int64_t unreadable_ DL_GUARDED_BY(mutex_) = 0;
  int64_t first_unreadable_ DL_GUARDED_BY(mutex_) = std::numeric_limits<int64_t>::max();
  int64_t failed_ DL_GUARDED_BY(mutex_) = 0;
  Status why_ DL_GUARDED_BY(mutex_), failure_ DL_GUARDED_BY(mutex_);
};

}  // namespace

Status read_shapes(const ShapeRequest& request, std::span<StoredSize> sizes, std::span<uint16_t> shape_of) {
  return ShapeReading(request, sizes, shape_of).run();
}

}  // namespace dataline
