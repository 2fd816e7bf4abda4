// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/image_summary.h"

#include <algorithm>
#include <bit>

#include "bindings/cli/failure.h"
#include "bindings/cli/output.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

constexpr size_t kMaxNamed = 5;
constexpr size_t kBarColumns = 40;
constexpr int64_t kBetweenLooks = 256;  // samples between checks of the clock and the signals

// Errors of the request or the machine, not of one image.
bool concerns_all(dl_status status) {
  const bool machine = status <= DL_ERR_NO_MEMORY && status > DL_ERR_NOT_FOUND;  // -20 .. -39
  return status >= 0 || status == DL_ERR_NO_SUCH_FIELD || status == DL_ERR_UNSUPPORTED ||
         status == DL_ERR_INVALID_ARGUMENT || machine;
}

Spread spread_of(std::vector<int64_t>& values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const int64_t median = *middle;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return {*min, median, *max};
}

std::vector<SizeBucket> buckets_of(const std::vector<int64_t>& pixels) {
  std::vector<SizeBucket> all(63);
  for (size_t i = 0; i < all.size(); ++i)
    all[i].from = int64_t{1} << i, all[i].below = i < 62 ? int64_t{1} << (i + 1) : INT64_MAX;
  for (int64_t count : pixels)
    ++all[static_cast<size_t>(std::bit_width(static_cast<uint64_t>(count)) - 1)].count;
  while (!all.empty() && all.back().count == 0) all.pop_back();
  const auto first = std::find_if(all.begin(), all.end(), [](const SizeBucket& b) { return b.count > 0; });
  all.erase(all.begin(), first);
  return all;
}

// The values of all images: 32 bytes per image.
struct Values {
  std::vector<int64_t> width{}, height{}, pixels{}, bytes{};

  void add(const dl_image_info& info) {
    width.push_back(info.width);
    height.push_back(info.height);
    pixels.push_back(std::max<int64_t>(1, info.width * info.height));
    bytes.push_back(info.bytes);
  }
};

void count(const dl_image_info& info, ImageSummary& out) {
  ++out.read;
  out.jpeg += info.format == DL_IMAGE_JPEG ? 1 : 0;
  out.png += info.format == DL_IMAGE_PNG ? 1 : 0;
  out.webp += info.format == DL_IMAGE_WEBP ? 1 : 0;
  out.pnm += info.format == DL_IMAGE_PNM ? 1 : 0;
  out.turned += info.orientation > 1 ? 1 : 0;
  out.progressive += info.progressive != 0 ? 1 : 0;
  out.grey += info.channels <= 2 ? 1 : 0;
}

std::string range_text(const Spread& spread) {
  return grouped(spread.min) + " / " + grouped(spread.median) + " / " + grouped(spread.max);
}

// "jpeg 118, png 2"
std::string formats_text(const ImageSummary& summary) {
  std::string out;
  const auto add = [&](const char* name, int64_t n) {
    if (n > 0) out += (out.empty() ? "" : ", ") + std::string(name) + " " + grouped(n);
  };
  add("jpeg", summary.jpeg);
  add("png", summary.png);
  add("webp", summary.webp);
  add("pnm", summary.pnm);
  return out.empty() ? "none" : out;
}

std::string histogram_text(const ImageSummary& summary) {
  int64_t max = 1;
  for (const SizeBucket& bucket : summary.buckets) max = std::max(max, bucket.count);
  std::vector<std::vector<std::string>> rows = {{"pixels from", "below", "images", ""}};
  for (const SizeBucket& bucket : summary.buckets) {
    const auto columns =
        static_cast<size_t>(static_cast<double>(bucket.count) / static_cast<double>(max) * kBarColumns);
    const std::string bar(bucket.count > 0 ? std::max<size_t>(columns, 1) : 0, '#');
    rows.push_back({grouped(bucket.from), grouped(bucket.below), grouped(bucket.count), bar});
  }
  return table_text(rows, output_width(), 0);
}

void append_spread(const char* key, const Spread& spread, Json& json) {
  json.key(key).begin_object();
  json.key("min").value(spread.min);
  json.key("median").value(spread.median);
  json.key("max").value(spread.max);
  json.end_object();
}

