// SPDX-License-Identifier: Apache-2.0
#include "core/write/parquet/parquet_footer.h"

#include <array>
#include <cstring>
#include <utility>

#include "core/write/arrow/arrow_messages.h"

namespace dataline {
namespace {

// Numbers of parquet.thrift.
constexpr int32_t kFooterVersion = 1;  // which all readers take, says the format
constexpr int32_t kUncompressed = 0, kZstdPages = 6, kLz4RawPages = 7;
constexpr int32_t kPlainPages = 0, kRleLevels = 3, kIndexedPages = 8;

// The schema as a message of an Arrow stream: a mark, its length, itself, padded to 8.
std::string arrow_schema_text(const std::vector<Field>& fields) {
  std::vector<std::byte> schema = arrow_schema_message(fields);
  schema.resize((schema.size() + 7) / 8 * 8);
  const std::array<uint32_t, 2> frame = {0xFFFFFFFF, static_cast<uint32_t>(schema.size())};
  const Bytes head = std::as_bytes(std::span(frame));
  schema.insert(schema.begin(), head.begin(), head.end());
  return base64_text(schema);
}

void put_range(ThriftWriter& out, ParquetType type, const ParquetRange& range) {
  for (const auto& [field, value] : {std::pair(5, range.most), std::pair(6, range.least)}) {
    std::array<char, 8> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    out.text(field, {bytes.data(), type == ParquetType::kInt32 ? size_t{4} : size_t{8}});
  }
  out.boolean(7, true);  // these very values are there
  out.boolean(8, true);
}

void put_column_chunk(ThriftWriter& out, const Field& field, const ParquetChunk& chunk, WriteCodec codec) {
  const ParquetColumnType type = parquet_column_type(field);
  out.begin_item();
  out.i64(2, 0);  // of metadata that stands beside the pages too: none does
  out.begin(3);
  out.i32(1, static_cast<int32_t>(type.type));
  out.list(2, ThriftWriter::Element::kI32, type.indexed ? 3 : 2);
  out.item(kPlainPages);
  out.item(kRleLevels);
  if (type.indexed) out.item(kIndexedPages);
  put_parquet_path(out, 3, field);
  out.i32(4, codec == WriteCodec::kNone  ? kUncompressed
             : codec == WriteCodec::kLz4 ? kLz4RawPages
                                         : kZstdPages);
  out.i64(5, chunk.values);
  out.i64(6, chunk.plain_bytes);
  out.i64(7, chunk.bytes);
  out.i64(9, chunk.offset + chunk.dictionary_bytes);
  if (type.indexed) out.i64(11, chunk.offset);
  if (type.lists.empty()) {
    out.begin(12);
    out.i64(3, 0);  // nulls; whether an empty list counts as one, writers do not agree
    if (chunk.range.known) put_range(out, type.type, chunk.range);
    out.end();
  }
  out.end();
  out.end();
}

void put_row_group(ThriftWriter& out, const std::vector<Field>& fields, const ParquetGroup& group,
                   WriteCodec codec) {
  int64_t bytes = 0, plain_bytes = 0;
  for (const ParquetChunk& chunk : group.chunks) {
    bytes += chunk.bytes;
    plain_bytes += chunk.plain_bytes;
  }
  out.begin_item();
  out.list(1, ThriftWriter::Element::kStruct, group.chunks.size());
  for (size_t f = 0; f < fields.size(); ++f) put_column_chunk(out, fields[f], group.chunks[f], codec);
  out.i64(2, plain_bytes);
  out.i64(3, group.rows);
  out.i64(5, group.chunks.front().offset);
  out.i64(6, bytes);
  out.end();
}

}  // namespace

ThriftWriter parquet_footer(const std::vector<Field>& fields, const std::vector<ParquetGroup>& groups,
                            WriteCodec codec) {
  ThriftWriter out;
  int64_t rows = 0;
  for (const ParquetGroup& group : groups) rows += group.rows;
  out.i32(1, kFooterVersion);
  put_parquet_schema(out, 2, fields);
  out.i64(3, rows);
  out.list(4, ThriftWriter::Element::kStruct, groups.size());
  for (const ParquetGroup& group : groups) put_row_group(out, fields, group, codec);
  out.list(5, ThriftWriter::Element::kStruct, 1);
  out.begin_item();
  out.text(1, "ARROW:schema");
  out.text(2, arrow_schema_text(fields));
  out.end();
  // In the form that readers parse. The version is that of what is written, not of the library: the same rows are the same bytes in each.
  out.text(6, "dataline version 1 (build 0)");
  // Least and largest are by the type of each column.
  out.list(7, ThriftWriter::Element::kStruct, fields.size());
  for (size_t f = 0; f < fields.size(); ++f) {
    out.begin_item();
    out.empty(1);
    out.end();
  }
  out.end();
  return out;
}

std::string base64_text(Bytes bytes) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<uint32_t>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) out += at + i > bytes.size() ? '=' : kLetters[three >> (18 - 6 * i) & 63];
  }
  return out;
}

}  // namespace dataline
