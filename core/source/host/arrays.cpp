// SPDX-License-Identifier: Apache-2.0
#include "core/source/host/host.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/source/identity.h"
#include "core/source/leaf_source.h"

namespace dataline {
namespace {

template <typename... Parts>
Status refuse(const ArrayField& array, const Parts&... parts) {
  return error(Code::kInvalidArgument, "arrays: field '", array.field.name, "': ", parts...);
}

// A row of zero bytes still needs an address: null means that the row failed.
constexpr std::byte kNoBytes{};
// More than any machine holds, and count + 1 cannot overflow.
constexpr int64_t kMaxSamples = int64_t{1} << 60;

bool ragged(const ArrayField& array) { return array.field.kind == FieldKind::kRagged; }

class Arrays final : public LeafSource {
 public:
  Arrays(Schema schema, std::vector<ArrayField> arrays, int64_t sample_count, Block copy)
      : schema_(std::move(schema)), arrays_(std::move(arrays)), count_(sample_count), copy_(std::move(copy)) {
    for (ArrayField& array : arrays_) {
      item_bytes_.push_back(array.field.item_bytes());
      any_ragged_ = any_ragged_ || ragged(array);
      row_strides_.push_back(ragged(array) ? 0 : array.row_stride.value_or(array.field.bytes()));
      if (array.data == nullptr) array.data = &kNoBytes;
    }
  }

  void borrow(HostOwner owner) noexcept { loan_.take(owner); }

  int64_t count() const override { return count_; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {"arrays", "", {}}; }

  void locate(Run& run) const override {
    for (size_t f = 0; f < arrays_.size(); ++f) {
      if (!ragged(arrays_[f])) locate_dense(run, f);
    }
    if (any_ragged_) locate_all_ragged(run);
  }

  int64_t record_items(int64_t index) const override {
    const auto first = std::find_if(arrays_.begin(), arrays_.end(), ragged);
    if (first == arrays_.end()) return -1;
    return std::max<int64_t>(first->offsets[index + 1] - first->offsets[index], 0);
  }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    if (arrays_.size() != 1 || !any_ragged_) return LeafSource::locate_items(run, range, room);
    const ItemRange items = items_at(arrays_[0], range.index);
    if (items.count < 0 || !extent_fits(range.first, range.count, items.count))
      return left_data(0, range.index);
    return arrays_[0].data + (items.first + range.first) * item_bytes_[0];
  }

  Place place_of(int64_t index, size_t) const override { return {"", concat("array row ", index)}; }
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add("arrays");
    for (const ArrayField& array : arrays_) identity.add(static_cast<uint64_t>(array.item_count));
    identity.add_records(*this);
  }

 private:
  void locate_dense(const Run& run, size_t field) const {
    const ArrayField& array = arrays_[field];
    const int64_t stride = row_strides_[field];
    const Run::ColumnRows& rows = run.columns[field];
    for (int64_t i = 0; i < run.count; ++i) rows.data[i] = array.data + run.indices[i] * stride;
    run.columns[field].contiguous = run.contiguous && stride == schema_.columns[field].row_bytes;
  }

  // Rows that leave the data fail once all fields are located, in each of them.
  void locate_all_ragged(Run& run) const {
    RowSet bad_rows;
    size_t bad_field = 0;
    for (size_t f = 0; f < arrays_.size(); ++f) {
      if (!ragged(arrays_[f])) continue;
      const RowSet bad = locate_ragged(run, f);
      if (bad.any()) bad_field = f;
      bad_rows |= bad;
    }
    for (int64_t i = 0; bad_rows.any() && i < run.count; ++i) {
      if (!bad_rows[static_cast<size_t>(i)]) continue;
      run.fail(i, schema_.columns.size(), left_data(bad_field, run.indices[i]));
    }
  }

  Status left_data(size_t field, int64_t sample) const {
    return error(Code::kOutOfRange, "arrays: field '", schema_.fields[field].name,
                 "': the offsets of sample ", sample, " were changed and point outside the data");
  }

  // The items of a sample in the data; the count is -1 if they leave it: the host may change offsets that it lends.
  static ItemRange items_at(const ArrayField& array, int64_t sample) {
    const int64_t begin = array.offsets[sample], end = array.offsets[sample + 1];
    const bool good = 0 <= begin && begin <= end && end <= array.item_count;
    return {sample, good ? begin : 0, good ? end - begin : -1};
  }

  // returns the bad rows
  RowSet locate_ragged(const Run& run, size_t field) const {
    const ArrayField& array = arrays_[field];
    Run::ColumnRows& rows = run.columns[field];
    RowSet bad_rows;
    for (int64_t i = 0; i < run.count; ++i) {
      const ItemRange items = items_at(array, run.indices[i]);
      if (items.count < 0) bad_rows.set(static_cast<size_t>(i));
      rows.data[i] = array.data + items.first * item_bytes_[field];
      rows.bytes[i] = std::max<int64_t>(items.count, 0) * item_bytes_[field];
    }
    rows.contiguous = false;
    return bad_rows;
  }

  Schema schema_;
  std::vector<ArrayField> arrays_;
  std::vector<int64_t> item_bytes_;
  std::vector<int64_t> row_strides_;  // dense fields, packed or not
  bool any_ragged_ = false;
  int64_t count_;
  Block copy_;     // if not borrowed
  HostLoan loan_;  // if borrowed
};

// Checks that the extent of `count` rows fits 63 bits.
Status check_dense(ArrayField& array, int64_t count) {
  int64_t row_bytes = array.field.bytes();
  std::optional<int64_t> span =
      checked_multiply(std::max<int64_t>(count - 1, 0), array.row_stride.value_or(row_bytes));
  // abs(INT64_MIN) overflows, and a span near it is too large anyway.
  if (!span || *span == INT64_MIN || !checked_add(std::abs(*span), row_bytes)) {
    return error(Code::kTooLarge, "arrays: field '", array.field.name, "': more than 2^63 - 1 bytes");
  }
  array.item_count = 0;
  if (array.data == nullptr && count > 0 && row_bytes > 0) return refuse(array, "data is null");
  return Status::ok();
}

