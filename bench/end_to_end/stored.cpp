// The rows of rows_u8_47mb and their labels as other libraries store them (bench/peers writes the files) and as CSV, beside the
// bare gather of the same rows from .npy; and JSON lines.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string_view>

#include "bench/end_to_end/text_files.h"
#include "bench/end_to_end/u8_rows.h"

namespace bench {

namespace {

int64_t row_count(const Settings& settings) { return settings.small ? 6'000 : 60'000; }

int64_t label_in(const dl_view& view, int64_t row) {
  int64_t label = 0;
  std::memcpy(&label, row_data(view, row), sizeof label);
  return label;
}

// The .npy file's path with another ending.
std::string path_of(const Rows& rows, const std::string& suffix) {
  return rows.file.substr(0, rows.file.rfind('.')) + suffix;
}

std::vector<Variant> stored(const Rows& rows, const std::string& uri) {
  std::vector<Variant> variants;
  std::vector<uint32_t> order;
  for (const int workers : {0, 1, 2}) {
    auto job = shuffled_job(uri, workers);
    order = job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
      return std::memcmp(row_data(views[0], row), rows.base + sample * kRowBytes, kRowBytes) == 0 &&
             label_in(views[1], row) == sample % kLabels;
    });
    variants.push_back(job_variant(workers, std::move(job)));
  }
  for (const int threads : {1, 2})
    variants.push_back(bare_variant(gather_work(rows, order), threads, "", rows.map));
  return variants;
}

// In the file that is named as its format is.
std::vector<Variant> stored_as(const Settings& settings, const std::string& format,
                               const std::string& fields) {
  const Rows rows = open_rows(settings, row_count(settings));
  return stored(rows, format + ":" + path_of(rows, "." + format) + "?fields=" + fields);
}

}  // namespace

std::vector<Variant> tfrecord(const Settings& settings) {
  return stored_as(settings, "tfrecord", "image:u8[784],label:i64");
}

std::vector<Variant> mds(const Settings& settings) { return stored_as(settings, "mds", "image,label"); }

std::vector<Variant> litdata(const Settings& settings) {
  return stored_as(settings, "litdata", "image,label");
}

std::vector<Variant> arrow(const Settings& settings) { return stored_as(settings, "arrow", "image,label"); }

std::vector<Variant> safetensors(const Settings& settings) {
  return stored_as(settings, "safetensors", "image,label");
}

std::vector<Variant> npz(const Settings& settings) { return stored_as(settings, "npz", "image,label"); }

std::vector<Variant> csv(const Settings& settings) {
  const int64_t count = row_count(settings);
  const Rows rows = open_rows(settings, count);
  const std::string path = csv_file(path_of(rows, ".csv"), rows.base, count, kRowBytes);
  return stored(rows, "csv:" + path + "?fields=pixel0:u8[784],label:i64");
}

std::vector<Variant> jsonl(const Settings& settings) {
  const std::string uri =
      "jsonl:" + json_lines_file(settings.data_dir, row_count(settings)) + "?fields=label:i64,text:text";
  std::vector<Variant> variants;
  for (const int workers : {0, 1, 2}) {
    auto job = shuffled_job(uri, workers);
    job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
      const auto* bytes = static_cast<const char*>(views[1].data) + views[1].byte_offset;
      const int64_t begin = views[1].offsets[row], end = views[1].offsets[row + 1];
      return std::string_view(bytes + begin, static_cast<size_t>(end - begin)) == text_of_line(sample) &&
             label_in(views[0], row) == sample % kLabels;
    });
    variants.push_back(job_variant(workers, std::move(job)));
  }
  return variants;
}

}  // namespace bench
