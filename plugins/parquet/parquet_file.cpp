// Opening a Parquet file and decoding its row groups. Over 300 lines: the checks of a footer are one list.
//
// Memory: all that a row group takes while it is decoded, pages and the file's bytes included, comes from a pool of its own
// that refuses more than cache_bytes, so that a page that says it is a terabyte is an error. The pool lives as long as the group.
// SPDX-License-Identifier: Apache-2.0
#include "parquet_file.h"

#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "columns.h"
#include "group_cache.h"
#include "library.h"

namespace dataline_parquet {
namespace {

constexpr int64_t kTailBytes = 8;    // length of the footer, magic
constexpr int64_t kLeastBytes = 12;  // a magic, and the tail
constexpr int64_t kMaxFooterBytes = int64_t{1} << 30;

struct CloseFile {
  void operator()(dl_file* file) const { library.file_destroy(file); }
};
using FileRef = std::shared_ptr<dl_file>;

class LimitedPool final : public arrow::MemoryPool {
 public:
  explicit LimitedPool(int64_t limit) : limit_(limit) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override {
    ARROW_RETURN_NOT_OK(take(size));
    arrow::Status status = under_->Allocate(size, alignment, out);
    if (!status.ok()) give(size);
    return status;
  }
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t** pointer) override {
    ARROW_RETURN_NOT_OK(take(new_size));  // both exist for a moment
    arrow::Status status = under_->Reallocate(old_size, new_size, alignment, pointer);
    give(status.ok() ? old_size : new_size);
    return status;
  }
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override {
    under_->Free(buffer, size, alignment);
    give(size);
  }
  int64_t bytes_allocated() const override { return held_.load(std::memory_order_relaxed); }
  int64_t max_memory() const override { return most_.load(std::memory_order_relaxed); }
  int64_t total_bytes_allocated() const override { return total_.load(std::memory_order_relaxed); }
  int64_t num_allocations() const override { return count_.load(std::memory_order_relaxed); }
  std::string backend_name() const override { return under_->backend_name(); }
  // What was refused last; 0: nothing.
  int64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  arrow::Status take(int64_t size) {
    const int64_t held = held_.load(std::memory_order_relaxed);
    if (size < 0 || size > limit_ - held) {
      refused_.store(size, std::memory_order_relaxed);
      return arrow::Status::OutOfMemory("more than cache_bytes");
    }
    const int64_t now = held_.fetch_add(size, std::memory_order_relaxed) + size;
    if (now > most_.load(std::memory_order_relaxed)) most_.store(now, std::memory_order_relaxed);
    total_.fetch_add(size, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    return arrow::Status::OK();
  }
  void give(int64_t size) { held_.fetch_sub(size, std::memory_order_relaxed); }

  arrow::MemoryPool* const under_ = arrow::default_memory_pool();
  const int64_t limit_;
  std::atomic<int64_t> held_{0}, most_{0}, total_{0}, count_{0}, refused_{0};
};

// The file as Arrow reads it, for one call. What went wrong is kept beside: Arrow's errors have no room for it.
class Input final : public arrow::io::RandomAccessFile {
 public:
  Input(FileRef file, int64_t bytes, const int32_t* cancelled, arrow::MemoryPool* pool)
      : file_(std::move(file)), bytes_(bytes), cancelled_(cancelled), pool_(pool) {}
  ~Input() override = default;

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return at_; }
  arrow::Status Seek(int64_t position) override {
    at_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override { return bytes_; }
  arrow::Result<int64_t> Read(int64_t count, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(at_, count, out));
    at_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> got, ReadAt(at_, count));
    at_ += got->size();
    return got;
  }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t count, void* out) override {
    if (position < 0 || count < 0 || position > bytes_)
      return arrow::Status::Invalid("a read outside of the file");
    count = std::min(count, bytes_ - position);
    if (is_set(cancelled_)) failed_ = failure(DL_CANCELLED, "cancelled");
    if (failed_) return arrow::Status::IOError(failed_.text);
    dl_error error = DL_ERROR_INIT;
    const dl_status code = library.file_read(file_.get(), position, count, out, cancelled_, &error);
    if (code == DL_OK) return count;
    failed_ = failure(code, code < 0 ? error.message : "cancelled");
    return arrow::Status::IOError(failed_.text);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t count) override {
    if (position < 0 || count < 0 || position > bytes_)
      return arrow::Status::Invalid("a read outside of the file");
    count = std::min(count, bytes_ - position);
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(count, pool_));
    ARROW_RETURN_NOT_OK(ReadAt(position, count, buffer->mutable_data()).status());
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  const Failure& failed() const { return failed_; }

 private:
  const FileRef file_;
  const int64_t bytes_;
  const int32_t* const cancelled_;
  arrow::MemoryPool* const pool_;
  int64_t at_ = 0;
  bool closed_ = false;
  Failure failed_;
};

