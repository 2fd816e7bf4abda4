// Photographs to normalised batches: a folder of JPEGs, raw pixels, a folder with slow files, and the memory this takes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/end_to_end/job.h"
#include "bench/end_to_end/parquet.h"
#include "bench/end_to_end/photo_files.h"
#include "bench/end_to_end/photo_floor.h"
#include "bench/end_to_end/row.h"

namespace bench {

namespace {

// A turn starts by discarding batches that may have been ready before: the maximum, and some more.
constexpr int64_t kLead = 12;
constexpr const char* kDecodeAndCrop =
    "image: decode, random_resized_crop(224), hflip, normalize(imagenet), chw";

OptionList options_of(int workers, const std::string& transform, const char* shuffle = "full") {
  return {{"batch_size", std::to_string(kPhotoBatch)},
          {"shuffle", shuffle},
          {"num_workers", std::to_string(workers)},
          {"transform", transform}};
}

Throughput consume_batches(Job& job, int64_t batches) {
  Throughput done;
  const int64_t begin = now_ns();
  const int64_t cpu_begin = process_cpu_ns();
  for (; done.batches < batches; ++done.batches) {
    dl_batch* batch = job.next();
    done.rows += batch_rows(batch);
    done.bytes += batch_bytes(batch);
    dl_batch_release(batch);
  }
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  return done;
}

// Adds one delivered picture, after checking that its values are plausible.
bool add_picture(const dl_view& view, int64_t row, PhotoStatistics* statistics) {
  if (view.dtype != DL_DTYPE_F32 || view.rank != 4 || view.shape[1] != 3 || view.shape[2] != kPhotoSide ||
      view.shape[3] != kPhotoSide) {
    return false;
  }
  const auto* planes = reinterpret_cast<const float*>(row_data(view, row));
  for (int64_t i = 0; i < kPhotoValues; ++i) {
    if (!(planes[i] > -2.2f && planes[i] < 2.7f)) return false;  // black and white, normalised
  }
  statistics->add(planes);
  return true;
}

void check_statistics(const PhotoStatistics& got, const PhotoStatistics& wanted) {
  // Rectangles are random: the fewer pictures, the more epochs differ.
  const double tolerance = got.count() >= 1000 ? 0.1 : 0.4;
  for (int c = 0; c < 3; ++c) {
    if (std::fabs(got.mean(c) - wanted.mean(c)) > tolerance ||
        std::fabs(got.deviation(c) - wanted.deviation(c)) > tolerance) {
      fail("channel " + std::to_string(c) + ": mean " + std::to_string(got.mean(c)) + ", deviation " +
           std::to_string(got.deviation(c)) + "; bare decoding gives " + std::to_string(wanted.mean(c)) +
           " and " + std::to_string(wanted.deviation(c)));
    }
  }
}

// Stored next to the folder for the other loaders' programs: the statistics of an epoch of any correct loader.
void write_statistics(const std::string& path, const PhotoStatistics& statistics) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) fail("creating " + path);
  for (int c = 0; c < 3; ++c) std::fprintf(file, "%.6f %.6f\n", statistics.mean(c), statistics.deviation(c));
  if (std::fclose(file) != 0) fail("writing " + path);
}

using JobMaker = std::function<std::shared_ptr<Job>(int workers)>;

JobMaker folder_jobs(const PhotoSet& set) {
  return [folder = set.folder](int workers) {
    return std::make_shared<Job>("folder:" + folder, options_of(workers, kDecodeAndCrop));
  };
}

PhotoStatistics statistics_of(const PhotoSet& set) {
  PhotoStatistics statistics;
  BarePhotos(set.photos, 1, 1).statistics(&statistics);
  return statistics;
}

