// Arrow files and streams, made message by message so that each number can be wrong. The writer knows the format's definition
// and nothing of the reader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dataline {

// Little-endian bytes of a value, and of several.
template <typename T>
std::string stored_bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <typename T>
std::string stored_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A FlatBuffer, written front to back: what a table refers to lies behind it.
struct FlatPart {
  enum class Kind { kNumber, kText, kTable, kTables, kStructs };
  Kind kind = Kind::kNumber;
  std::string bytes = {};                             // of a number, a text, or the structs of a vector
  int64_t count = 0;                                  // of the structs
  std::vector<std::pair<int, FlatPart>> fields = {};  // of a table
  std::vector<FlatPart> tables = {};
};

template <typename T>
FlatPart flat_number(T value) {
  return {FlatPart::Kind::kNumber, stored_bytes(value)};
}
inline FlatPart flat_text(std::string text) { return {FlatPart::Kind::kText, std::move(text)}; }
inline FlatPart flat_table(std::vector<std::pair<int, FlatPart>> fields) {
  return {FlatPart::Kind::kTable, {}, 0, std::move(fields)};
}
inline FlatPart flat_tables(std::vector<FlatPart> tables) {
  return {FlatPart::Kind::kTables, {}, 0, {}, std::move(tables)};
}
inline FlatPart flat_structs(std::string bytes, int64_t count) {
  return {FlatPart::Kind::kStructs, std::move(bytes), count};
}

class FlatWriter {
 public:
  std::string write(const FlatPart& root) {
    out_.assign(4, '\0');
    patch(0, put(root));
    align(8);
    return out_;
  }

 private:
  void align(size_t unit) {
    while (out_.size() % unit != 0) out_ += '\0';
  }
  void patch(size_t at, size_t to) { out_.replace(at, 4, stored_bytes(static_cast<uint32_t>(to - at))); }

  size_t put(const FlatPart& part) {
    if (part.kind == FlatPart::Kind::kTable) return put_table(part);
    // The elements of a vector of structs begin at a multiple of 8.
    align(4);
    if (part.kind == FlatPart::Kind::kStructs && out_.size() % 8 == 0) out_.append(4, '\0');
    const size_t at = out_.size();
    if (part.kind == FlatPart::Kind::kTables) {
      out_ += stored_bytes(static_cast<uint32_t>(part.tables.size()));
      out_.append(part.tables.size() * 4, '\0');
      for (size_t i = 0; i < part.tables.size(); ++i) {
        const size_t to = put(part.tables[i]);
        patch(at + 4 + i * 4, to);
      }
      return at;
    }
    const bool text = part.kind == FlatPart::Kind::kText;
    out_ += stored_bytes(static_cast<uint32_t>(text ? static_cast<int64_t>(part.bytes.size()) : part.count)) +
            part.bytes;
    if (text) out_ += '\0';
    return at;
  }

  size_t put_table(const FlatPart& part) {
    int most = -1;
    for (const auto& [field, value] : part.fields) most = std::max(most, field);
    std::vector<uint16_t> entries(static_cast<size_t>(most + 1));
    std::string body(4, '\0');
    for (const auto& [field, value] : part.fields) {
      const size_t bytes = value.kind == FlatPart::Kind::kNumber ? value.bytes.size() : 4;
      while (body.size() % bytes != 0) body += '\0';
      entries[static_cast<size_t>(field)] = static_cast<uint16_t>(body.size());
      body += value.kind == FlatPart::Kind::kNumber ? value.bytes : std::string(4, '\0');
    }
    align(2);
    const size_t vtable = out_.size();
    out_ += stored_bytes(static_cast<uint16_t>(4 + entries.size() * 2)) +
            stored_bytes(static_cast<uint16_t>(body.size())) + stored_bytes(entries);
    align(8);
    const size_t at = out_.size();
    body.replace(0, 4, stored_bytes(static_cast<int32_t>(at - vtable)));
    out_ += body;
    for (const auto& [field, value] : part.fields) {
      if (value.kind == FlatPart::Kind::kNumber) continue;
      const size_t to = put(value);
      patch(at + entries[static_cast<size_t>(field)], to);
    }
    return at;
  }

  std::string out_;
};

// A column, and what of it lies in a batch.
struct TestColumn {
  FlatPart field;
  std::vector<std::array<int64_t, 2>> nodes;  // length, nulls
  std::vector<std::string> buffers;
  std::vector<int64_t> variadic = {};  // of each node of views: how many buffers they point into
};

