// Opening a Parquet file and decoding its row groups. Over 300 lines: the checks of a footer are one list.
//
// Memory: all that a row group takes while it is decoded, pages and the file's bytes included, comes from a pool of its own
// that refuses more than cache_bytes, so that a page that says it is a terabyte is an error. The pool lives as long as the group.
// SPDX-License-Identifier: Apache-2.0
#include "parquet_file.h"

#include <arrow/api.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "arrow_input.h"
#include "columns.h"
#include "decoded_group.h"
#include "library.h"
#include "types.h"

namespace dataline_parquet {
namespace {

constexpr int64_t kTailBytes = 8;    // length of the footer, magic
constexpr int64_t kLeastBytes = 12;  // a magic, and the tail
constexpr int64_t kMaxFooterBytes = int64_t{1} << 30;

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

// Arrow's calls that differ between releases, selected by what the headers declare: 15 to 23 return a row group by pointer,
// later releases return a Result; 26 accepts the footer's length by value, earlier ones a pointer to 32 bits.
template <typename Reader>
arrow::Status read_row_group(Reader& reader, int group, const std::vector<int>& leaves,
                             std::shared_ptr<arrow::Table>* out) {
  if constexpr (requires { reader.ReadRowGroup(group, leaves).Value(out); }) {
    return reader.ReadRowGroup(group, leaves).Value(out);
  } else {
    return reader.ReadRowGroup(group, leaves, out);
  }
}

template <typename Metadata>
std::shared_ptr<Metadata> parse_footer(const std::vector<uint8_t>& bytes) {
  const auto count = static_cast<int64_t>(bytes.size());
  if constexpr (requires { Metadata::Make(bytes.data(), count); }) {
    return Metadata::Make(bytes.data(), count);
  } else {
    auto length = static_cast<uint32_t>(count);  // at most kMaxFooterBytes
    return Metadata::Make(bytes.data(), &length);
  }
}

class OpenedFile final : public ParquetFile {
 public:
  OpenedFile(std::string path, const FileOptions& options) : path_(std::move(path)), options_(options) {}

  const std::string& path() const override { return path_; }
  const std::vector<PqField>& fields() const override { return fields_; }
  const std::vector<int64_t>& group_rows() const override { return group_rows_; }
  const std::vector<int64_t>& group_bytes() const override { return group_bytes_; }
  int64_t file_bytes() const override { return bytes_; }

  Failure open(const dl_options* library_options) {
    if (Failure failed = open_file(library_options, kept_)) return failed;
    bytes_ = library.file_bytes(kept_.file.get());
    Failure failed = guarded(path_, [&]() -> Failure {
      if (Failure bad = check_ends()) return bad;
      if (Failure bad = read_footer(kept_, footer_hash_)) return bad;
      return look_at_footer();
    });
    if (!options_.kept_open) kept_ = Opened();
    return failed;
  }

