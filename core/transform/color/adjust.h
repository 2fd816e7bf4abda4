// Colour operators on whole frames of 1 or 3 channels, as torchvision.transforms.v2.functional has them on uint8 tensors.
//
// All work in place. Those that return a Status take a few lines of memory from the scratch and give it back.
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/transform/color/kernels.h"
#include "core/transform/frame/frame.h"

namespace dataline {

constexpr double kMostFactor = 1e6;  // of what follows; from 0

void adjust_brightness(double factor, Frame& frame);
void adjust_contrast(const ColorKernels& kernels, double factor, Frame& frame);
void adjust_saturation(const ColorKernels& kernels, double factor, Frame& frame);  // one channel: nothing
void adjust_hue(const ColorKernels& kernels, double shift,
                Frame& frame);  // -0.5 .. 0.5 turns; one channel: nothing
// Frames of 2 lines or columns at most stay as they are.
Status adjust_sharpness(const ColorKernels& kernels, double factor, FrameScratch& scratch, Frame& frame);

// rgb_to_grayscale: to one channel, or the same in three; a frame of one becomes one of three through the scratch.
Status make_gray(const ColorKernels& kernels, int64_t channels, FrameScratch& scratch, Frame& frame);

}  // namespace dataline
