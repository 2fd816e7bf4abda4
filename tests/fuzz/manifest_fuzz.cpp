// Any bytes as the manifest of a set: refused by name, or its shards are whole lines of it, in order; written again they read the same.
// SPDX-License-Identifier: Apache-2.0
#include "core/write/manifest.h"

#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace dataline;
  const std::string path = "fuzz.manifest";
  const std::string_view text(reinterpret_cast<const char*>(input), size);
  const Result<Manifest> read = parse_manifest(path, text);
  if (!read.is_ok()) {
    fuzz::check_names(read.status(), path);
    return 0;
  }
  const Manifest& manifest = read.value();
  fuzz::check(manifest.shards.size() == manifest.line_ends.size(), "each shard has a line");
  int64_t end = manifest.head_end;
  fuzz::check(end == 0 || text[static_cast<size_t>(end) - 1] == '\n', "the head is a whole line");
  std::string again = manifest.head + "\n";
  for (size_t s = 0; s < manifest.shards.size(); ++s) {
    fuzz::check(manifest.line_ends[s] > end && manifest.line_ends[s] <= static_cast<int64_t>(size),
                "lines rise");
    end = manifest.line_ends[s];
    fuzz::check(text[static_cast<size_t>(end) - 1] == '\n', "a shard is a whole line");
    fuzz::check(manifest.shards[s].samples >= 0 && manifest.shards[s].bytes >= 0, "counts are not negative");
    again += shard_line(manifest.shards[s]);
  }
  if (manifest.head_end == 0) return 0;  // the head is not whole
  static_cast<void>(
      head_difference(path, manifest.head, {.format = "arrow", .shard_bytes = 1, .fields = {}, .job = "x"}));
  const Result<Manifest> second = parse_manifest(path, again);
  fuzz::check(second.is_ok(), "what is written can be read", second.is_ok() ? "" : second.status().message());
  fuzz::check(second.value().shards.size() == manifest.shards.size(), "the same shards");
  for (size_t s = 0; s < manifest.shards.size(); ++s) {
    const ManifestShard &one = manifest.shards[s], &other = second.value().shards[s];
    fuzz::check(one.samples == other.samples && one.bytes == other.bytes && one.crc32c == other.crc32c,
                "the same numbers");
  }
  return 0;
}