// The field that the library chooses if none is named; "" if it chooses none.
std::string image_field(const dl_dataset* dataset) {
  std::vector<std::string> candidates;
  for (const dl_view& field : Views(dataset)) {
    if (field.kind == DL_KIND_RAGGED && field.dtype == DL_DTYPE_U8 && field.rank == 1)
      candidates.emplace_back(field.name);
  }
  if (std::find(candidates.begin(), candidates.end(), "image") != candidates.end()) return "image";
  return candidates.size() == 1 ? candidates.front() : "";
}

}  // namespace

ImageSummary summarize_images(const dl_dataset* dataset, const std::string& field, const Job& job,
                              const Interrupts& interrupts, Progress& progress) {
  ImageSummary out;
  out.field = field.empty() ? image_field(dataset) : field;
  Values values;
  const int64_t samples = dl_dataset_count(dataset);
  for (int64_t i = 0; i < samples; ++i) {
    if (i % kBetweenLooks == 0) {
      if (interrupts.came()) throw Interrupted{interrupts.signal()};
      if (progress.due()) progress.show("info: image " + grouped(i) + " of " + grouped(samples));
    }
    auto info = sized<dl_image_info>();
    dl_error error = DL_ERROR_INIT;
    const dl_status status =
        dl_dataset_image_info(dataset, out.field.empty() ? nullptr : out.field.c_str(), i, &info, &error);
    if (status == DL_OK) {
      count(info, out);
      values.add(info);
    } else if (concerns_all(status)) {
      job.check(status, error);
    } else {
      ++out.unreadable;
      if (out.named.size() < kMaxNamed) out.named.emplace_back(error.message);  // "sample 7: ..."
    }
  }
  out.buckets = buckets_of(values.pixels);
  out.width = spread_of(values.width);
  out.height = spread_of(values.height);
  out.pixels = spread_of(values.pixels);
  out.bytes = spread_of(values.bytes);
  return out;
}

std::string images_text(const ImageSummary& summary) {
  std::vector<std::vector<std::string>> rows = {
      {"images", grouped(summary.read) + " read, " + grouped(summary.unreadable) + " unreadable" +
                     (summary.field.empty() ? "" : " (field '" + summary.field + "')")},
      {"formats", formats_text(summary)},
      {"", grouped(summary.progressive) + " progressive or interlaced, " + grouped(summary.grey) + " grey, " +
               grouped(summary.turned) + " with an Exif orientation"}};
  if (summary.read > 0) {
    rows.push_back({"min / median / max", ""});
    rows.push_back({"  width", range_text(summary.width)});
    rows.push_back({"  height", range_text(summary.height)});
    rows.push_back({"  pixels", range_text(summary.pixels)});
    rows.push_back({"  bytes", range_text(summary.bytes)});
  }
  for (const std::string& name : summary.named) rows.push_back({"unreadable", name});
  if (summary.unreadable > static_cast<int64_t>(summary.named.size())) {
    rows.push_back(
        {"", "and " + grouped(summary.unreadable - static_cast<int64_t>(summary.named.size())) + " more"});
  }
  return table_text(rows, output_width(), 0) + (summary.read > 0 ? "\n" + histogram_text(summary) : "");
}

void append_images(const ImageSummary& summary, Json& json) {
  json.key("images").begin_object();
  json.key("field").text_or_null(summary.field);
  json.key("read").value(summary.read);
  json.key("unreadable").value(summary.unreadable);
  json.key("unreadable_samples").begin_array();
  for (const std::string& name : summary.named) json.value(name);
  json.end_array().key("formats").begin_object();
  json.key("jpeg").value(summary.jpeg);
  json.key("png").value(summary.png);
  json.key("webp").value(summary.webp);
  json.key("pnm").value(summary.pnm);
  json.end_object();
  json.key("progressive").value(summary.progressive);
  json.key("grey").value(summary.grey);
  json.key("oriented").value(summary.turned);
  append_spread("width", summary.width, json);
  append_spread("height", summary.height, json);
  append_spread("pixels", summary.pixels, json);
  append_spread("bytes", summary.bytes, json);
  json.key("histogram").begin_array();
  for (const SizeBucket& bucket : summary.buckets) {
    json.begin_object();
    json.key("pixels_from").value(bucket.from);
    json.key("pixels_below").value(bucket.below);
    json.key("images").value(bucket.count);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace dataline::cli