  Failure decode(int32_t group, const int32_t* cancelled, std::shared_ptr<const Group>* out) const override {
    const std::string place = concat(path_, ": row group ", group);
    return guarded(place, [&]() -> Failure {
      Opened again;
      if (!options_.kept_open) {
        if (Failure failed = open_again(again)) return failed;
      }
      const Opened& opened = options_.kept_open ? kept_ : again;
      auto made = std::make_shared<DecodedGroup>(plan_, options_.cache_bytes);
      const auto input = std::make_shared<Input>(opened.file, bytes_, cancelled, &made->pool());
      parquet::ReaderProperties properties(&made->pool());
      properties.set_page_checksum_verification(true);
      parquet::arrow::FileReaderBuilder builder;
      arrow::Status status = builder.Open(input, properties, opened.metadata);
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
  struct Opened {
    FileRef file;
    std::shared_ptr<parquet::FileMetaData> metadata;
  };

  Failure open_file(const dl_options* library_options, Opened& opened) const {
    dl_file* file = nullptr;
    dl_error error = DL_ERROR_INIT;
    const dl_status code = library.file_open(path_.c_str(), library_options, &file, &error);
    if (code != DL_OK) return failure(code, code < 0 ? error.message : "cancelled");
    opened.file = FileRef(file, CloseFile());
    return {};
  }

  Failure open_again(Opened& opened) const {
    if (Failure failed = open_file(options_.library_options.get(), opened)) return failed;
    const int64_t bytes = library.file_bytes(opened.file.get());
    if (bytes != bytes_) {
      return failure(DL_ERR_CHANGED, path_, ": ", bytes, " bytes, ", bytes_,
                     " when the dataset was opened: the file has changed");
    }
    uint64_t hash = 0;
    if (Failure failed = read_footer(opened, hash)) return failed;
    if (hash == footer_hash_) return {};
    return failure(DL_ERR_CHANGED, path_,
                   ": another footer than when the dataset was opened: the file has changed");
  }

  static parquet::ArrowReaderProperties arrow_properties() {
    parquet::ArrowReaderProperties properties(/*use_threads=*/false);
    properties.set_pre_buffer(false);
    return properties;
  }

  Failure decode_column(const std::string& place, parquet::arrow::FileReader& reader, int32_t group,
                        const Plan::Top& top, const Input& input, DecodedGroup& made) const {
    if (is_set_by(input)) return failure(DL_CANCELLED, "cancelled");
    std::shared_ptr<arrow::Table> table;
    const arrow::Status status = read_row_group(reader, group, top.leaves, &table);
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
    if (status.message().rfind("Expected all lists to be of size", 0) == 0) {
      return failure(DL_ERR_UNSUPPORTED, place, ": a null among fixed-size lists, which Arrow ",
                     ARROW_VERSION_STRING, " cannot read: build the plug-in with a later release of Arrow (",
                     status.message(), ")");
    }
    return failure(code_of(status), place, ": ", status.message());
  }

  Failure over_budget(const std::string& place, const LimitedPool& pool) const {
    return failure(
        DL_ERR_TOO_LARGE, place, ": decoding needs more than cache_bytes=", options_.cache_bytes, " (",
        pool.refused(), " bytes more than the ", pool.refused_beside(),
        " in use); raise cache_bytes=, choose fewer columns with fields=, or write smaller row groups");
  }

  static Failure read(const dl_file& file, int64_t offset, int64_t count, void* out) {
    dl_error error = DL_ERROR_INIT;
    const dl_status code = library.file_read(&file, offset, count, out, nullptr, &error);
    return code == DL_OK ? Failure{} : failure(code, error.message);
  }

  // Magics and the length of the footer.
  Failure check_ends() {
    if (bytes_ == 0)
      return failure(DL_ERR_EMPTY, path_, ": offset 0: the file is empty, expected a Parquet file");
    if (bytes_ < kLeastBytes) {
      return failure(DL_ERR_TRUNCATED, path_, ": offset ", bytes_, ": the file ends, expected at least ",
                     kLeastBytes, " bytes of a Parquet file");
    }
    char head[4], tail[kTailBytes];
    if (Failure failed = read(*kept_.file, 0, sizeof head, head)) return failed;
    if (Failure failed = read(*kept_.file, bytes_ - kTailBytes, kTailBytes, tail)) return failed;
    if (std::memcmp(head, "PARE", 4) == 0 || std::memcmp(tail + 4, "PARE", 4) == 0)
      return failure(DL_ERR_UNSUPPORTED, path_,
                     ": an encrypted Parquet file (magic PARE), which is not supported");
    if (std::memcmp(head, "PAR1", 4) != 0)
      return failure(DL_ERR_CORRUPT, path_, ": offset 0: not a Parquet file: expected PAR1, got ",
                     magic_text(head));
    if (std::memcmp(tail + 4, "PAR1", 4) != 0) {
      return failure(DL_ERR_TRUNCATED, path_, ": offset ", bytes_ - 4, ": expected the closing PAR1, got ",
                     magic_text(tail + 4), " (the file is truncated, or is still being written)");
    }
    uint32_t length = 0;
    for (int i = 3; i >= 0; --i) length = length << 8 | static_cast<uint8_t>(tail[i]);
    footer_ = bytes_ - kTailBytes - static_cast<int64_t>(length);
    if (length > 0 && footer_ >= 4 && length <= kMaxFooterBytes) return {};
    return failure(DL_ERR_CORRUPT, path_, ": offset ", bytes_ - kTailBytes, ": a footer of ", length,
                   " bytes, expected 1 to ", std::min(bytes_ - kLeastBytes, kMaxFooterBytes));
  }

  static std::string magic_text(const char* magic) { return printable(std::string(magic, 4)); }

  std::string footer_place() const { return concat(path_, ": offset ", footer_, ": the footer"); }

  Failure read_footer(Opened& opened, uint64_t& hash) const {
    std::vector<uint8_t> bytes(static_cast<size_t>(bytes_ - kTailBytes - footer_));
    const auto count = static_cast<int64_t>(bytes.size());
    if (Failure failed = read(*opened.file, footer_, count, bytes.data())) return failed;
    hash = 0xcbf29ce484222325;
    for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return guarded(footer_place(), [&]() -> Failure {
      opened.metadata = parse_footer<parquet::FileMetaData>(bytes);
      return {};
    });
  }

  Failure look_at_footer() {
    const std::string place = footer_place();
    const parquet::FileMetaData& metadata = *kept_.metadata;
    if (metadata.is_encryption_algorithm_set())
      return failure(DL_ERR_UNSUPPORTED, path_,
                     ": an encrypted Parquet file with a plain footer, which is not supported");
    parquet::arrow::SchemaManifest manifest;
    const arrow::Status status = parquet::arrow::SchemaManifest::Make(
        metadata.schema(), metadata.key_value_metadata(), arrow_properties(), &manifest);
    if (!status.ok()) return failure(code_of(status), place, ": ", status.message());
    if (Failure bad = plan_columns(path_, manifest.schema_fields, options_, &plan_)) return bad;
    for (const PlannedColumn& column : plan_.columns) fields_.push_back(column.field);
    return check_groups(place);
  }

  Failure check_groups(const std::string& place) {
    int64_t rows = 0;
    for (int group = 0; group < kept_.metadata->num_row_groups(); ++group) {
      const auto made = kept_.metadata->RowGroup(group);
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
      if (Failure failed = check_size(place, group, *made)) return failed;
    }
    if (rows == kept_.metadata->num_rows()) return {};
    return failure(DL_ERR_CORRUPT, place, ": the file has ", kept_.metadata->num_rows(),
                   " rows, its row groups ", rows);
  }

  const parquet::schema::Node* metadata_node(int leaf) const {
    return kept_.metadata->schema()->Column(leaf)->schema_node().get();
  }

  // Where the pages of a column lie, and that this build of Arrow can inflate them.
  Failure check_chunk(const std::string& footer, int group, const parquet::RowGroupMetaData& made,
                      const Plan::Top& top, int leaf) const {
    const std::string place = concat(footer, ": row group ", group, ": column ", printable(top.name));
    if (leaf >= made.num_columns())
      return failure(DL_ERR_CORRUPT, place, ": missing, the row group has ", made.num_columns(), " columns");
    const auto chunk = made.ColumnChunk(leaf);
    if (!chunk->file_path().empty())
      return failure(DL_ERR_UNSUPPORTED, place, ": its pages are in a file of another name, ",
                     printable(chunk->file_path()), ", which is not supported");
    // It may have no data page: Arrow C++ writes 0 as its offset.
    if (made.num_rows() == 0 && chunk->num_values() == 0) return {};
    int64_t start = chunk->data_page_offset();
    if (chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0)
      start = std::min(start, chunk->dictionary_page_offset());
    const int64_t size = chunk->total_compressed_size();
    if (start < 4 || size < 0 || start > footer_ || size > footer_ - start) {
      return failure(DL_ERR_CORRUPT, place, ": its pages are at ", start, ", ", size,
                     " bytes, expected within 4 to ", footer_);
    }
    if (chunk->num_values() < 0)
      return failure(DL_ERR_CORRUPT, place, " has ", chunk->num_values(), " values");
    const bool flat = kept_.metadata->schema()->Column(leaf)->max_repetition_level() == 0;
    if (flat && chunk->num_values() != made.num_rows()) {
      return failure(DL_ERR_CORRUPT, place, " has ", chunk->num_values(), " values, the row group ",
                     made.num_rows(), " rows");
    }
    for (const auto* node = metadata_node(leaf); node != nullptr; node = node->parent()) {
      if (node->repetition() == parquet::Repetition::UNDEFINED)
        return failure(DL_ERR_CORRUPT, place,
                       ": an unknown repetition, expected required, optional or repeated");
    }
    // Arrow takes a codec that it does not know for none.
    if (chunk->compression() == parquet::Compression::UNCOMPRESSED &&
        size < chunk->total_uncompressed_size()) {
      return failure(DL_ERR_UNSUPPORTED, place, ": ", size, " bytes hold ", chunk->total_uncompressed_size(),
                     ", but it is not compressed: a codec that this build of Arrow does not know");
    }
    if (arrow::util::Codec::IsAvailable(chunk->compression())) return {};
    return failure(DL_ERR_UNSUPPORTED, place, " is compressed with ",
                   arrow::util::Codec::GetCodecAsString(chunk->compression()),
                   ", which this build of Arrow cannot read");
  }

  // What a row group takes when it is decoded: of fields of one size that is certain, of others what their pages hold.
  Failure check_size(const std::string& footer, int group, const parquet::RowGroupMetaData& made) {
    constexpr int64_t kTextBytes = 20;  // an offset, and a guess of what stands in a dictionary
    int64_t least = 0, texts = 0;
    const auto add = [&least](int64_t count, int64_t each) {
      int64_t bytes = 0;
      if (__builtin_mul_overflow(count, each, &bytes) || __builtin_add_overflow(least, bytes, &least))
        least = INT64_MAX;
    };
    for (const PlannedColumn& column : plan_.columns) {
      if (column.field.ragged) {
        for (const int leaf : column.leaves)
          add(1, std::max<int64_t>(made.ColumnChunk(leaf)->total_uncompressed_size(), 0));
        ++texts;
      } else {
        add(made.num_rows(), column.field.unit_bytes);
      }
    }
    if (least > options_.cache_bytes) {
      return failure(DL_ERR_TOO_LARGE, footer, ": row group ", group, " of ", made.num_rows(), " rows takes ",
                     least, " bytes when decoded, more than cache_bytes=", options_.cache_bytes,
                     "; raise cache_bytes=, choose fewer columns with fields=, or write smaller row groups");
    }
    for (int64_t i = 0; i < texts; ++i) add(made.num_rows(), kTextBytes);
    group_bytes_.push_back(least);
    return {};
  }

  const std::string path_;
  const FileOptions options_;
  Opened kept_;
  int64_t bytes_ = 0, footer_ = 0;
  uint64_t footer_hash_ = 0;
  Plan plan_;
  std::vector<PqField> fields_;
  std::vector<int64_t> group_rows_, group_bytes_;
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
