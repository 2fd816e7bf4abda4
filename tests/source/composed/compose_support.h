// Small datasets in memory whose rows tell where they come from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/source/composed/parts.h"
#include "core/source/forward_source.h"
#include "core/source/host/host.h"
#include "core/source/source.h"
#include "tests/source/source_support.h"

namespace dataline {

// `count` samples: `data` u16[2] = {tag, index}.
inline SourceRef numbered(uint16_t tag, int64_t count, std::string name = "data") {
  std::vector<uint16_t> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(tag);
    values.push_back(static_cast<uint16_t>(i));
  }
  ArrayField array;
  array.field = {std::move(name), FieldKind::kDense, DType::kU16, {2}, "", -1};
  array.data = reinterpret_cast<const std::byte*>(values.data());
  return array_source({array}, count, {}, *HostMemory::create({})).take();
}

// The same rows beside a ragged `text`: index times the letter of the tag.
inline SourceRef texts(uint16_t tag, int64_t count) {
  std::string letters;
  std::vector<int64_t> offsets = {0}, numbers;
  for (int64_t i = 0; i < count; ++i) {
    letters += std::string(static_cast<size_t>(i % 5), static_cast<char>('a' + tag));
    offsets.push_back(static_cast<int64_t>(letters.size()));
    numbers.push_back(tag * 1000 + i);
  }
  ArrayField id, text;
  id.field = {"id", FieldKind::kDense, DType::kI64, {}, "", -1};
  id.data = reinterpret_cast<const std::byte*>(numbers.data());
  text.field = {"text", FieldKind::kRagged, DType::kU8, {-1}, "", -1};
  text.data = reinterpret_cast<const std::byte*>(letters.data());
  text.item_count = static_cast<int64_t>(letters.size());
  text.offsets = offsets.data();
  return array_source({id, text}, count, {}, *HostMemory::create({})).take();
}

// The same rows as texts(), from callbacks: they need scratch, and every index that `bad` names fails.
inline SourceRef read_texts(uint16_t tag, int64_t count, int64_t bad = -1, bool prompt = false) {
  struct Context {
    uint16_t tag;
    int64_t bad;
  };
  ReaderTable table;
  table.context = new Context{tag, bad};
  table.record_count = count;
  table.prompt = prompt;
  table.read = [](void* context, ReaderRequest* request) {
    auto* self = static_cast<Context*>(context);
    ReaderCell* cells = request->cells;
    for (int32_t r = 0; r < request->record_count; ++r, cells += 2) {
      const int64_t index = request->indices[r], id = self->tag * 1000 + index;
      std::memcpy(cells[0].data, &id, 8);
      cells[0].status = index == self->bad ? -3 : 0;
      cells[1].bytes = index % 5;
      std::memset(cells[1].data, 'a' + self->tag, static_cast<size_t>(cells[1].bytes));
    }
    return int32_t{0};
  };
  table.destroy = [](void* context) { delete static_cast<Context*>(context); };
  std::vector<Field> fields = {{"id", FieldKind::kDense, DType::kI64, {}, "", -1},
                               {"text", FieldKind::kRagged, DType::kU8, {-1}, "", -1}};
  return reader_source(std::move(fields), std::move(table), *HostMemory::create({})).take();
}

// Records that say for which place in an epoch they were read.
inline SourceRef read_slots(int64_t count) {
  ReaderTable table;
  table.record_count = count;
  table.read = [](void*, ReaderRequest* request) {
    for (int32_t r = 0; r < request->record_count; ++r)
      std::memcpy(request->cells[r].data, &request->slots[r], 8);
    return int32_t{0};
  };
  return reader_source({{"slot", FieldKind::kDense, DType::kI64, {}, "", -1}}, std::move(table),
                       *HostMemory::create({}))
      .take();
}

// The rows of numbered() as two fields of one packed column: a layout unlike that of arrays.
class PackedPair final : public ForwardSource {
 public:
  PackedPair(uint16_t tag, int64_t count) : ForwardSource(numbered(tag, count)) {
    schema_.fields = {{"tag", FieldKind::kDense, DType::kU16, {}, "", -1},
                      {"index", FieldKind::kDense, DType::kU16, {}, "", -1}};
    schema_.places = {{0, 0, false}, {0, 2, false}};
    schema_.columns = {{4}};
  }
  const Schema& schema() const override { return schema_; }

 private:
  Schema schema_;
};

// The same two fields as two columns.
inline SourceRef split_pair(uint16_t tag, int64_t count) {
  std::vector<uint16_t> tags(static_cast<size_t>(count), tag), indices;
  for (int64_t i = 0; i < count; ++i) indices.push_back(static_cast<uint16_t>(i));
  std::vector<ArrayField> arrays(2);
  arrays[0].field = {"tag", FieldKind::kDense, DType::kU16, {}, "", -1};
  arrays[0].data = reinterpret_cast<const std::byte*>(tags.data());
  arrays[1].field = {"index", FieldKind::kDense, DType::kU16, {}, "", -1};
  arrays[1].data = reinterpret_cast<const std::byte*>(indices.data());
  return array_source(arrays, count, {}, *HostMemory::create({})).take();
}

}  // namespace dataline
