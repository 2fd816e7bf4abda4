// Fields of samples: what an operator accepts, and how it says what it gives.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arguments.h"
#include "piece.h"
#include "resampler.h"

namespace dataline_audio {

constexpr int64_t kItem = sizeof(float);
constexpr int64_t kMostSeconds = 1000000;
constexpr const char* kQualityText = "qq, lq, mq, hq or vhq";

std::string type_text(const dl_operator_use& use);

// Samples as f32: the first dim is time, a second one channels. *channels: 0 if there is no second.
Failure want_samples(const dl_operator_use& use, int64_t* channels);

// The field after: f32, `time` rows (-1: they vary) of `width` items (0: no second dim).
void give(dl_operator_use& use, int64_t time, int64_t width, const char* axes);
inline const char* samples_axes(int64_t channels) { return channels > 0 ? "TC" : "T"; }

// The input as floats, copied where it lies at an odd address.
const float* floats_of(const dl_operator_row& row, std::vector<float>& copy);

// Frames of so many seconds.
Failure read_seconds(Arguments& arguments, int32_t index, int64_t rate, int64_t* frames);

constexpr const char* kShortText = "pad, repeat or error";
Failure read_short(Arguments& arguments, int32_t index, Short* out);

Failure read_quality(Arguments& arguments, int32_t index, Quality* out);

}  // namespace dataline_audio
