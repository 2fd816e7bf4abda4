// Colour operators that are one table: each byte of a channel becomes another one. The tables are torchvision's functions
// of transforms.v2.functional on uint8 tensors, level by level, so the results are equal to theirs.
//
// Cost: the pass over the pixels about a nanosecond a pixel; statistics (autocontrast, equalize, contrast) another.
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/transform/frame/frame.h"

namespace dataline {

using LevelTable = std::array<uint8_t, 256>;
// One a channel; the first for frames of one.
using ChannelTables = std::array<LevelTable, 3>;

LevelTable brightness_levels(double factor);            // adjust_brightness_image
LevelTable contrast_levels(double factor, float mean);  // adjust_contrast_image: mean of the grey image
LevelTable solarize_levels(double threshold);           // solarize_image: inverts from the threshold on
LevelTable posterize_levels(int64_t bits);              // posterize_image: keeps the upper 0..8 bits
LevelTable invert_levels();                             // invert_image

// Of a frame of 1 or 3 channels.
ChannelTables autocontrast_levels(
    const Frame& frame);  // autocontrast_image: stretches each channel to 0..255
ChannelTables equalize_levels(
    const Frame& frame);  // equalize_image: Pillow's scheme, each channel on its own

// In place.
void map_levels(const LevelTable& table, Frame& frame);
void map_levels(const ChannelTables& tables, Frame& frame);

}  // namespace dataline