// Calls `body`, which may throw what Arrow, Parquet and the standard library throw.
template <typename Body>
Failure guarded(const std::string& place, const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failure(DL_ERR_NO_MEMORY, place, ": out of memory");
  } catch (const std::exception& thrown) {
    return failure(DL_ERR_CORRUPT, place, ": ", thrown.what());
  } catch (...) {
    return failure(DL_ERR_CORRUPT, place, ": an unknown exception");
  }
}

dl_status code_of(const arrow::Status& status) {
  if (status.IsOutOfMemory()) return DL_ERR_NO_MEMORY;
  if (status.IsNotImplemented()) return DL_ERR_UNSUPPORTED;
  return DL_ERR_CORRUPT;
}

class DecodedGroup final : public Group {
 public:
  DecodedGroup(const Plan& plan, int64_t limit) : pool_(limit), plan_(plan), values_(plan.columns.size()) {}

  int64_t bytes() const override { return pool_.bytes_allocated(); }
  Failure find(size_t field, int64_t row, const uint8_t** data, int64_t* bytes) const override {
    for (const Values& chunk : values_[field]) {
      if (row < chunk.rows()) return chunk.find(plan_.columns[field], row, data, bytes);
      row -= chunk.rows();
    }
    return failure(DL_ERR_CORRUPT, "the row is not there");
  }

  // Takes the chunks of one column of `table`, which has the chosen leaves of one top-level column alone.
  Failure take(size_t field, const std::shared_ptr<arrow::Table>& table, int64_t rows) {
    const PlannedColumn& column = plan_.columns[field];
    if (table->num_columns() != 1)
      return failure(DL_ERR_CORRUPT, "decoding gave ", table->num_columns(), " columns, expected 1");
    int64_t got = 0;
    for (const std::shared_ptr<arrow::Array>& chunk : table->column(0)->chunks()) {
      if (Failure failed = take_chunk(column, chunk, values_[field])) return failed;
      got += chunk->length();
    }
    if (got == rows) return {};
    return failure(DL_ERR_CORRUPT, "its pages hold ", got, " rows, the row group says ", rows);
  }

  LimitedPool& pool() { return pool_; }

 private:
  Failure take_chunk(const PlannedColumn& column, const std::shared_ptr<arrow::Array>& chunk,
                     std::vector<Values>& out) {
    std::shared_ptr<arrow::Array> array = chunk;
    std::vector<uint8_t> valid;  // by row: all structs around it are there
    for (size_t depth = 1; depth < column.below.size(); ++depth) {
      if (array->type_id() != arrow::Type::STRUCT)
        return failure(DL_ERR_CORRUPT, "decoding gave ", array->type()->ToString(), ", expected a struct");
      const auto& around = static_cast<const arrow::StructArray&>(*array);
      if (around.null_count() > 0) {
        valid.resize(static_cast<size_t>(around.length()), 1);
        for (int64_t i = 0; i < around.length(); ++i)
          valid[static_cast<size_t>(i)] &= around.IsNull(i) ? 0 : 1;
      }
      if (column.below[depth] >= around.num_fields())
        return failure(DL_ERR_CORRUPT, "a leaf of its struct is missing");
      array = around.field(column.below[depth]);
    }
    const arrow::Status sound = array->Validate();
    if (!sound.ok()) return failure(DL_ERR_CORRUPT, sound.message());
    out.emplace_back();
    return out.back().make(column, array, valid.empty() ? nullptr : valid.data(), &pool_);
  }

  LimitedPool pool_;  // before what is in it
  const Plan& plan_;  // of the file, which the dataset keeps
  std::vector<std::vector<Values>> values_;
};

class OpenedFile final : public ParquetFile {
 public:
  OpenedFile(std::string path, const FileOptions& options) : path_(std::move(path)), options_(options) {}

  const std::string& path() const override { return path_; }
  const std::vector<PqField>& fields() const override { return fields_; }
  const std::vector<int64_t>& group_rows() const override { return group_rows_; }
  int64_t file_bytes() const override { return bytes_; }

  Failure open(const dl_options* library_options) {
    dl_file* opened = nullptr;
    dl_error error = DL_ERROR_INIT;
    const dl_status code = library.file_open(path_.c_str(), library_options, &opened, &error);
    if (code != DL_OK) return failure(code, error.message);
    file_ = FileRef(opened, CloseFile());
    bytes_ = library.file_bytes(opened);
    if (Failure failed = check_ends()) return failed;
    return guarded(path_, [&] { return read_footer(); });
  }

