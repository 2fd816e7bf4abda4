// Parquet files as far as the writer writes them, read from the description of the format alone: a footer by its numbers, pages with
// their checksums, and rows put together from levels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dataline::tests {

// A value of Thrift's compact protocol: a number, a text, a list, or a struct by the numbers of its fields.
struct ThriftValue {
  int64_t number = 0;
  std::string text = {};
  std::vector<ThriftValue> list = {};
  std::map<int, ThriftValue> fields = {};

  bool has(int field) const { return fields.count(field) != 0; }
  const ThriftValue& at(int field) const { return fields.at(field); }
  int64_t num(int field) const { return fields.at(field).number; }
};

class ThriftReader {
 public:
  ThriftReader(const std::string& bytes, size_t at) : bytes_(bytes), at_(at) {}

  ThriftValue structure() {
    ThriftValue out;
    int field = 0;
    for (uint8_t head = byte(); head != 0; head = byte()) {
      field = (head >> 4) != 0 ? field + (head >> 4) : static_cast<int>(zigzag());
      out.fields[field] = value(head & 15);
    }
    return out;
  }
  size_t at() const { return at_; }
  uint64_t varint() {
    uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t next = byte();
      out |= static_cast<uint64_t>(next & 127) << shift;
      if (next < 128) return out;
    }
  }
  uint8_t byte() { return static_cast<uint8_t>(bytes_.at(at_++)); }

 private:
  int64_t zigzag() {
    const uint64_t raw = varint();
    return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  }
  ThriftValue value(int kind) {
    ThriftValue out;
    if (kind <= 2) out.number = kind == 1;
    if (kind == 3) out.number = static_cast<int8_t>(byte());
    if (kind >= 4 && kind <= 6) out.number = zigzag();
    if (kind == 8) {
      const auto count = static_cast<size_t>(varint());
      out.text = bytes_.substr(at_, count);
      at_ += count;
    }
    if (kind == 9) {
      const uint8_t head = byte();
      const uint64_t count = (head >> 4) == 15 ? varint() : head >> 4;
      for (uint64_t i = 0; i < count; ++i) out.list.push_back(value(head & 15));
    }
    return kind == 12 ? structure() : out;
  }

  const std::string& bytes_;
  size_t at_;
};

// One column of all row groups: the stored bytes of its values, one after another, and how many of them each row has. Texts have their
// lengths taken off; 8-bit numbers are looked up, and are four bytes as the others that are stored so.
struct ParquetColumn {
  ThriftValue leaf;                // its SchemaElement
  std::vector<ThriftValue> above;  // of the groups around it
  std::string values;
  std::vector<int64_t> row_values, text_lengths;
  std::vector<std::vector<uint8_t>> repetitions;  // of each row
  int64_t pages = 0;
};

class ParquetReader {
 public:
  explicit ParquetReader(std::string given) : bytes_(std::move(given)) {
    const std::string& bytes = bytes_;
    EXPECT_EQ(bytes.substr(0, 4), "PAR1");
    EXPECT_EQ(bytes.substr(bytes.size() - 4), "PAR1");
    const size_t length = load(bytes.size() - 8);
    footer = ThriftReader(bytes, bytes.size() - 8 - length).structure();
    read_schema();
    for (const ThriftValue& group : footer.at(4).list) {
      group_rows.push_back(group.num(3));
      EXPECT_EQ(group.at(1).list.size(), columns.size());
      for (size_t c = 0; c < columns.size(); ++c)
        read_chunk(group.at(1).list[c].at(3), columns[c], group.num(3));
    }
  }

  ThriftValue footer;
  std::vector<ParquetColumn> columns;
  std::vector<int64_t> group_rows;

  static uint32_t crc32(const std::string& bytes) {
    static const std::vector<uint32_t> kOfByte = [] {
      std::vector<uint32_t> out(256);
      for (uint32_t byte = 0; byte < 256; ++byte) {
        out[byte] = byte;
        for (int bit = 0; bit < 8; ++bit)
          out[byte] = out[byte] >> 1 ^ ((out[byte] & 1) != 0 ? 0xEDB88320u : 0);
      }
      return out;
    }();
    uint32_t crc = 0xFFFFFFFF;
    for (const char c : bytes) crc = crc >> 8 ^ kOfByte[(crc ^ static_cast<uint8_t>(c)) & 255];
    return ~crc;
  }

 private:
  uint32_t load(size_t at) const {
    uint32_t out = 0;
    std::memcpy(&out, bytes_.data() + at, 4);
    return out;
  }

  void read_schema() {
    const std::vector<ThriftValue>& elements = footer.at(2).list;
    size_t at = 1;
    for (int64_t c = 0; c < elements.at(0).num(5); ++c) {
      ParquetColumn column;
      for (; elements.at(at).has(5); ++at) column.above.push_back(elements.at(at));
      column.leaf = elements.at(at++);
      columns.push_back(column);
    }
    EXPECT_EQ(at, elements.size());
  }

