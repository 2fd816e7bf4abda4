// The folders of photographs that rows read: links to existing ones, and files made from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/end_to_end/photo_floor.h"

namespace bench {

struct PhotoSet {
  std::string folder;  // class folders of JPEG files
  // Its contents in the order of a class-folder reader: classes by name, files by name.
  std::shared_ptr<std::vector<Photo>> photos;
};

// Links to the photographs of settings.photos_dir, each `repeats` times: an epoch of 1,000 (small: 64).
PhotoSet photo_set(const Settings& settings);

// One file in ten is a large progressive JPEG, whose decoding takes about 50 times as long: 320 files (small: 40).
PhotoSet slow_photo_set(const Settings& settings);

// Pictures of 256 x 256 cut out of the photographs, as u8 (1000, 256, 256, 3) in a .npy file (small: 64).
std::string raw_photo_file(const Settings& settings, int64_t* count);

// The photographs scaled to 350 x 260, as u8 (250, 260, 350, 3) in a .npy file (small: 16).
std::string pass_photo_file(const Settings& settings, int64_t* count);

}  // namespace bench
