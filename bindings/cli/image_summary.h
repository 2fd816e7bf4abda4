// `dataline info --images`: formats and sizes of the encoded images of a dataset, from their headers alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <string>
#include <vector>

#include "bindings/cli/interrupts.h"
#include "bindings/cli/job.h"
#include "bindings/cli/json.h"
#include "bindings/cli/progress.h"

namespace dataline::cli {

struct Spread {
  int64_t min = 0, median = 0, max = 0;
};

struct SizeBucket {
  int64_t from = 0, below = 0;  // pixels, from one power of two to the next
  int64_t count = 0;
};

struct ImageSummary {
  std::string field;
  int64_t read = 0;
  int64_t jpeg = 0, png = 0, webp = 0, pnm = 0;
  int64_t turned = 0;  // Exif orientation other than 1
  int64_t progressive = 0, grey = 0;
  Spread width{}, height{}, pixels{}, bytes{};
  std::vector<SizeBucket> buckets{};  // without empty ones at the ends
  int64_t unreadable = 0;
  std::vector<std::string> named{};  // the first few: "sample 7: ..."
};

// Reads the header of every image of `field` (empty: the library chooses). Throws Failure if there are no images.
ImageSummary summarize_images(const dl_dataset* dataset, const std::string& field, const Job& job,
                              const Interrupts& interrupts, Progress& progress);

std::string images_text(const ImageSummary& summary);
void append_images(const ImageSummary& summary, Json& json);  // the key "images"

}  // namespace dataline::cli
