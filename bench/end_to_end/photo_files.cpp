// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/photo_files.h"

#include <unistd.h>

#include <cstdio>
// jpeglib.h needs stdio's FILE.
#include <jpeglib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/end_to_end/files.h"

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kRepeats = 4;
constexpr int32_t kRawSide = 256;
constexpr int32_t kPassWidth = 350, kPassHeight = 260;
constexpr int32_t kSlowWidth = 3008, kSlowHeight = 2256;

std::vector<fs::path> photographs(const Settings& settings) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(settings.photos_dir, error)) {
    if (entry.is_regular_file()) found.push_back(fs::canonical(entry.path()));
  }
  if (found.empty()) fail("no photographs in \"" + settings.photos_dir + "\" (--photos DIR)");
  std::sort(found.begin(), found.end());
  if (settings.small) found.resize(std::min<size_t>(found.size(), 16));
  return found;
}

std::vector<uint8_t> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("opening " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder under a temporary name, renamed when it is complete.
template <typename Fill>
std::string make_folder(const std::string& path, Fill fill) {
  if (fs::exists(path)) return path;
  const std::string draft = path + "." + std::to_string(::getpid());
  fs::create_directories(draft);
  fill(fs::path(draft));
  fs::rename(draft, path);
  return path;
}

PhotoSet load(const std::string& folder) {
  PhotoSet set{folder, std::make_shared<std::vector<Photo>>()};
  std::vector<fs::path> classes{fs::directory_iterator(folder), {}};
  std::sort(classes.begin(), classes.end());
  for (size_t label = 0; label < classes.size(); ++label) {
    std::vector<fs::path> files{fs::directory_iterator(classes[label]), {}};
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      Photo photo{read_file(path), static_cast<int64_t>(label), 0, 0};
      CropDecoder::size_of(photo.file, &photo.width, &photo.height);
      set.photos->push_back(std::move(photo));
    }
  }
  return set;
}

// Bilinear, with eight bits of fraction: quality does not matter, as long as the result looks like a photograph.
std::vector<uint8_t> scaled_to(const PhotoPixels& from, int32_t width, int32_t height) {
  std::vector<uint8_t> out(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
  for (int32_t y = 0; y < height; ++y) {
    const int64_t at_y = int64_t{y} * (from.height - 1) * 256 / height;
    const uint8_t* line = from.data + at_y / 256 * from.stride;
    for (int32_t x = 0; x < width; ++x) {
      const int64_t at_x = int64_t{x} * (from.width - 1) * 256 / width;
      const uint8_t* pixel = line + at_x / 256 * 3;
      uint8_t* to = out.data() + (int64_t{y} * width + x) * 3;
      for (int c = 0; c < 3; ++c) {
        const int64_t above = pixel[c] * (256 - at_x % 256) + pixel[c + 3] * (at_x % 256);
        const uint8_t* below = pixel + from.stride + c;
        const int64_t under = below[0] * (256 - at_x % 256) + below[3] * (at_x % 256);
        to[c] = static_cast<uint8_t>((above * (256 - at_y % 256) + under * (at_y % 256)) >> 16);
      }
    }
  }
  return out;
}

void write_progressive(const fs::path& path, const std::vector<uint8_t>& rgb, int32_t width, int32_t height) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail("creating " + path.string());
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 92, TRUE);
  jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<uint8_t*>(rgb.data()) + int64_t{jpeg.next_scanline} * width * 3;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  if (std::fclose(file) != 0) fail("writing " + path.string());
}

std::string numbered(int64_t number, const char* what) {
  char text[64];
  std::snprintf(text, sizeof text, "%04lld_%s.jpeg", static_cast<long long>(number), what);
  return text;
}

}  // namespace

PhotoSet photo_set(const Settings& settings) {
  const std::vector<fs::path> files = photographs(settings);
  const std::string name = "photos_" + std::to_string(static_cast<int64_t>(files.size()) * kRepeats);
  return load(make_folder(settings.data_dir + "/" + name, [&](const fs::path& folder) {
    for (const fs::path& file : files) {
      const fs::path into = folder / file.parent_path().filename();
      fs::create_directories(into);
      for (int64_t i = 0; i < kRepeats; ++i) {
        fs::create_symlink(file, into / (std::to_string(i) + "_" + file.filename().string()));
      }
    }
  }));
}

PhotoSet slow_photo_set(const Settings& settings) {
  const std::vector<fs::path> files = photographs(settings);
  const int64_t count = settings.small ? 40 : 320;
  return load(make_folder(settings.data_dir + "/slow_" + std::to_string(count), [&](const fs::path& folder) {
    const fs::path slow = folder / "slow";
    const fs::path usual = folder / "usual";
    fs::create_directories(slow);
    fs::create_directories(usual);
    CropDecoder decoder;
    for (int64_t i = 0; i < count; ++i) {
      const fs::path& file = files[static_cast<size_t>(i) % files.size()];
      if (i % 10 != 0) {
        fs::create_symlink(file, usual / numbered(i, "usual"));
      } else if (i < 40) {
        write_progressive(slow / numbered(i, "slow"),
                          scaled_to(decoder.decode(read_file(file), {}), kSlowWidth, kSlowHeight), kSlowWidth,
                          kSlowHeight);
      } else {
        fs::create_symlink(numbered(i % 40, "slow"), slow / numbered(i, "slow"));
      }
    }
  }));
}

std::string raw_photo_file(const Settings& settings, int64_t* count) {
  const PhotoSet set = photo_set(settings);
  *count = static_cast<int64_t>(set.photos->size());
  const std::string shape = std::to_string(*count) + ", 256, 256, 3";
  const std::string path = settings.data_dir + "/raw_" + std::to_string(*count) + "x256x256x3.npy";
  return made_npy(path, shape, *count * kRawSide * kRawSide * 3, [&](std::vector<uint8_t>* bytes) {
    CropDecoder decoder;
    FusedPass pass;
    uint64_t random = 2;
    for (int64_t i = 0; i < *count; ++i) {
      const Photo& photo = (*set.photos)[static_cast<size_t>(i)];
      const PhotoCrop crop = draw_crop(photo.width, photo.height, &random);
      pass.run_u8(decoder.decode(photo.file, crop), kRawSide, bytes->data() + i * kRawSide * kRawSide * 3);
    }
  });
}

std::string pass_photo_file(const Settings& settings, int64_t* count) {
  const std::vector<fs::path> files = photographs(settings);
  *count = static_cast<int64_t>(files.size());
  const std::string shape = std::to_string(*count) + ", 260, 350, 3";
  const std::string path = settings.data_dir + "/pass_" + std::to_string(*count) + "x260x350x3.npy";
  constexpr int64_t kBytes = int64_t{kPassHeight} * kPassWidth * 3;
  return made_npy(path, shape, *count * kBytes, [&](std::vector<uint8_t>* bytes) {
    CropDecoder decoder;
    for (int64_t i = 0; i < *count; ++i) {
      const PhotoPixels whole = decoder.decode(read_file(files[static_cast<size_t>(i)]), {});
      const std::vector<uint8_t> scaled = scaled_to(whole, kPassWidth, kPassHeight);
      std::copy(scaled.begin(), scaled.end(), bytes->begin() + i * kBytes);
    }
  });
}

}  // namespace bench
