// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernels/kernel_call.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "core/base/dtype.h"

namespace dataline {
namespace {

enum Body : size_t { kElements, kPlanes, kPixels };
constexpr size_t kBodies = 3;
constexpr uint32_t kChunkBytes = 16;

struct Types {
  std::string_view from, to;
};
#define DL_TYPES(from, to) Types{#from, #to},
constexpr Types kTypes[] = {DL_KERNEL_TYPES(DL_TYPES)};
#undef DL_TYPES

#define DL_NAMES(from, to) \
  "dl_elements_" #from "_" #to, "dl_planes_" #from "_" #to, "dl_pixels_" #from "_" #to,
constexpr const char* kNames[] = {DL_KERNEL_TYPES(DL_NAMES)};
#undef DL_NAMES
static_assert(std::size(kNames) == kBodies * std::size(kTypes));

static_assert(sizeof(KernelView) == sizeof(TailGeometry));
static_assert(offsetof(KernelView, x) == offsetof(TailGeometry, x));
static_assert(offsetof(KernelAxis, high) == offsetof(TailAxis, high));

std::optional<size_t> find_kernel(Body body, std::string_view from, std::string_view to) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].from == from && kTypes[i].to == to) return i * kBodies + body;
  }
  return std::nullopt;
}

// Elements that only move are copied as bytes.
bool is_move(const Tail& tail) { return tail.affines.empty() && tail.from == tail.to; }

// `bytes`: 1, 2, 4, 8 or 16.
std::string_view raw_type(int64_t bytes) {
  constexpr std::string_view kRawTypes[] = {"r8", "r16", "r32", "r64", "r128"};
  return kRawTypes[std::countr_zero(static_cast<uint64_t>(bytes))];
}

Body body_of(const Tail& tail) {
  if (!tail.moves) return kElements;
  return tail.out_planar || tail.channels == 1 ? kPlanes : kPixels;
}

bool tables_fit(const Tail& tail) {
  size_t entries = 0;
  for (const TailAffine& affine : tail.affines) {
    const bool one = affine.a.size() == 1, each = affine.a.size() == static_cast<size_t>(tail.channels);
    if (!(one || each) || affine.b.size() != affine.a.size()) return false;
    entries += affine.a.size();
  }
  return tail.affines.size() <= kKernelAffines && entries <= kKernelEntries;
}

KernelDivisor divisor_of(int64_t divisor) {
  KernelDivisor out;
  out.divisor = static_cast<uint32_t>(divisor);
  for (out.shift = 0; uint64_t{1} << out.shift < out.divisor;) ++out.shift;
  const uint64_t above = (uint64_t{1} << out.shift) - out.divisor;
  out.magic = static_cast<uint32_t>((above << 32) / out.divisor + 1);
  return out;
}

void set_tables(const Tail& tail, KernelParams& params) {
  uint32_t entries = 0;
  for (const TailAffine& affine : tail.affines) {
    params.affine[params.affines++] = {entries, affine.a.size() > 1 ? 1u : 0u};
    std::copy(affine.a.begin(), affine.a.end(), params.a + entries);
    std::copy(affine.b.begin(), affine.b.end(), params.b + entries);
    entries += static_cast<uint32_t>(affine.a.size());
  }
  if (!tail.fill.empty()) std::memcpy(params.fill, tail.fill.data(), tail.fill.size());
  std::memcpy(&params.view, &tail.view, sizeof params.view);
}

void set_shape(const Tail& tail, KernelParams& params) {
  const auto narrow = [](int64_t value) { return static_cast<uint32_t>(value); };
  params.row_elements = narrow(tail.images * tail.channels * tail.out_height * tail.out_width);
  params.in_elements = narrow(tail.in_bytes() / dtype_bytes(tail.from));
  params.channels = narrow(tail.channels);
  params.height = narrow(tail.out_height);
  params.width = narrow(tail.out_width);
  params.in_x = narrow(tail.in_planar ? 1 : tail.channels);
  params.in_y = narrow(tail.in_planar ? tail.in_width : tail.in_width * tail.channels);
  params.in_c = narrow(tail.in_planar ? tail.in_height * tail.in_width : 1);
  params.by_width = divisor_of(tail.out_width);
  params.by_channels = divisor_of(tail.channels);
  params.by_inner = divisor_of(tail.out_planar ? tail.out_height * tail.out_width : 1);
}

// The widest unit in which whole rows can be copied, given their size and alignment.
int64_t unit_of(const TailCall& call, const unsigned char* source, const unsigned char* target) {
  const uint64_t alignments = static_cast<uint64_t>(call.tail->in_bytes()) |
                              static_cast<uint64_t>(call.source_stride) |
                              reinterpret_cast<uintptr_t>(source) | reinterpret_cast<uintptr_t>(target);
  int64_t unit = kChunkBytes;
  while ((alignments & static_cast<uint64_t>(unit - 1)) != 0) unit /= 2;
  return unit;
}

}  // namespace

