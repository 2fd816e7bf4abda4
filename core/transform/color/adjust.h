// Colour operators on whole frames of 1 or 3 channels, as torchvision.transforms.v2.functional defines them on uint8 tensors.
//
// All work in place. Those that return a Status take a few lines of memory from the scratch and give it back.
// Cost of a table: about a nanosecond per pixel; its statistics (autocontrast, equalize, contrast) another.
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/base/status.h"
#include "core/transform/color/kernels.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// Operators that map each byte of a channel by a table, which is torchvision's function evaluated level by level.
using LevelTable = std::array<uint8_t, 256>;
// One per channel; frames of one channel use the first.
using ChannelTables = std::array<LevelTable, 3>;

LevelTable solarize_levels(double threshold);  // solarize_image: inverts from the threshold on
LevelTable posterize_levels(int64_t bits);     // posterize_image: keeps the upper 0..8 bits
LevelTable invert_levels();                    // invert_image

ChannelTables autocontrast_levels(
    const Frame& frame);                            // autocontrast_image: stretches each channel to 0..255
ChannelTables equalize_levels(const Frame& frame);  // equalize_image: Pillow's scheme, per channel

void map_levels(const LevelTable& table, Frame& frame);
void map_levels(const ChannelTables& tables, Frame& frame);

constexpr double kMaxFactor = 1e6;  // of the functions below; minimum 0

void adjust_brightness(double factor, Frame& frame);
void adjust_contrast(const ColorKernels& kernels, double factor, Frame& frame);
// Frames of one channel are left as they are. shift: -0.5 .. 0.5 turns.
void adjust_saturation(const ColorKernels& kernels, double factor, Frame& frame);
void adjust_hue(const ColorKernels& kernels, double shift, Frame& frame);
// Frames of up to 2 lines or columns are left as they are.
Status adjust_sharpness(const ColorKernels& kernels, double factor, FrameScratch& scratch, Frame& frame);

// rgb_to_grayscale: to one channel, or the same in three. A frame of one channel becomes one of three in new scratch memory.
Status make_gray(const ColorKernels& kernels, int64_t channels, FrameScratch& scratch, Frame& frame);

// One side of a kernel: odd, at most kMax; weights[i] for the taps i and taps - 1 - i.
struct BlurSide {
  static constexpr int64_t kMax = 255;
  int64_t taps = 1;
  std::array<float, kMax / 2 + 1> weights{1};
};

// torchvision's _get_gaussian_kernel1d: weights exp(-x^2 / (2 sigma^2)), x in pixels from the middle, with sum 1.
BlurSide gaussian_side(int64_t taps, double sigma);

// gaussian_blur_image: reflected at the borders, rounded to nearest. Separable, in f32, where torchvision convolves in 2D: a
// level may differ where a sum is half way between two. Cost: proportional to the sum of both kernel sides; extra memory of
// about as many lines as the kernel is high. kOutOfRange if a side of the frame is not larger than half the kernel's: the
// reflection would run out of pixels.
Status blur(const ColorKernels& kernels, const BlurSide& across, const BlurSide& down, FrameScratch& scratch,
            Frame& frame);

}  // namespace dataline
