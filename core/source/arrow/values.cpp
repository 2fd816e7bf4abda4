// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/values.h"

#include <cstring>

namespace dataline {
namespace {

// The element over and over.
void repeat(const ArrowFill& fill, int64_t element_bytes, int64_t bytes, std::byte* out) {
  for (int64_t at = 0; at < bytes; at += element_bytes)
    std::memcpy(out + at, fill.bytes.data(), static_cast<size_t>(element_bytes));
}

// A value of no bytes still needs an address: null means that the row failed.
constexpr std::byte kNoItems{};

template <typename T>
void widen(const std::byte* from, int64_t count, int64_t* out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<int64_t>(load_native<T>(from + i * int64_t{sizeof(T)}));
}

void widen_numbers(const std::byte* from, int64_t count, int64_t bytes, bool is_signed, int64_t* out) {
  if (bytes == 1) return is_signed ? widen<int8_t>(from, count, out) : widen<uint8_t>(from, count, out);
  if (bytes == 2) return is_signed ? widen<int16_t>(from, count, out) : widen<uint16_t>(from, count, out);
  if (bytes == 4) return is_signed ? widen<int32_t>(from, count, out) : widen<uint32_t>(from, count, out);
  widen<int64_t>(from, count, out);
}

// The first null item of the units at one level; -1: none.
Result<int64_t> find_null_item(const ArrowAccess& access, int64_t bitmap, const ArrowItemNulls& level,
                               const ArrowUnits& units) {
  int64_t found = -1;
  DL_RETURN_IF_ERROR(access.each_bits(bitmap, units.first * level.per_unit, units.count * level.per_unit,
                                      [&](const std::byte* bits, int64_t first, int64_t count, int64_t done) {
                                        const int64_t zero = find_zero_bit(bits, first, count);
                                        if (zero >= 0) found = done + zero;
                                        return zero < 0;
                                      }));
  return found;
}

Status fill_items(const ArrowAccess& access, int64_t bitmap, const ArrowItemNulls& level,
                  const ArrowUnits& units, const ArrowFill& fill, int64_t element_bytes, std::byte* out) {
  return access.each_bits(bitmap, units.first * level.per_unit, units.count * level.per_unit,
                          [&](const std::byte* bits, int64_t first, int64_t count, int64_t done) {
                            for (int64_t i = 0; i < count; ++i) {
                              if (bit_of(bits, first + i)) continue;
                              repeat(fill, element_bytes, level.item_bytes,
                                     out + (done + i) * level.item_bytes);
                            }
                            return true;
                          });
}

Status unpack_units(const ArrowAccess& access, int64_t data, const ArrowValues& values,
                    const ArrowUnits& units, std::byte* out) {
  return access.each_bits(data, units.first * values.unit_values, units.count * values.unit_values,
                          [&](const std::byte* bits, int64_t first, int64_t count, int64_t done) {
                            unpack_bits(bits, first, count, out + done);
                            return true;
                          });
}

}  // namespace

Status find_nulls(const ArrowAccess& access, const int64_t* slots, std::span<const int32_t> bitmaps,
                  int64_t row, int64_t count, RowSet& nulls) {
  for (const int32_t slot : bitmaps) {
    if (slots[slot] < 0) continue;
    DL_RETURN_IF_ERROR(access.each_bits(
        slots[slot], row, count, [&](const std::byte* bits, int64_t first, int64_t some, int64_t done) {
          for (int64_t i = 0; i < some; ++i) {
            if (!bit_of(bits, first + i)) nulls.set(static_cast<size_t>(done + i));
          }
          return true;
        }));
  }
  return Status::ok();
}

Result<const std::byte*> read_units(const ArrowAccess& access, const int64_t* slots,
                                    const ArrowValues& values, const ArrowUnits& units, const ArrowFill* fill,
                                    int64_t element_bytes, std::byte* room, ArrowNullItem& null) {
  if (units.count == 0) return &kNoItems;
  bool fills = false;
  for (const ArrowItemNulls& level : values.item_nulls) {
    if (slots[level.slot] < 0) continue;
    DL_ASSIGN_OR_RETURN(const int64_t item, find_null_item(access, slots[level.slot], level, units));
    if (item < 0) continue;
    null.item = item;
    if (fill == nullptr) return static_cast<const std::byte*>(nullptr);
    fills = true;
  }
  const int64_t bytes = units.count * values.unit_bytes;
  const std::byte* found = room;
  if (values.bits) {
    DL_RETURN_IF_ERROR(unpack_units(access, slots[values.data], values, units, room));
  } else {
    DL_ASSIGN_OR_RETURN(found,
                        access.view(slots[values.data] + units.first * values.unit_bytes, bytes, room));
  }
  if (!fills) return found;
  if (found != room) std::memcpy(room, found, static_cast<size_t>(bytes));
  for (const ArrowItemNulls& level : values.item_nulls) {
    if (slots[level.slot] < 0) continue;
    DL_RETURN_IF_ERROR(fill_items(access, slots[level.slot], level, units, *fill, element_bytes, room));
  }
  return static_cast<const std::byte*>(room);
}

Result<ArrowView> read_view(const ArrowAccess& access, const int64_t* slots, const ArrowValues& values,
                            int64_t row) {
  std::byte room[kArrowViewBytes];
  const int64_t at = slots[values.views] + row * kArrowViewBytes;
  DL_ASSIGN_OR_RETURN(const std::byte* view, access.view(at, kArrowViewBytes, room));
  const int64_t bytes = load_native<int32_t>(view);
  if (bytes < 0) return ArrowView{at, bytes, "a length below 0"};
  if (bytes <= kArrowInlineBytes) return ArrowView{at + 4, bytes};
  const int64_t buffer = load_native<int32_t>(view + 8), offset = load_native<int32_t>(view + 12);
  if (buffer < 0 || buffer >= slots[values.limit]) return ArrowView{at, bytes, "a buffer that is not there"};
  const auto* table = reinterpret_cast<const ArrowViewBuffer*>(static_cast<uintptr_t>(slots[values.data]));
  if (!extent_fits(offset, bytes, table[buffer].bytes))
    return ArrowView{at, bytes, "bytes beyond their buffer"};
  return ArrowView{table[buffer].at + offset, bytes};
}

Status read_numbers(const ArrowAccess& access, int64_t offset, int64_t first, int64_t count, int64_t bytes,
                    bool is_signed, int64_t* out) {
  std::byte room[(kMaxRunRecords + 1) * 8];
  DL_ASSIGN_OR_RETURN(const std::byte* from, access.view(offset + first * bytes, count * bytes, room));
  widen_numbers(from, count, bytes, is_signed, out);
  return Status::ok();
}

}  // namespace dataline
