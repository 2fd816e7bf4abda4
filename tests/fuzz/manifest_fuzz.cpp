// Any bytes as the manifest of a set: refused by name, or its shards are whole lines of it, in order; written again they read the same.
// SPDX-License-Identifier: Apache-2.0
#include "core/write/manifest.h"

#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

void run(std::string_view text) {
  const std::string path = "fuzz.manifest";
  const Result<Manifest> read = parse_manifest(path, text);
  if (!read.is_ok()) return check_names(read.status(), path);
  const Manifest& manifest = read.value();
  check(manifest.shards.size() == manifest.line_ends.size(), "each shard has a line");
  int64_t end = manifest.head_end;
  check(end == 0 || text[static_cast<size_t>(end) - 1] == '\n', "the head is a whole line");
  std::string again = manifest.head + "\n";
  for (size_t s = 0; s < manifest.shards.size(); ++s) {
    check(manifest.line_ends[s] > end && manifest.line_ends[s] <= static_cast<int64_t>(text.size()),
          "lines rise");
    end = manifest.line_ends[s];
    check(text[static_cast<size_t>(end) - 1] == '\n', "a shard is a whole line");
    check(manifest.shards[s].samples >= 0 && manifest.shards[s].bytes >= 0, "counts are not negative");
    again += shard_line(manifest.shards[s]);
  }
  if (manifest.head_end == 0) return;  // the head is not whole
  static_cast<void>(
      head_difference(path, manifest.head, {.format = "arrow", .shard_bytes = 1, .fields = {}, .job = "x"}));
  const Result<Manifest> second = parse_manifest(path, again);
  check(second.is_ok(), "what is written can be read", second.is_ok() ? "" : second.status().message());
  check(second.value().shards.size() == manifest.shards.size(), "the same shards");
  for (size_t s = 0; s < manifest.shards.size(); ++s) {
    const ManifestShard &one = manifest.shards[s], &other = second.value().shards[s];
    check(one.samples == other.samples && one.bytes == other.bytes && one.crc32c == other.crc32c,
          "the same numbers");
  }
}

const Target kTarget("manifest", run);

}  // namespace
}  // namespace dataline::fuzz
