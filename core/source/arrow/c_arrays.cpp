// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/c_arrays.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/arrow/bitmaps.h"
#include "core/source/files.h"

namespace dataline {
namespace {

constexpr int64_t kMaxCRows = int64_t{1} << 62;

int64_t address_of(const void* pointer) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer)); }

int64_t count_zero_bits(const std::byte* bits, int64_t first, int64_t count) {
  int64_t zeros = 0;
  for (int64_t at = 0; at < count;) {
    const int64_t next = find_zero_bit(bits, first + at, count - at);
    if (next < 0) break;
    at += next + 1;
    ++zeros;
  }
  return zeros;
}

}  // namespace

CArrayReader::CArrayReader(const ArrowPlan& plan, bool is_table, const OpenContext& context)
    : plan_(plan),
      is_table_(is_table),
      context_(context),
      tables_{ArrowBatches(context.memory, plan.batch.slots),
              {},
              std::vector<int64_t>(static_cast<size_t>(plan.batch.slots)),
              false,
              true} {
  for (const ArrowDictionaryPlan& dictionary : plan.dictionaries)
    tables_.dictionaries.emplace_back(context.memory, dictionary.layout.slots);
}

Status CArrayReader::add(const ArrowArray& array) {
  if (context_.cancelled())
    return error(Code::kCancelled, kArrowMemory, ": cancelled after ", tables_.batches.count(),
                 " record batches");
  DL_RETURN_IF_ERROR(find_parts(plan_.batch, array, is_table_));
  const int64_t rows = array.length;
  if (rows > kMaxCRows - tables_.batches.rows()) return refuse(Code::kTooLarge, "more than 2^62 rows in all");
  Slots slots;
  DL_RETURN_IF_ERROR(fill(plan_.batch, slots));
  const std::vector<Part> parts = parts_;
  for (size_t c = 0; c < plan_.columns.size(); ++c) {
    if (plan_.columns[c].dictionary < 0) continue;
    parts_ = parts;
    DL_RETURN_IF_ERROR(add_dictionary(c, slots));
  }
  for (size_t s = 0; s < tables_.nulls.size(); ++s) tables_.nulls[s] += slots.nulls[s];
  tables_.batches.add(rows, slots.values);
  return Status::ok();
}

// The arrays of a tree in preorder, as flatten() of columns.cpp has laid out their types.
Status CArrayReader::find_parts(const ArrowLayout& layout, const ArrowArray& root, bool is_table) {
  if (root.length < 0 || root.offset < 0 || root.length > kMaxCRows - std::min(root.offset, kMaxCRows))
    return refuse(Code::kCorrupt, "has ", root.length, " rows from offset ", root.offset);
  if (is_table && root.null_count != 0 && root.n_buffers > 0 && root.buffers != nullptr &&
      root.buffers[0] != nullptr &&
      count_zero_bits(static_cast<const std::byte*>(root.buffers[0]), root.offset, root.length) > 0)
    return refuse(Code::kUnsupported, "has rows that are null");
  root_ = {&root, root.offset, root.length};
  parts_.assign(layout.nodes.size(), {});
  std::vector<int64_t> next(layout.nodes.size());  // child of each
  int64_t next_column = 0;
  for (size_t n = 0; n < layout.nodes.size(); ++n) {
    const ArrowNode& node = layout.nodes[n];
    if (node.parent < 0 && !is_table) {
      parts_[n] = root_;
      continue;
    }
    const ArrowArray* around = node.parent < 0 ? &root : parts_[static_cast<size_t>(node.parent)].array;
    const int64_t child = node.parent < 0 ? next_column++ : next[static_cast<size_t>(node.parent)]++;
    if (around == nullptr || !node.used) continue;
    if (child >= around->n_children || around->children == nullptr || around->children[child] == nullptr)
      return refuse(Code::kCorrupt, "has an array of ", around->n_children,
                    " children, but its schema has more");
    DL_RETURN_IF_ERROR(find_part(layout, n, *around->children[child], parts_[n]));
  }
  return Status::ok();
}

