// dataline_rows ROW --data DIR [--photos DIR] [--seconds S] [--small] [--rounds N]: the rows of the table that Dataline
// runs.
//
// Prints a line when ready, then one line of JSON a round. Without --rounds it runs one round for each line
// read from stdin, so that bench/rounds.py can take turns with other programs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "bench/end_to_end/row.h"

namespace {

using bench::Settings;
using bench::Variant;

struct NamedRow {
  std::string_view name;
  std::vector<Variant> (*make)(const Settings&);
};

constexpr NamedRow kRows[] = {
    {"rows_u8_47mb", bench::rows_u8_47mb},
    {"rows_u8_4700mb", bench::rows_u8_4700mb},
    {"rows_f32", bench::rows_f32},
    {"tokens", bench::tokens},
    {"packed", bench::packed},
    {"overhead", bench::overhead},
    {"first_batch", bench::first_batch},
    {"cold", bench::cold},
    {"cold_window", bench::cold_window},
    {"next_epoch", bench::next_epoch},
    {"resume", bench::resume},
    {"consumer_1ms", bench::consumer_1ms},
    {"allocator", bench::allocator},
    {"tfrecord", bench::tfrecord},
    {"mds", bench::mds},
    {"litdata", bench::litdata},
    {"arrow", bench::arrow},
    {"safetensors", bench::safetensors},
    {"npz", bench::npz},
    {"megatron", bench::megatron},
    {"arrow_memory", bench::arrow_memory},
    {"parquet", bench::parquet},
    {"parquet_tokens", bench::parquet_tokens},
    {"audio", bench::audio},
    {"audio_mel", bench::audio_mel},
    {"csv", bench::csv},
    {"jsonl", bench::jsonl},
#if defined(DATALINE_HAS_LIBJPEG)
    {"photos", bench::photos},
    {"photos_libjpeg", bench::photos_libjpeg},
    {"raw_photos", bench::raw_photos},
    {"parquet_images", bench::parquet_images},
    {"fused_pass", bench::fused_pass},
    {"slow_files", bench::slow_files},
    {"photo_memory", bench::photo_memory},
#endif
};

[[noreturn]] void usage() {
  std::fprintf(
      stderr,
      "usage: dataline_rows ROW --data DIR [--photos DIR] [--seconds S] [--small] [--rounds N]\nrows:");
  for (const NamedRow& row : kRows) std::fprintf(stderr, " %s", std::string(row.name).c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

void run_round(const std::vector<Variant>& variants, bool backwards, double seconds, bench::Report& report) {
  for (size_t i = 0; i < variants.size(); ++i) {
    const Variant& variant = variants[backwards ? variants.size() - 1 - i : i];
    variant.round(variant.name, seconds, report);
  }
}

void print_ready(const std::vector<Variant>& variants) {
  bench::Json json;
  json.begin_object().key("ready").begin_array();
  for (const Variant& variant : variants) json.value(variant.name);
  bench::print_line(json.end_array().end_object());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) usage();
  if (argc == 3 && std::strcmp(argv[1], "first_batch_child") == 0) return bench::first_batch_child(argv[2]);
  Settings settings;
  int rounds = 0;
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--small") {
      settings.small = true;
    } else if (i + 1 < argc && flag == "--data") {
      settings.data_dir = argv[++i];
    } else if (i + 1 < argc && flag == "--photos") {
      settings.photos_dir = argv[++i];
    } else if (i + 1 < argc && flag == "--seconds") {
      settings.seconds = std::atof(argv[++i]);
    } else if (i + 1 < argc && flag == "--rounds") {
      rounds = std::atoi(argv[++i]);
    } else {
      usage();
    }
  }
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const NamedRow& candidate) { return candidate.name == argv[1]; });
  if (row == std::end(kRows) || settings.data_dir.empty() || settings.seconds <= 0) usage();

  const std::vector<Variant> variants = row->make(settings);
  print_ready(variants);
  bench::Report report;
  char line[64];
  for (int round = 0; rounds > 0 ? round < rounds : std::fgets(line, sizeof line, stdin) != nullptr;
       ++round) {
    // Turn about, so that no variant always runs after the same one.
    run_round(variants, round % 2 != 0, settings.seconds, report);
    report.print_round();
  }
  return 0;
}