// Loaders of the set, verified: each picture once per epoch, with its label, in the same order for any number of
// workers.
std::vector<std::shared_ptr<Job>> checked_jobs(const PhotoSet& set, const PhotoStatistics& wanted,
                                               const JobMaker& make, std::initializer_list<int> workers) {
  std::vector<std::shared_ptr<Job>> jobs;
  std::vector<uint32_t> order;
  for (const int count : workers) {
    auto job = make(count);
    PhotoStatistics got;
    const std::vector<uint32_t> delivered =
        job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
          return *reinterpret_cast<const int64_t*>(row_data(views[1], row)) ==
                     (*set.photos)[static_cast<size_t>(sample)].label &&
                 add_picture(views[0], row, &got);
        });
    check_statistics(got, wanted);
    if (!order.empty() && order != delivered) fail("the order depends on num_workers");
    order = delivered;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// `name` is the start of the variants' names.
void add_loaders(const PhotoSet& set, const PhotoStatistics& wanted, const JobMaker& make,
                 const std::string& name, std::vector<Variant>& variants) {
  const auto jobs = checked_jobs(set, wanted, make, {0, 1, 2});
  for (size_t i = 0; i < jobs.size(); ++i) {
    variants.push_back({name + " w" + std::to_string(i),
                        [job = jobs[i]](const std::string& variant, double seconds, Report& report) {
                          skip(*job, kLead);
                          report_throughput(report, variant, consume(*job, seconds));
                        }});
  }
}

}  // namespace

std::vector<Variant> photos(const Settings& settings) {
  const PhotoSet set = photo_set(settings);
  std::vector<Variant> variants;
  PhotoStatistics statistics;
  for (const int threads : {1, 2}) {
    auto bare = std::make_shared<BarePhotos>(set.photos, 1, threads);
    if (threads == 1) bare->statistics(&statistics);
    variants.push_back({"bare decode " + std::to_string(threads),
                        [bare](const std::string& name, double seconds, Report& report) {
                          report_throughput(report, name, bare->run(seconds));
                        }});
  }
  write_statistics(set.folder + ".statistics", statistics);
  add_loaders(set, statistics, folder_jobs(set), "dataline", variants);
  return variants;
}

std::vector<Variant> photos_libjpeg(const Settings& settings) {
  const PhotoSet set = photo_set(settings);
  std::vector<Variant> variants;
  add_loaders(set, statistics_of(set), folder_jobs(set), "dataline libjpeg", variants);
  return variants;
}

// The same files in a binary column of Parquet (bench/peers writes it), in windows of row groups, two of them open.
std::vector<Variant> parquet_images(const Settings& settings) {
  const PhotoSet set = photo_set(settings);
  const PhotoStatistics statistics = statistics_of(set);
  write_statistics(set.folder + ".statistics", statistics);
  const std::string uri = "parquet:" + set.folder + ".parquet?fields=image,label&cache_bytes=48MiB";
  std::vector<Variant> variants;
  add_loaders(
      set, statistics,
      [&](int workers) {
        return std::make_shared<Job>(uri, options_of(workers, kDecodeAndCrop, "window"), nullptr,
                                     parquet_plugin());
      },
      "dataline", variants);
  return variants;
}

std::vector<Variant> raw_photos(const Settings& settings) {
  int64_t count = 0;
  const std::string file = raw_photo_file(settings, &count);
  struct Form {
    const char* name;
    const char* transform;
  };
  std::vector<Variant> variants;
  for (const Form& form :
       {Form{"crop", "random_crop(224), hflip, normalize(imagenet), chw"},
        Form{"resized crop", "random_resized_crop(224), hflip, normalize(imagenet), chw"}}) {
    for (const int workers : {0, 1, 2}) {
      auto job = std::make_shared<Job>("npy:" + file, options_of(workers, form.transform));
      PhotoStatistics got;
      job->checked_epoch(
          [&](const dl_view* views, int64_t row, int64_t) { return add_picture(views[0], row, &got); });
      write_statistics(file + ".statistics", got);
      variants.push_back({std::string("dataline ") + form.name + " w" + std::to_string(workers),
                          [job](const std::string& name, double seconds, Report& report) {
                            skip(*job, kLead);
                            report_throughput(report, name, consume(*job, seconds));
                          }});
    }
  }
  return variants;
}