Status CArrayReader::find_part(const ArrowLayout& layout, size_t n, const ArrowArray& array, Part& out) {
  const ArrowNode& node = layout.nodes[n];
  if (array.length < 0 || array.offset < 0 || array.length > kMaxCRows || array.offset > kMaxCRows)
    return refuse(Code::kCorrupt, "has an array of ", array.length, " values from offset ", array.offset);
  out = {&array, array.offset, array.length};
  if (node.parent >= 0 && node.per_parent < 0) return Status::ok();  // a list's: its offsets say which
  // Those around it are cut too, by offsets that count in the uncut array.
  const Part& around = node.parent < 0 ? root_ : parts_[static_cast<size_t>(node.parent)];
  const int64_t each = node.parent < 0 ? 1 : node.per_parent;
  const std::optional<int64_t> first = checked_multiply(around.first, each),
                               items = checked_multiply(around.items, each);
  const std::optional<int64_t> end = first && items ? checked_add(*first, *items) : std::nullopt;
  if (!end || *end > array.length)
    return refuse(Code::kCorrupt, "has an array of ", array.length, " values inside one of ", around.items,
                  " from ", around.first, ", which needs ", each, " for each");
  out.first += *first;
  out.items = *items;
  return Status::ok();
}

Status CArrayReader::fill(const ArrowLayout& layout, Slots& slots) {
  slots.values.assign(static_cast<size_t>(layout.slots), -1);
  slots.nulls.assign(static_cast<size_t>(layout.slots), 0);
  slots.values[kArrowBatchBytesSlot] = 0;
  for (const ArrowTake& take : layout.takes) DL_RETURN_IF_ERROR(fill_slot(take, slots));
  return Status::ok();
}

Status CArrayReader::fill_slot(const ArrowTake& take, Slots& slots) {
  const Part& part = parts_[static_cast<size_t>(take.node)];
  const auto at = static_cast<size_t>(take.slot);
  int64_t& slot = slots.values[at];
  if (take.kind == ArrowTake::Kind::kItems) return slot = part.items, Status::ok();
  if (take.kind == ArrowTake::Kind::kViewBuffers) return fill_view_buffers(take, slots);
  const std::string& name = plan_.columns[static_cast<size_t>(take.column)].field.name;
  const ArrowArray& array = *part.array;
  if (array.n_buffers <= take.buffer || array.buffers == nullptr)
    return refuse(Code::kCorrupt, "column ", printable(name), ": ", array.n_buffers,
                  " buffers, but its type needs more");
  const auto* buffer = static_cast<const std::byte*>(array.buffers[take.buffer]);
  int64_t& bytes = slots.values[kArrowBatchBytesSlot];
  if (take.kind == ArrowTake::Kind::kValidity) {
    if (buffer == nullptr || array.null_count == 0) return Status::ok();
    slots.nulls[at] = count_zero_bits(buffer, part.first, part.items);
    if (slots.nulls[at] == 0) return Status::ok();
    DL_ASSIGN_OR_RETURN(slot, aligned(buffer, part.first, part.items));
    return Status::ok();
  }
  if (take.kind == ArrowTake::Kind::kBytes) {
    // Offsets are looked at before the bytes they lead to: their take comes first.
    const auto* offsets = static_cast<const std::byte*>(array.buffers[1]);
    int64_t end = 0;
    if (part.items > 0) {
      const bool wide = plan_.columns[static_cast<size_t>(take.column)].values.offset_bytes == 8;
      const int64_t last = part.first + part.items;
      end = wide ? load_native<int64_t>(offsets + last * 8) : load_native<int32_t>(offsets + last * 4);
    }
    if (end < 0 || end > kMaxCRows || (end > 0 && buffer == nullptr))
      return refuse(Code::kCorrupt, "column ", printable(name), ": its last offset is ", end,
                    buffer == nullptr ? ", but it has no bytes" : "");
    slot = address_of(buffer);
    slots.values[at + 1] = end;
    bytes = std::min(kMaxCRows, bytes + end);
    return Status::ok();
  }
  if (part.items == 0) return slot = address_of(buffer), Status::ok();
  const std::optional<int64_t> bits = checked_multiply(part.first + part.items, take.item_bits);
  if (buffer == nullptr || !bits || *bits > kMaxCRows)
    return refuse(Code::kCorrupt, "column ", printable(name), ": no buffer for ", part.items, " values");
  bytes = std::min(kMaxCRows, bytes + (part.items * take.item_bits + 7) / 8);
  if (take.item_bits == 1) {
    DL_ASSIGN_OR_RETURN(slot, aligned(buffer, part.first, part.items));
  } else {
    slot = address_of(buffer + part.first * (take.item_bits / 8));
  }
  return Status::ok();
}