  // As many levels as the page has values, of so many bits.
  std::vector<uint8_t> levels(const std::string& body, size_t& at, int most, int64_t count) const {
    if (most == 0) return std::vector<uint8_t>(static_cast<size_t>(count), 0);
    uint32_t length = 0;
    std::memcpy(&length, body.data() + at, 4);
    at += 4 + length;
    return hybrid(body.substr(at - length, length), 32 - __builtin_clz(static_cast<uint32_t>(most)), count);
  }

  static std::vector<uint8_t> hybrid(const std::string& bytes, int width, int64_t count) {
    ThriftReader in(bytes, 0);
    std::vector<uint8_t> out;
    while (static_cast<int64_t>(out.size()) < count) {
      const uint64_t head = in.varint();
      if ((head & 1) == 0) {
        EXPECT_GT(head, 0u) << "an empty run";
        out.insert(out.end(), static_cast<size_t>(head >> 1), in.byte());
        continue;
      }
      EXPECT_GT(head >> 1, 0u) << "an empty run";
      uint32_t bits = 0;
      int held = 0;
      for (uint64_t i = 0; i < (head >> 1) * 8; ++i, held -= width, bits >>= width) {
        for (; held < width; held += 8) bits |= static_cast<uint32_t>(in.byte()) << held;
        out.push_back(static_cast<uint8_t>(bits & ((1u << width) - 1)));
      }
    }
    EXPECT_EQ(in.at(), bytes.size());
    EXPECT_LT(static_cast<int64_t>(out.size()) - count, 8);
    out.resize(static_cast<size_t>(count));
    return out;
  }

  void read_chunk(const ThriftValue& chunk, ParquetColumn& column, int64_t rows) {
    const bool indexed = chunk.has(11);
    auto at = static_cast<size_t>(indexed ? chunk.num(11) : chunk.num(9));
    const size_t end = at + static_cast<size_t>(chunk.num(7));
    const size_t rows_before = column.row_values.size();
    std::string dictionary;
    int64_t values = 0;
    while (at < end) {
      ThriftReader in(bytes_, at);
      const ThriftValue head = in.structure();
      const std::string body = bytes_.substr(in.at(), static_cast<size_t>(head.num(3)));
      EXPECT_EQ(static_cast<uint32_t>(head.num(4)), crc32(body));
      if (head.num(1) == 2) dictionary = body;
      if (head.num(1) == 0) values += read_page(head.at(5), body, dictionary, column);
      at = in.at() + body.size();
    }
    EXPECT_EQ(at, end);
    EXPECT_EQ(values, chunk.num(5));
    EXPECT_EQ(static_cast<int64_t>(column.row_values.size() - rows_before), rows);
  }

  int64_t read_page(const ThriftValue& head, const std::string& body, const std::string& dictionary,
                    ParquetColumn& column) const {
    const int64_t count = head.num(1);
    const int lists = static_cast<int>(column.above.size() / 2),
              most = lists + (column.leaf.num(3) == 1 ? 1 : 0);
    size_t at = 0;
    const std::vector<uint8_t> repetition = levels(body, at, lists, count),
                               definition = levels(body, at, most, count);
    int64_t there = 0;
    for (size_t i = 0; i < repetition.size(); ++i) {
      if (repetition[i] == 0) {
        column.row_values.push_back(0);
        column.repetitions.emplace_back();
      }
      column.repetitions.back().push_back(repetition[i]);
      if (definition[i] < most) {
        EXPECT_EQ(definition[i], 0) << "an empty row";
        continue;
      }
      ++column.row_values.back();
      ++there;
    }
    ++column.pages;
    read_values(body.substr(at), there, dictionary, column);
    return count;
  }

  static void read_values(const std::string& values, int64_t count, const std::string& dictionary,
                          ParquetColumn& column) {
    if (!dictionary.empty()) {
      EXPECT_EQ(values[0], 8);
      for (const uint8_t index : hybrid(values.substr(1), 8, count))
        column.values += dictionary.substr(4 * size_t{index}, 4);
      return;
    }
    const int64_t type = column.leaf.num(1);
    if (type == 0)
      for (int64_t i = 0; i < count; ++i)
        column.values += static_cast<char>(values.at(static_cast<size_t>(i / 8)) >> (i % 8) & 1);
    if (type != 0 && type != 6) column.values += values;
    for (size_t at = 0; type == 6 && at < values.size();) {
      uint32_t length = 0;
      std::memcpy(&length, values.data() + at, 4);
      column.text_lengths.push_back(length);
      column.values += values.substr(at + 4, length);
      at += 4 + length;
    }
  }

  const std::string bytes_;
};

}  // namespace dataline::tests