std::span<const char* const> kernel_names() { return kNames; }

std::optional<size_t> kernel_of(const Tail& tail) {
  const int64_t in_bytes = tail.in_bytes(), out_bytes = tail.out_bytes();
  const bool bytes_count = is_move(tail) && !tail.moves;  // the worst alignment
  const int64_t in = bytes_count ? in_bytes : in_bytes / dtype_bytes(tail.from);
  const int64_t out = bytes_count ? out_bytes : out_bytes / dtype_bytes(tail.to);
  if (in < 1 || out < 1 || in > kKernelElements || out > kKernelElements) return std::nullopt;
  if (!tables_fit(tail) || tail.fill.size() > kKernelFillBytes) return std::nullopt;
  if (tail.moves && tail.images != 1) return std::nullopt;
  const Body body = body_of(tail);
  if (is_move(tail))
    return find_kernel(body, raw_type(dtype_bytes(tail.from)), raw_type(dtype_bytes(tail.to)));
  return find_kernel(body, dtype_name(tail.from), dtype_name(tail.to));
}

KernelLaunch kernel_launch(const TailCall& call, std::byte* slot) {
  const Tail& tail = *call.tail;
  KernelLaunch out;
  KernelParams& params = out.params;
  const auto at = [](const std::byte* base, int64_t offset) {
    return reinterpret_cast<const unsigned char*>(base + offset);
  };
  params.source = at(call.resident != nullptr ? call.resident : slot, call.source_offset);
  params.target = reinterpret_cast<unsigned char*>(slot + call.target_offset);
  if (call.index_offset >= 0) params.index = reinterpret_cast<const int64_t*>(slot + call.index_offset);
  if (call.geometry_offset >= 0)
    params.geometry = reinterpret_cast<const KernelView*>(slot + call.geometry_offset);
  params.source_stride = call.source_stride;
  set_tables(tail, params);
  set_shape(tail, params);

  const Body body = body_of(tail);
  int64_t element_bytes = dtype_bytes(tail.to);
  if (body == kElements && is_move(tail)) {
    element_bytes = unit_of(call, params.source, params.target);
    params.row_elements = static_cast<uint32_t>(tail.out_bytes() / element_bytes);
    params.in_elements = params.row_elements;
    params.channels = 1;
    out.kernel = *find_kernel(body, raw_type(element_bytes), raw_type(element_bytes));
  } else {
    out.kernel = *kernel_of(tail);
  }
  out.target_bytes = tail.out_bytes();
  out.rows_each = kKernelElements / params.row_elements;
  out.chunk_elements = kChunkBytes / static_cast<uint32_t>(element_bytes);
  params.vector = reinterpret_cast<uintptr_t>(params.target) % kChunkBytes == 0 ? 1 : 0;
  params.by_row = divisor_of(params.row_elements);
  if (body == kPlanes) {
    const uint32_t plane = params.height * params.width;
    if (plane % out.chunk_elements != 0) params.vector = 0;
    if (params.vector == 0) out.chunk_elements = 1;
    params.by_row = divisor_of(plane / out.chunk_elements);
  }
  out.rows = call.rows;
  // Contiguous rows in order are handled as one long row.
  if (body == kElements && params.index == nullptr && call.source_stride == tail.in_bytes() &&
      call.rows <= out.rows_each) {
    params.row_elements *= static_cast<uint32_t>(call.rows);
    params.in_elements = params.row_elements;
    params.by_row = divisor_of(params.row_elements);
    out.rows = out.rows_each = 1;
    out.target_bytes *= call.rows;
  }
  return out;
}

KernelParams KernelLaunch::part(int64_t first) const {
  KernelParams out = params;
  out.rows = static_cast<uint32_t>(std::min(rows_each, rows - first));
  out.target += first * target_bytes;
  if (reinterpret_cast<uintptr_t>(out.target) % kChunkBytes != 0) out.vector = 0;
  if (out.geometry != nullptr) out.geometry += first;
  if (out.index != nullptr)
    out.index += first;
  else
    out.source += first * out.source_stride;
  return out;
}

uint32_t KernelLaunch::chunks(const KernelParams& part) const {
  if (kernel % kBodies == kPlanes) return part.rows * part.by_row.divisor;
  const uint32_t elements = part.rows * part.row_elements;
  return elements / chunk_elements + (elements % chunk_elements != 0 ? 1 : 0);
}

}  // namespace dataline