namespace arrow_type {
constexpr uint8_t kNull = 1, kInt = 2, kFloat = 3, kBinary = 4, kUtf8 = 5, kBool = 6, kDecimal = 7, kDate = 8,
                  kTime = 9, kTimestamp = 10, kInterval = 11, kList = 12, kStruct = 13, kUnion = 14,
                  kFixedBinary = 15, kFixedList = 16, kMap = 17, kDuration = 18, kLargeBinary = 19,
                  kLargeUtf8 = 20, kLargeList = 21, kRunEnd = 22, kBinaryView = 23, kUtf8View = 24,
                  kListView = 25;
}

using FlatFields = std::vector<std::pair<int, FlatPart>>;

// A Field table; `more`: further fields of it.
inline FlatPart arrow_field(const std::string& name, uint8_t type, FlatFields of_type = {},
                            std::vector<FlatPart> children = {}, const FlatFields& more = {}) {
  FlatFields fields = {{0, flat_text(name)},
                       {1, flat_number<uint8_t>(1)},
                       {2, flat_number(type)},
                       {3, flat_table(std::move(of_type))},
                       {5, flat_tables(std::move(children))}};
  fields.insert(fields.end(), more.begin(), more.end());
  return flat_table(std::move(fields));
}
inline FlatFields int_type(int32_t bits, bool is_signed = true) {
  return {{0, flat_number(bits)}, {1, flat_number<uint8_t>(is_signed ? 1 : 0)}};
}
inline FlatFields size_type(int32_t size) { return {{0, flat_number(size)}}; }
inline FlatPart metadata(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<FlatPart> tables;
  for (const auto& [key, value] : pairs)
    tables.push_back(flat_table({{0, flat_text(key)}, {1, flat_text(value)}}));
  return flat_tables(std::move(tables));
}

// '1' a value, '0' a null; "" no nulls.
inline std::string bits_of(const std::string& text) {
  std::string out((text.size() + 7) / 8, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '1') out[i / 8] = static_cast<char>(out[i / 8] | 1 << (i % 8));
  }
  return out;
}
inline int64_t zeros(const std::string& text) { return std::count(text.begin(), text.end(), '0'); }

template <typename T>
TestColumn numbers(const std::string& name, const std::vector<T>& values, const std::string& valid = "") {
  constexpr auto kBits = static_cast<int32_t>(sizeof(T) * 8);
  FlatPart field =
      std::is_floating_point_v<T>
          ? arrow_field(name, arrow_type::kFloat, {{0, flat_number<int16_t>(kBits == 32 ? 1 : 2)}})
          : arrow_field(name, arrow_type::kInt, int_type(kBits, std::is_signed_v<T>));
  return {std::move(field),
          {{static_cast<int64_t>(values.size()), zeros(valid)}},
          {bits_of(valid), stored_bytes(values)}};
}
inline TestColumn bools(const std::string& name, const std::string& values, const std::string& valid = "") {
  return {arrow_field(name, arrow_type::kBool),
          {{static_cast<int64_t>(values.size()), zeros(valid)}},
          {bits_of(valid), bits_of(values)}};
}
template <typename Offset = int32_t>
TestColumn texts(const std::string& name, const std::vector<std::string>& values,
                 const std::string& valid = "") {
  std::vector<Offset> offsets = {0};
  std::string data;
  for (const std::string& value : values) {
    data += value;
    offsets.push_back(static_cast<Offset>(data.size()));
  }
  return {arrow_field(name, sizeof(Offset) == 4 ? arrow_type::kUtf8 : arrow_type::kLargeUtf8),
          {{static_cast<int64_t>(values.size()), zeros(valid)}},
          {bits_of(valid), stored_bytes(offsets), data}};
}
// Longer ones than 12 bytes in `buffers` buffers, in turn.
inline TestColumn views(const std::string& name, const std::vector<std::string>& values, size_t buffers,
                        const std::string& valid = "") {
  std::string all;
  std::vector<std::string> data(buffers);
  size_t next = 0;
  for (const std::string& value : values) {
    const auto bytes = static_cast<int32_t>(value.size());
    all += stored_bytes(bytes);
    if (bytes <= 12) {
      all += value + std::string(12 - value.size(), '\0');
      continue;
    }
    const size_t buffer = next++ % buffers;
    all += value.substr(0, 4) + stored_bytes(static_cast<int32_t>(buffer)) +
           stored_bytes(static_cast<int32_t>(data[buffer].size()));
    data[buffer] += value;
  }
  TestColumn out{arrow_field(name, arrow_type::kUtf8View),
                 {{static_cast<int64_t>(values.size()), zeros(valid)}},
                 {bits_of(valid), all},
                 {static_cast<int64_t>(buffers)}};
  out.buffers.insert(out.buffers.end(), data.begin(), data.end());
  return out;
}
inline TestColumn around(FlatPart field, std::array<int64_t, 2> node, std::vector<std::string> buffers,
                         const std::vector<TestColumn>& children) {
  TestColumn out{std::move(field), {node}, std::move(buffers)};
  for (const TestColumn& child : children) {
    out.nodes.insert(out.nodes.end(), child.nodes.begin(), child.nodes.end());
    out.buffers.insert(out.buffers.end(), child.buffers.begin(), child.buffers.end());
    out.variadic.insert(out.variadic.end(), child.variadic.begin(), child.variadic.end());
  }
  return out;
}
template <typename Offset = int32_t>
TestColumn lists(const std::string& name, const std::vector<Offset>& offsets, const TestColumn& child,
                 const std::string& valid = "") {
  return around(
      arrow_field(name, sizeof(Offset) == 4 ? arrow_type::kList : arrow_type::kLargeList, {}, {child.field}),
      {static_cast<int64_t>(offsets.size()) - 1, zeros(valid)}, {bits_of(valid), stored_bytes(offsets)},
      {child});
}
inline TestColumn fixed_lists(const std::string& name, int32_t size, int64_t rows, const TestColumn& child,
                              const std::string& valid = "", const FlatFields& more = {}) {
  return around(arrow_field(name, arrow_type::kFixedList, size_type(size), {child.field}, more),
                {rows, zeros(valid)}, {bits_of(valid)}, {child});
}
inline TestColumn structs(const std::string& name, int64_t rows, const std::vector<TestColumn>& children,
                          const std::string& valid = "") {
  std::vector<FlatPart> fields;
  for (const TestColumn& child : children) fields.push_back(child.field);
  return around(arrow_field(name, arrow_type::kStruct, {}, std::move(fields)), {rows, zeros(valid)},
                {bits_of(valid)}, children);
}
// The field of `values`, but encoded: the batch has its indices.
template <typename Index>
TestColumn encoded(const TestColumn& values, int64_t id, const std::vector<Index>& indices,
                   const std::string& valid = "") {
  FlatPart field = values.field;
  field.fields.push_back(
      {4, flat_table({{0, flat_number(id)},
                      {1, flat_table(int_type(sizeof(Index) * 8, std::is_signed_v<Index>))}})});
  return {std::move(field),
          {{static_cast<int64_t>(indices.size()), zeros(valid)}},
          {bits_of(valid), stored_bytes(indices)}};
}

