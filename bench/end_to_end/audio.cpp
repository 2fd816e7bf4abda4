// Audio files by the plug-in for audio: FLAC of 44.1 kHz in stereo to one channel of 16 kHz, and FLAC of 16 kHz to mel spectrograms.
// bench/peers/audio_files.py writes the files.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

namespace bench {

namespace {

constexpr int64_t kAudioBatch = 4;
constexpr int64_t kPieces = 50;  // of a sample, whose energies say which file it is
// A turn starts by discarding batches that may have been ready before.
constexpr int64_t kAudioLead = 12;

std::vector<double> read_energies(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) fail("opening " + path);
  std::vector<double> energies;
  for (double one = 0; std::fscanf(file, "%lf", &one) == 1;) energies.push_back(one);
  std::fclose(file);
  return energies;
}

// Whether each piece has the energy that it should: of samples their squares, of spectrograms their sums over the bands. A
// piece is so many whole frames of `width` values.
bool has_energies(const float* values, int64_t frames, int64_t width, const double* wanted) {
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    const int64_t count = frames / kPieces;
    double sum = 0;
    for (int64_t i = piece * count * width; i < (piece + 1) * count * width; ++i)
      sum += width == 1 ? double{values[i]} * values[i] : values[i];
    if (!(std::fabs(sum / static_cast<double>(count) / wanted[piece] - 1) < 0.03)) return false;
  }
  return true;
}

std::vector<Variant> audio_files(const Settings& settings, const std::string& row,
                                 const std::string& transform) {
  const char* plugin = std::getenv("DATALINE_AUDIO_PLUGIN");
  if (plugin == nullptr) fail("DATALINE_AUDIO_PLUGIN is not set");
  const std::string folder = settings.data_dir + "/" + row + (settings.small ? "_20" : "_100");
  const std::vector<double> energies = read_energies(folder + "/energies.txt");
  std::vector<Variant> variants;
  for (const int workers : {0, 1, 2}) {
    const OptionList options = {{"batch_size", std::to_string(kAudioBatch)},
                                {"shuffle", "full"},
                                {"num_workers", std::to_string(workers)},
                                {"max_bytes_per_sample", "2MiB"},
                                {"transform", "image: decode_audio(rate=16000), crop(10)" + transform}};
    auto job = std::make_shared<Job>("folder:" + folder + "?extensions=.flac", options, nullptr, plugin);
    job->checked_epoch([&](const dl_view* views, int64_t at, int64_t sample) {
      const dl_view& values = views[0];
      return values.dtype == DL_DTYPE_F32 && static_cast<size_t>((sample + 1) * kPieces) <= energies.size() &&
             has_energies(reinterpret_cast<const float*>(row_data(values, at)), values.shape[1],
                          values.rank == 3 ? values.shape[2] : 1, energies.data() + sample * kPieces);
    });
    variants.push_back({"dataline w" + std::to_string(workers),
                        [job = std::move(job)](const std::string& name, double seconds, Report& report) {
                          skip(*job, kAudioLead);
                          report_throughput(report, name, consume(*job, seconds));
                        }});
  }
  return variants;
}

}  // namespace

std::vector<Variant> audio(const Settings& settings) { return audio_files(settings, "audio", ""); }

std::vector<Variant> audio_mel(const Settings& settings) {
  return audio_files(settings, "audio_mel", ", mel(80)");
}

}  // namespace bench