// Nothing is random here, so that others can process the same pixels in the same way: whole, decoded pictures.
std::vector<Variant> fused_pass(const Settings& settings) {
  int64_t count = 0;
  const std::string file = pass_photo_file(settings, &count);
  auto job = std::make_shared<Job>("npy:" + file,
                                   options_of(0, "resize(224x224), hflip(1), normalize(imagenet), chw"));
  PhotoStatistics got;
  job->checked_epoch(
      [&](const dl_view* views, int64_t row, int64_t) { return add_picture(views[0], row, &got); });
  write_statistics(file + ".statistics", got);
  return {{"dataline w0", [job](const std::string& name, double seconds, Report& report) {
             skip(*job, kLead);
             report_throughput(report, name, consume(*job, seconds));
           }}};
}

// Whole epochs, so that each measurement has equally many slow files.
std::vector<Variant> slow_files(const Settings& settings) {
  const PhotoSet set = slow_photo_set(settings);
  const int64_t epochs = settings.small ? 1 : 2;
  std::vector<Variant> variants;
  PhotoStatistics statistics;
  for (const int threads : {1, 2}) {
    auto bare = std::make_shared<BarePhotos>(set.photos, 1, threads);
    if (threads == 1) bare->statistics(&statistics);
    variants.push_back({"bare decode " + std::to_string(threads),
                        [bare, epochs](const std::string& name, double, Report& report) {
                          report_throughput(report, name, bare->run_epochs(epochs));
                        }});
  }
  const char* names[] = {"dataline w0", "dataline w2"};
  const auto jobs = checked_jobs(set, statistics, folder_jobs(set), {0, 2});
  for (size_t i = 0; i < jobs.size(); ++i) {
    variants.push_back({names[i], [job = jobs[i], epochs](const std::string& name, double, Report& report) {
                          skip(*job, job->batches_per_epoch());
                          report_throughput(report, name,
                                            consume_batches(*job, epochs * job->batches_per_epoch()));
                        }});
  }
  return variants;
}

// A fresh loader each time: the memory it holds, by its own count and the system's, and whether that grows.
std::vector<Variant> photo_memory(const Settings& settings) {
  const PhotoSet set = photo_set(settings);
  const int64_t epochs = settings.small ? 2 : 20;
  std::vector<Variant> variants;
  for (const int workers : {1, 2}) {
    variants.push_back({"dataline w" + std::to_string(workers),
                        [set, workers, epochs](const std::string& name, double, Report& report) {
                          Job job("folder:" + set.folder, options_of(workers, kDecodeAndCrop));
                          skip(job, job.batches_per_epoch());
                          const int64_t after_first = rss_bytes();
                          dl_stats stats{};
                          stats.struct_size = sizeof stats;
                          dl_error error = DL_ERROR_INIT;
                          if (dl_loader_stats(job.loader(), &stats, &error) != DL_OK) fail(error.message);
                          const int64_t held = stats.held_bytes;
                          skip(job, (epochs - 1) * job.batches_per_epoch());
                          if (dl_loader_stats(job.loader(), &stats, &error) != DL_OK) fail(error.message);
                          if (stats.held_bytes != held) fail("held_bytes changed after an epoch");
                          constexpr double kMib = 1 << 20;
                          report.set(name, "held_mib", static_cast<double>(held) / kMib);
                          report.set(name, "arena_mib", static_cast<double>(stats.arena_bytes) / kMib);
                          report.set(name, "held_mib_per_worker",
                                     static_cast<double>(held - stats.arena_bytes) / kMib / workers);
                          report.set(name, "peak_rss_mib", static_cast<double>(peak_rss_bytes()) / kMib);
                          report.set(name, "growth_mib",
                                     static_cast<double>(rss_bytes() - after_first) / kMib);
                        }});
  }
  return variants;
}

}  // namespace bench