// Checks that every sample lies inside the data, and sets max_bytes.
Status check_ragged(ArrayField& array, int64_t count) {
  if (array.item_count < 0) return refuse(array, array.item_count, " items");
  if (array.offsets == nullptr) return refuse(array, "offsets are null");
  int64_t item_bytes = array.field.item_bytes();
  if (!checked_multiply(array.item_count, item_bytes)) {
    return error(Code::kTooLarge, "arrays: field '", array.field.name, "': more than 2^63 - 1 bytes");
  }
  if (array.data == nullptr && array.item_count > 0) return refuse(array, "data is null");
  int64_t previous = 0, longest = 0;
  for (int64_t i = 0; i <= count; ++i) {
    int64_t offset = array.offsets[i];
    if (offset < previous || offset > array.item_count) {
      return error(Code::kOutOfRange, "arrays: field '", array.field.name, "': offsets[", i, "] is ", offset,
                   ", expected ", previous, " to ", array.item_count);
    }
    if (i > 0) longest = std::max(longest, offset - previous);
    previous = offset;
  }
  array.field.max_bytes = longest * item_bytes;
  return Status::ok();
}

// The bytes needed to copy one array, rounded up so that the next one is aligned.
std::optional<int64_t> copy_bytes(const ArrayField& array, int64_t count) {
  constexpr int64_t kMaxRounded = int64_t{1} << 62;
  std::optional<int64_t> data = ragged(array) ? checked_multiply(array.item_count, array.field.item_bytes())
                                              : checked_multiply(count, array.field.bytes());
  std::optional<int64_t> offsets = ragged(array) ? checked_multiply(count + 1, sizeof(int64_t)) : 0;
  if (!data || !offsets || *data > kMaxRounded || *offsets > kMaxRounded) return std::nullopt;
  return checked_add(round_up(*data, 64), round_up(*offsets, 64));
}

void copy_rows(const ArrayField& array, int64_t count, int64_t row_bytes, std::byte* to) {
  if (count == 0 || row_bytes == 0) return;
  const int64_t stride = array.row_stride.value_or(row_bytes);
  if (stride == row_bytes) {
    std::memcpy(to, array.data, static_cast<size_t>(count * row_bytes));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * row_bytes, array.data + i * stride, static_cast<size_t>(row_bytes));
  }
}

// Copies an array to `to` and points it there; returns the end of the copy.
std::byte* copy_array(ArrayField& array, int64_t count, std::byte* to) {
  if (!ragged(array)) {
    const int64_t row_bytes = array.field.bytes();
    copy_rows(array, count, row_bytes, to);
    array.data = to;
    array.row_stride.reset();
    return to + round_up(count * row_bytes, 64);
  }
  const int64_t data_bytes = array.item_count * array.field.item_bytes();
  const int64_t offset_bytes = (count + 1) * static_cast<int64_t>(sizeof(int64_t));
  if (data_bytes > 0) std::memcpy(to, array.data, static_cast<size_t>(data_bytes));
  array.data = to;
  to += round_up(data_bytes, 64);
  std::memcpy(to, array.offsets, static_cast<size_t>(offset_bytes));
  array.offsets = reinterpret_cast<const int64_t*>(to);
  return to + round_up(offset_bytes, 64);
}

Result<Block> copy_arrays(std::vector<ArrayField>& arrays, int64_t count, HostMemory& memory) {
  int64_t total = 0;
  for (const ArrayField& array : arrays) {
    std::optional<int64_t> bytes = copy_bytes(array, count);
    std::optional<int64_t> sum = bytes ? checked_add(total, *bytes) : std::nullopt;
    if (!sum) return error(Code::kTooLarge, "arrays: more than 2^63 - 1 bytes");
    total = *sum;
  }
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(total, 64, MemoryKind::kData, "a copy of arrays"));
  std::byte* to = block.data();
  for (ArrayField& array : arrays) to = copy_array(array, count, to);
  return block;
}

}  // namespace

Status check_host_arrays(std::vector<ArrayField>& arrays, int64_t sample_count) {
  for (ArrayField& array : arrays)
    DL_RETURN_IF_ERROR(ragged(array) ? check_ragged(array, sample_count) : check_dense(array, sample_count));
  return Status::ok();
}

Result<SourceRef> array_source(std::vector<ArrayField> arrays, int64_t sample_count, HostOwner owner,
                               HostMemory& memory) {
  if (sample_count < 0) return error(Code::kInvalidArgument, "arrays: ", sample_count, " samples");
  if (sample_count > kMaxSamples)
    return error(Code::kTooLarge, "arrays: ", sample_count, " samples, at most ", kMaxSamples);
  std::vector<Field> fields;
  for (const ArrayField& array : arrays) fields.push_back(array.field);
  DL_RETURN_IF_ERROR(check_host_fields(fields, "arrays"));
  DL_RETURN_IF_ERROR(check_host_arrays(arrays, sample_count));
  for (size_t f = 0; f < arrays.size(); ++f) fields[f] = arrays[f].field;
  Block copy;
  if (!owner.lends()) {
    DL_ASSIGN_OR_RETURN(copy, copy_arrays(arrays, sample_count, memory));
  }
  auto source = std::make_shared<Arrays>(column_per_field(std::move(fields)), std::move(arrays), sample_count,
                                         std::move(copy));
  source->borrow(owner);
  return SourceRef(std::move(source));
}

}  // namespace dataline