struct TestMessage {
  int64_t rows = 0;
  std::vector<std::array<int64_t, 2>> nodes, buffers;
  std::string body;
  // Of a dictionary.
  std::optional<int64_t> dictionary = {};
  bool delta = false;
  // What is wrong, or unusual.
  uint8_t kind = 0;  // 0: as it is
  int16_t version = 4;
  int64_t body_bytes = -1;  // as the message says; -1: the true ones
  std::optional<int8_t> codec = {};
  int8_t method = 0;  // of compression
  std::vector<int64_t> variadic = {};

  FlatPart header() const {
    std::string node_bytes, buffer_bytes;
    for (const auto& node : nodes) node_bytes += stored_bytes(node[0]) + stored_bytes(node[1]);
    for (const auto& buffer : buffers) buffer_bytes += stored_bytes(buffer[0]) + stored_bytes(buffer[1]);
    FlatFields fields = {{0, flat_number(rows)},
                         {1, flat_structs(node_bytes, static_cast<int64_t>(nodes.size()))},
                         {2, flat_structs(buffer_bytes, static_cast<int64_t>(buffers.size()))}};
    if (codec) fields.push_back({3, flat_table({{0, flat_number(*codec)}, {1, flat_number(method)}})});
    if (!variadic.empty())
      fields.push_back({4, flat_structs(stored_bytes(variadic), static_cast<int64_t>(variadic.size()))});
    if (!dictionary) return flat_table(std::move(fields));
    return flat_table({{0, flat_number(*dictionary)},
                       {1, flat_table(std::move(fields))},
                       {2, flat_number<uint8_t>(delta ? 1 : 0)}});
  }
};

inline TestMessage arrow_batch(int64_t rows, const std::vector<TestColumn>& columns) {
  TestMessage out;
  out.rows = rows;
  for (const TestColumn& column : columns) {
    out.nodes.insert(out.nodes.end(), column.nodes.begin(), column.nodes.end());
    out.variadic.insert(out.variadic.end(), column.variadic.begin(), column.variadic.end());
    for (const std::string& buffer : column.buffers) {
      out.buffers.push_back({static_cast<int64_t>(out.body.size()), static_cast<int64_t>(buffer.size())});
      out.body += buffer;
      while (out.body.size() % 8 != 0) out.body += '\0';
    }
  }
  return out;
}
inline TestMessage arrow_dictionary(int64_t id, const TestColumn& values, bool delta = false) {
  TestMessage out = arrow_batch(values.nodes[0][0], {values});
  out.dictionary = id;
  out.delta = delta;
  return out;
}

