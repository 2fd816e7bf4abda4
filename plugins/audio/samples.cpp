// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

#include <cmath>
#include <cstring>
#include <string_view>

#include "container.h"
#include "library.h"

namespace dataline_audio {

std::string type_text(const dl_operator_use& use) {
  std::string out = concat(use.kind == DL_KIND_RAGGED ? "ragged " : "", library.dtype_name(use.dtype), "[");
  for (int32_t d = 0; d < use.rank; ++d) {
    if (d > 0) out += 'x';
    out += use.shape[d] < 0 ? std::string("?") : std::to_string(use.shape[d]);
  }
  return out + ']';
}

Failure want_samples(const dl_operator_use& use, int64_t* channels) {
  const std::string_view axes(use.axes, strnlen(use.axes, sizeof use.axes));
  if (use.dtype == DL_DTYPE_U8 && use.kind == DL_KIND_RAGGED)
    return failure(DL_ERR_BAD_TRANSFORM, "expected samples of f32, got ", type_text(use),
                   "; put decode_audio before");
  if (use.dtype != DL_DTYPE_F32)
    return failure(DL_ERR_BAD_TRANSFORM, "expected samples of f32, got ", type_text(use),
                   "; cast(f32) and scale convert integers");
  const bool has_time_first =
      use.rank == 1 || (use.rank == 2 && (use.kind == DL_KIND_RAGGED || axes == "TC"));
  if (!has_time_first)
    return failure(DL_ERR_BAD_TRANSFORM,
                   "expected samples as f32[time], or f32[time x channels] with axes TC, got ",
                   type_text(use), " with axes '", axes, "'");
  *channels = use.rank == 2 ? use.shape[1] : 0;
  if (use.rank == 2 && (*channels < 1 || *channels > kMaxChannels))
    return failure(DL_ERR_BAD_TRANSFORM, "expected 1 to ", kMaxChannels, " channels, got ", *channels);
  return {};
}

void give(dl_operator_use& use, int64_t time, int64_t width, const char* axes) {
  use.kind = time < 0 ? DL_KIND_RAGGED : DL_KIND_DENSE;
  use.dtype = DL_DTYPE_F32;
  use.rank = width > 0 ? 2 : 1;
  use.shape[0] = time;
  if (width > 0) use.shape[1] = width;
  std::memset(use.axes, 0, sizeof use.axes);
  std::memcpy(use.axes, axes, std::strlen(axes));
  use.max_bytes = -1;
}

const float* floats_of(const dl_operator_row& row, std::vector<float>& copy) {
  if (reinterpret_cast<uintptr_t>(row.input) % alignof(float) == 0)
    return static_cast<const float*>(row.input);
  copy.resize(static_cast<size_t>(row.input_bytes / kItem));
  std::memcpy(copy.data(), row.input, copy.size() * sizeof(float));
  return copy.data();
}

Failure read_seconds(Arguments& arguments, int32_t index, int64_t rate, int64_t* frames) {
  double seconds = 0;
  if (Failure failed = arguments.number(index, 0, kMostSeconds, &seconds)) return failed;
  *frames = std::llround(seconds * static_cast<double>(rate));
  return *frames < 1 ? arguments.wrong(index, "at least one sample") : Failure{};
}

Failure read_short(Arguments& arguments, int32_t index, Short* out) {
  int32_t word = 0;
  Failure failed = arguments.word(index, {"pad", "repeat", "error"}, &word);
  *out = static_cast<Short>(word);
  return failed;
}

Failure read_quality(Arguments& arguments, int32_t index, Quality* out) {
  int32_t word = 0;
  Failure failed = arguments.word(index, {"qq", "lq", "mq", "hq", "vhq"}, &word);
  *out = static_cast<Quality>(word);
  return failed;
}

}  // namespace dataline_audio
