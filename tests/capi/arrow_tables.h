// Tables in Arrow's C data interface, made by hand so that each number can be wrong.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/arrow_c_data.h"

namespace dataline::tests {

// An array and its type, with all that they point to. Counts how often the array is released.
struct CColumn {
  std::string format, name;
  int64_t length = 0, nulls = 0, offset = 0;
  std::vector<const void*> buffers = {};
  std::vector<CColumn> children = {};
  std::shared_ptr<CColumn> dictionary = nullptr;
  int64_t said_children = -1;  // of the array, where it is not true
};

// What the structs point to, and who asks about it.
class CTable {
 public:
  explicit CTable(CColumn root) : root_(std::move(root)) {}
  CTable(const CTable&) = delete;
  CTable& operator=(const CTable&) = delete;

  ArrowSchema schema() {
    ArrowSchema out = {};
    fill(root_, out);
    out.release = [](ArrowSchema* self) { self->release = nullptr; };
    return out;
  }
  ArrowArray array() {
    ArrowArray out = {};
    fill(root_, out);
    out.private_data = this;
    out.release = [](ArrowArray* self) {
      ++static_cast<CTable*>(self->private_data)->released;
      self->release = nullptr;
    };
    return out;
  }
  // A stream of `count` times the array; the calls after `fails_after` of them fail.
  ArrowArrayStream stream(int count, int fails_after = 1 << 30) {
    left_ = count, fails_after_ = fails_after;
    ArrowArrayStream out = {};
    out.private_data = this;
    out.get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
      *schema = of(self).schema();
      return 0;
    };
    out.get_next = [](ArrowArrayStream* self, ArrowArray* array) {
      CTable& table = of(self);
      if (table.fails_after_-- <= 0) return 5;
      *array = table.left_-- > 0 ? table.array() : ArrowArray{};
      return 0;
    };
    out.get_last_error = [](ArrowArrayStream* self) { return of(self).why; };
    out.release = [](ArrowArrayStream* self) {
      ++of(self).streams_released;
      self->release = nullptr;
    };
    return out;
  }

  int released = 0, streams_released = 0;
  const char* why = nullptr;  // of a call that fails

 private:
  static CTable& of(ArrowArrayStream* stream) { return *static_cast<CTable*>(stream->private_data); }

  template <typename Struct>
  struct Kept {
    std::vector<std::unique_ptr<Struct>> structs;
    std::vector<std::unique_ptr<std::vector<Struct*>>> lists;
  };

  template <typename Struct>
  Struct* keep(Kept<Struct>& kept, const CColumn& column) {
    kept.structs.push_back(std::make_unique<Struct>());
    Struct* out = kept.structs.back().get();
    fill(column, *out);
    out->release = [](Struct* self) { self->release = nullptr; };
    return out;
  }
  template <typename Struct>
  void fill_children(Kept<Struct>& kept, const CColumn& column, Struct& out) {
    auto list = std::make_unique<std::vector<Struct*>>();
    for (const CColumn& child : column.children) list->push_back(keep(kept, child));
    out.children = list->data();
    out.n_children = static_cast<int64_t>(list->size());
    kept.lists.push_back(std::move(list));
    if (column.dictionary != nullptr) out.dictionary = keep(kept, *column.dictionary);
  }
  void fill(const CColumn& column, ArrowSchema& out) {
    out.format = column.format.c_str();
    out.name = column.name.c_str();
    fill_children(schemas_, column, out);
  }
  void fill(const CColumn& column, ArrowArray& out) {
    out.length = column.length;
    out.null_count = column.nulls;
    out.offset = column.offset;
    out.buffers = const_cast<const void**>(column.buffers.data());
    out.n_buffers = static_cast<int64_t>(column.buffers.size());
    fill_children(arrays_, column, out);
    if (column.said_children >= 0) out.n_children = column.said_children;
  }

  const CColumn root_;
  Kept<ArrowSchema> schemas_;
  Kept<ArrowArray> arrays_;
  int left_ = 0, fails_after_ = 0;
};

inline CColumn c_numbers(std::string name, const std::vector<int32_t>& values) {
  return {"i", std::move(name), static_cast<int64_t>(values.size()), 0, 0, {nullptr, values.data()}};
}
inline CColumn c_table(int64_t rows, std::vector<CColumn> columns) {
  return {"+s", "", rows, 0, 0, {nullptr}, std::move(columns)};
}

}  // namespace dataline::tests