  Failure decode(int32_t group, const int32_t* cancelled, std::shared_ptr<const Group>* out) const override {
    const std::string place = concat(path_, ": row group ", group);
    return guarded(place, [&]() -> Failure {
      auto made = std::make_shared<DecodedGroup>(plan_, options_.cache_bytes);
      const auto input = std::make_shared<Input>(file_, bytes_, cancelled, &made->pool());
      parquet::ReaderProperties properties(&made->pool());
      properties.set_page_checksum_verification(true);
      parquet::arrow::FileReaderBuilder builder;
      arrow::Status status = builder.Open(input, properties, metadata_);
      std::unique_ptr<parquet::arrow::FileReader> reader;
      if (status.ok())
        status = builder.memory_pool(&made->pool())->properties(arrow_properties())->Build(&reader);
      if (!status.ok()) return explain(place, status, *input, made->pool());
      for (const Plan::Top& top : plan_.tops) {
        const std::string column = concat(place, ": column ", printable(top.name));
        const Failure failed =
            guarded(column, [&] { return decode_column(column, *reader, group, top, *input, *made); });
        if (failed) return failed;
      }
      *out = std::move(made);
      return {};
    });
  }

 private:
  static parquet::ArrowReaderProperties arrow_properties() {
    parquet::ArrowReaderProperties properties(/*use_threads=*/false);
    properties.set_pre_buffer(false);
    return properties;
  }

  Failure decode_column(const std::string& place, parquet::arrow::FileReader& reader, int32_t group,
                        const Plan::Top& top, const Input& input, DecodedGroup& made) const {
    if (is_set_by(input)) return failure(DL_CANCELLED, "cancelled");
    std::shared_ptr<arrow::Table> table;
    const arrow::Status status = reader.ReadRowGroup(group, top.leaves, &table);
    if (!status.ok()) return explain(place, status, input, made.pool());
    for (const size_t field : top.columns) {
      Failure failed = made.take(field, table, group_rows_[static_cast<size_t>(group)]);
      if (failed && failed.code == DL_ERR_TOO_LARGE) return over_budget(place, made.pool());
      if (failed) return failure(failed.code, place, ": ", failed.text);
    }
    return {};
  }

  static bool is_set_by(const Input& input) { return input.failed().code == DL_CANCELLED; }

  Failure explain(const std::string& place, const arrow::Status& status, const Input& input,
                  const LimitedPool& pool) const {
    if (input.failed()) return input.failed();  // names the file and the offset
    if (pool.refused() != 0) return over_budget(place, pool);
    return failure(code_of(status), place, ": ", status.message());
  }

  Failure over_budget(const std::string& place, const LimitedPool& pool) const {
    return failure(DL_ERR_TOO_LARGE, place, ": decoding takes more than cache_bytes=", options_.cache_bytes,
                   " (", pool.refused(), " bytes more were wanted beside ", pool.bytes_allocated(),
                   "); a larger cache_bytes=, fewer columns by fields=, or smaller row groups help");
  }

  Failure read(int64_t offset, int64_t count, void* out) const {
    dl_error error = DL_ERROR_INIT;
    const dl_status code = library.file_read(file_.get(), offset, count, out, nullptr, &error);
    return code == DL_OK ? Failure{} : failure(code, error.message);
  }

  // Magics and the length of the footer.
  Failure check_ends() {
    if (bytes_ == 0)
      return failure(DL_ERR_TRUNCATED, path_, ": offset 0: the file is empty, expected a Parquet file");
    if (bytes_ < kLeastBytes) {
      return failure(DL_ERR_TRUNCATED, path_, ": offset ", bytes_, ": the file ends, expected at least ",
                     kLeastBytes, " bytes of a Parquet file");
    }
    char head[4], tail[kTailBytes];
    if (Failure failed = read(0, sizeof head, head)) return failed;
    if (Failure failed = read(bytes_ - kTailBytes, kTailBytes, tail)) return failed;
    if (std::memcmp(head, "PARE", 4) == 0 || std::memcmp(tail + 4, "PARE", 4) == 0)
      return failure(DL_ERR_UNSUPPORTED, path_,
                     ": an encrypted Parquet file (magic PARE), which is not read");
    if (std::memcmp(head, "PAR1", 4) != 0)
      return failure(DL_ERR_CORRUPT, path_, ": offset 0: no Parquet file: expected PAR1, got ",
                     magic_text(head));
    if (std::memcmp(tail + 4, "PAR1", 4) != 0) {
      return failure(DL_ERR_TRUNCATED, path_, ": offset ", bytes_ - 4, ": expected the closing PAR1, got ",
                     magic_text(tail + 4), " (the file was cut, or is still being written)");
    }
    uint32_t length = 0;
    for (int i = 3; i >= 0; --i) length = length << 8 | static_cast<uint8_t>(tail[i]);
    footer_ = bytes_ - kTailBytes - static_cast<int64_t>(length);
    if (length > 0 && footer_ >= 4 && length <= kMaxFooterBytes) return {};
    return failure(DL_ERR_CORRUPT, path_, ": offset ", bytes_ - kTailBytes, ": a footer of ", length,
                   " bytes, expected 1 to ", std::min(bytes_ - kLeastBytes, kMaxFooterBytes));
  }

