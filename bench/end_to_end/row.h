// A row of the table: one workload, and the variants that run it in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/end_to_end/measure.h"

namespace bench {

struct Variant {
  std::string name;  // "dataline w1", "bare gather 1", "memcpy"
  // Measures once, for about `seconds`, under its own name; owns what it needs.
  std::function<void(const std::string& name, double seconds, Report& report)> round;
};

// Each prepares data and loaders, verifies what is delivered, and returns the variants to measure.
std::vector<Variant> rows_u8_47mb(const Settings& settings);
std::vector<Variant> rows_u8_4700mb(const Settings& settings);
std::vector<Variant> rows_f32(const Settings& settings);
std::vector<Variant> tokens(const Settings& settings);
std::vector<Variant> packed(const Settings& settings);
std::vector<Variant> overhead(const Settings& settings);
std::vector<Variant> first_batch(const Settings& settings);
std::vector<Variant> cold(const Settings& settings);
std::vector<Variant> cold_window(const Settings& settings);
std::vector<Variant> next_epoch(const Settings& settings);
std::vector<Variant> resume(const Settings& settings);
std::vector<Variant> consumer_1ms(const Settings& settings);
std::vector<Variant> allocator(const Settings& settings);
// Files that other libraries write (bench/peers makes them): programs.py.
std::vector<Variant> tfrecord(const Settings& settings);
std::vector<Variant> mds(const Settings& settings);
std::vector<Variant> arrow(const Settings& settings);
std::vector<Variant> parquet(const Settings& settings);
std::vector<Variant> parquet_tokens(const Settings& settings);
std::vector<Variant> litdata(const Settings& settings);
std::vector<Variant> safetensors(const Settings& settings);
std::vector<Variant> npz(const Settings& settings);
std::vector<Variant> megatron(const Settings& settings);
// A table in memory.
std::vector<Variant> arrow_memory(const Settings& settings);
// Files by the plug-in for audio.
std::vector<Variant> audio(const Settings& settings);
std::vector<Variant> audio_mel(const Settings& settings);
// Text.
std::vector<Variant> csv(const Settings& settings);
std::vector<Variant> jsonl(const Settings& settings);
// These need libjpeg, and photographs.
std::vector<Variant> photos(const Settings& settings);
// The loaders of `photos` with libjpeg's Huffman decoder: built into dataline_rows_libjpeg.
std::vector<Variant> photos_libjpeg(const Settings& settings);
std::vector<Variant> raw_photos(const Settings& settings);
std::vector<Variant> parquet_images(const Settings& settings);
std::vector<Variant> fused_pass(const Settings& settings);
std::vector<Variant> slow_files(const Settings& settings);
std::vector<Variant> photo_memory(const Settings& settings);

// The process that first_batch starts for every measurement; prints milliseconds and peak bytes.
int first_batch_child(const std::string& uri);

}  // namespace bench