struct TestArrow {
  std::vector<FlatPart> fields;
  std::vector<TestMessage> messages;
  // What is wrong, or unusual.
  int16_t version = 4, endianness = 0;
  bool marker = true, end_mark = true;
  std::string magic = std::string("ARROW1\0\0", 8), tail = "ARROW1";
  std::optional<int32_t> footer_size = {};
  bool footer_schema = true;
  std::function<void(std::vector<std::array<int64_t, 3>>& dictionaries,
                     std::vector<std::array<int64_t, 3>>& batches)>
      blocks = {};

  FlatPart schema() const { return flat_table({{0, flat_number(endianness)}, {1, flat_tables(fields)}}); }

  std::string message(uint8_t kind, int16_t of_version, const FlatPart& header, int64_t body_bytes) const {
    const std::string flat = FlatWriter().write(flat_table(
        {{0, flat_number(of_version)}, {1, flat_number(kind)}, {2, header}, {3, flat_number(body_bytes)}}));
    std::string padded = flat;
    const size_t prefix = marker ? 8 : 4;
    while ((prefix + padded.size()) % 8 != 0) padded += '\0';
    return (marker ? std::string(4, '\xff') : "") + stored_bytes(static_cast<int32_t>(padded.size())) +
           padded;
  }

  std::string stream(std::string out = "", std::vector<std::array<int64_t, 3>>* dictionaries = nullptr,
                     std::vector<std::array<int64_t, 3>>* batches = nullptr) const {
    out += message(1, version, schema(), 0);
    for (const TestMessage& m : messages) {
      const uint8_t kind = m.kind != 0 ? m.kind : m.dictionary ? 2 : 3;
      const auto body = static_cast<int64_t>(m.body.size());
      const std::string head = message(kind, m.version, m.header(), m.body_bytes >= 0 ? m.body_bytes : body);
      auto* list = m.dictionary ? dictionaries : batches;
      if (list != nullptr)
        list->push_back({static_cast<int64_t>(out.size()), static_cast<int64_t>(head.size()), body});
      out += head + m.body;
    }
    if (end_mark) out += (marker ? std::string(4, '\xff') : "") + std::string(4, '\0');
    return out;
  }

  std::string file() const {
    std::vector<std::array<int64_t, 3>> dictionaries, batches;
    std::string out = stream(magic, &dictionaries, &batches);
    if (blocks) blocks(dictionaries, batches);
    const auto structs_of = [](const std::vector<std::array<int64_t, 3>>& list) {
      std::string bytes;
      for (const auto& b : list) bytes += stored_bytes(b[0]) + stored_bytes(b[1]) + stored_bytes(b[2]);
      return flat_structs(bytes, static_cast<int64_t>(list.size()));
    };
    FlatFields fields_of = {
        {0, flat_number(version)}, {2, structs_of(dictionaries)}, {3, structs_of(batches)}};
    if (footer_schema) fields_of.push_back({1, schema()});
    const std::string footer = FlatWriter().write(flat_table(std::move(fields_of)));
    return out + footer + stored_bytes(footer_size.value_or(static_cast<int32_t>(footer.size()))) + tail;
  }
};

// Batches of the same columns.
inline TestArrow arrow_table(const std::vector<std::vector<TestColumn>>& batches) {
  TestArrow out;
  for (const TestColumn& column : batches[0]) out.fields.push_back(column.field);
  for (const auto& columns : batches) out.messages.push_back(arrow_batch(columns[0].nodes[0][0], columns));
  return out;
}

// Two batches of numbers, texts and lists, and a dictionary.
inline TestArrow some_arrow() {
  const TestColumn words = texts("w", {"red", "green"});
  const auto batch = [&] {
    return std::vector<TestColumn>{numbers<int32_t>("x", {1, 2, 3}), texts("t", {"a", "bc", "d"}),
                                   lists<int32_t>("l", {0, 2, 2, 3}, numbers<int16_t>("item", {4, 5, 6})),
                                   encoded<int8_t>(words, 7, {0, 1, 0})};
  };
  TestArrow out = arrow_table({batch(), batch()});
  out.messages.insert(out.messages.begin(), arrow_dictionary(7, words));
  return out;
}

}  // namespace dataline