  static std::string magic_text(const char* magic) { return printable(std::string(magic, 4)); }

  Failure read_footer() {
    const std::string place = concat(path_, ": offset ", footer_, ": the footer");
    const auto input = std::make_shared<Input>(file_, bytes_, nullptr, arrow::default_memory_pool());
    Failure failed = guarded(place, [&]() -> Failure {
      metadata_ = parquet::ReadMetaData(input);
      return {};
    });
    if (failed) return input->failed() ? input->failed() : failed;
    if (metadata_->is_encryption_algorithm_set())
      return failure(DL_ERR_UNSUPPORTED, path_,
                     ": an encrypted Parquet file with a plain footer, which is not read");
    parquet::arrow::SchemaManifest manifest;
    const arrow::Status status = parquet::arrow::SchemaManifest::Make(
        metadata_->schema(), metadata_->key_value_metadata(), arrow_properties(), &manifest);
    if (!status.ok()) return failure(code_of(status), place, ": ", status.message());
    if (Failure bad = plan_columns(path_, manifest.schema_fields, options_, &plan_)) return bad;
    for (const PlannedColumn& column : plan_.columns) fields_.push_back(column.field);
    return check_groups(place);
  }

  Failure check_groups(const std::string& place) {
    int64_t rows = 0;
    for (int group = 0; group < metadata_->num_row_groups(); ++group) {
      const auto made = metadata_->RowGroup(group);
      const int64_t here = made->num_rows();
      if (here < 0 || here > INT64_MAX - rows)
        return failure(DL_ERR_CORRUPT, place, ": row group ", group, " has ", here, " rows");
      rows += here;
      group_rows_.push_back(here);
      for (const Plan::Top& top : plan_.tops) {
        for (const int leaf : top.leaves) {
          if (Failure failed = check_chunk(place, group, *made, top, leaf)) return failed;
        }
      }
    }
    if (rows == metadata_->num_rows()) return {};
    return failure(DL_ERR_CORRUPT, place, ": the file has ", metadata_->num_rows(), " rows, its row groups ",
                   rows);
  }

  // Where the pages of a column lie, and that this build of Arrow can inflate them.
  Failure check_chunk(const std::string& footer, int group, const parquet::RowGroupMetaData& made,
                      const Plan::Top& top, int leaf) const {
    const std::string place = concat(footer, ": row group ", group, ": column ", printable(top.name));
    if (leaf >= made.num_columns())
      return failure(DL_ERR_CORRUPT, place, ": not there, the row group has ", made.num_columns(),
                     " columns");
    const auto chunk = made.ColumnChunk(leaf);
    int64_t start = chunk->data_page_offset();
    if (chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0)
      start = std::min(start, chunk->dictionary_page_offset());
    const int64_t size = chunk->total_compressed_size();
    if (start < 4 || size < 0 || start > footer_ || size > footer_ - start) {
      return failure(DL_ERR_CORRUPT, place, ": its pages lie at ", start, ", ", size,
                     " bytes, expected within 4 to ", footer_);
    }
    if (chunk->num_values() < 0)
      return failure(DL_ERR_CORRUPT, place, " has ", chunk->num_values(), " values");
    const bool flat = metadata_->schema()->Column(leaf)->max_repetition_level() == 0;
    if (flat && chunk->num_values() != made.num_rows()) {
      return failure(DL_ERR_CORRUPT, place, " has ", chunk->num_values(), " values, the row group ",
                     made.num_rows(), " rows");
    }
    if (arrow::util::Codec::IsAvailable(chunk->compression())) return {};
    return failure(DL_ERR_UNSUPPORTED, place, " is compressed with ",
                   arrow::util::Codec::GetCodecAsString(chunk->compression()),
                   ", which this build of Arrow cannot read");
  }

  const std::string path_;
  const FileOptions options_;
  FileRef file_;
  int64_t bytes_ = 0, footer_ = 0;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  Plan plan_;
  std::vector<PqField> fields_;
  std::vector<int64_t> group_rows_;
};

}  // namespace

Failure ParquetFile::open(const std::string& path, const FileOptions& options,
                          const dl_options* library_options, std::shared_ptr<const ParquetFile>* out) {
  auto made = std::make_shared<OpenedFile>(path, options);
  if (Failure failed = made->open(library_options)) return failed;
  *out = std::move(made);
  return {};
}

}  // namespace dataline_parquet