// Behind the views' buffers an array has one more, of their sizes.
Status CArrayReader::fill_view_buffers(const ArrowTake& take, Slots& slots) {
  const ArrowArray& array = *parts_[static_cast<size_t>(take.node)].array;
  const int64_t count = array.n_buffers - take.buffer - 1;
  const std::string& name = plan_.columns[static_cast<size_t>(take.column)].field.name;
  if (count < 0 || array.buffers == nullptr)
    return refuse(Code::kCorrupt, "column ", printable(name), ": ", array.n_buffers,
                  " buffers, but its type needs more");
  const auto* sizes = static_cast<const std::byte*>(array.buffers[array.n_buffers - 1]);
  DL_ASSIGN_OR_RETURN(ArrowViewBuffer* const table, add_view_table(count, *context_.memory, tables_));
  int64_t& bytes = slots.values[kArrowBatchBytesSlot];
  for (int64_t b = 0; b < count; ++b) {
    const void* buffer = array.buffers[take.buffer + b];
    const int64_t size = sizes == nullptr ? -1 : load_native<int64_t>(sizes + b * 8);
    if (size < 0 || size > kMaxCRows || (size > 0 && buffer == nullptr))
      return refuse(Code::kCorrupt, "column ", printable(name), ": buffer ", b, " of its views has ", size,
                    " bytes", buffer == nullptr ? " but no address" : "");
    table[b] = {address_of(buffer), size};
    bytes = std::min(kMaxCRows, bytes + size);
  }
  slots.values[static_cast<size_t>(take.slot)] = address_of(table);
  slots.values[static_cast<size_t>(take.slot) + 1] = count;
  return Status::ok();
}

// Each batch brings its own dictionary, which replaces the one before.
Status CArrayReader::add_dictionary(size_t c, Slots& batch) {
  const ArrowColumn& column = plan_.columns[c];
  const auto d = static_cast<size_t>(column.dictionary);
  const auto take = std::find_if(plan_.batch.takes.begin(), plan_.batch.takes.end(),
                                 [&](const ArrowTake& one) { return one.slot == column.indices; });
  const ArrowArray* dictionary = parts_[static_cast<size_t>(take->node)].array->dictionary;
  if (dictionary == nullptr)
    return refuse(Code::kCorrupt, "column ", printable(column.field.name), " has no dictionary");
  const ArrowLayout& layout = plan_.dictionaries[d].layout;
  DL_RETURN_IF_ERROR(find_parts(layout, *dictionary, false));
  Slots slots;
  DL_RETURN_IF_ERROR(fill(layout, slots));
  ArrowBatches& values = tables_.dictionaries[d];
  if (dictionary->length > kMaxCRows - values.rows())
    return refuse(Code::kTooLarge, "dictionaries of more than 2^62 values");
  for (const int64_t nulls : slots.nulls) tables_.value_nulls |= nulls > 0;
  batch.values[static_cast<size_t>(column.first)] = values.rows();
  batch.values[static_cast<size_t>(column.first) + 1] = dictionary->length;
  values.add(dictionary->length, slots.values);
  return Status::ok();
}

// The address of a bitmap whose first bit is bit `first` of `bits`: of a copy, unless that begins a byte.
Result<int64_t> CArrayReader::aligned(const std::byte* bits, int64_t first, int64_t count) {
  if (first % 8 == 0) return address_of(bits + first / 8);
  DL_ASSIGN_OR_RETURN(Block copy, context_.memory->allocate((count + 7) / 8, 64, MemoryKind::kTable,
                                                            "a bitmap of a slice of Arrow data"));
  std::memset(copy.data(), 0, static_cast<size_t>(copy.bytes()));
  for (int64_t i = 0; i < count; ++i) {
    if (bit_of(bits, first + i)) copy.data()[i / 8] |= std::byte{1} << (i % 8);
  }
  bitmaps_.push_back(std::move(copy));
  return address_of(bitmaps_.back().data());
}

}  // namespace dataline
