// Any bytes as a tar archive: refused, or indexed with every sample inside the bytes.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/source/tar/tar.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr int64_t kMostMemoryBytes = 64 << 20;

Result<SourceRef> open_bytes(std::string_view input, const TarOptions& options) {
  OpenContext context;
  context.memory = HostMemory::create({}, kMostMemoryBytes);
  const auto bytes = static_cast<int64_t>(input.size());
  // Metadata: exactly as large as asked for, so that a sanitizer sees a read beyond.
  DL_ASSIGN_OR_RETURN(Block block, context.memory->allocate(bytes, 1, MemoryKind::kMetadata, "fuzzed bytes"));
  if (bytes > 0) std::memcpy(block.data(), input.data(), input.size());
  DL_ASSIGN_OR_RETURN(MappedFile file,
                      MappedFile::from_block({"fuzz.tar", {.bytes = bytes}}, std::move(block), bytes));
  return open_tar(std::move(file), options, context);
}

// Reads every byte that locate() hands out.
uint64_t read_all(const Source& source) {
  const size_t columns = source.schema().columns.size();
  const int64_t scratch_bytes = source.scratch_bytes(1 << 20);
  uint64_t sum = 0;
  for (int64_t index = 0; index < source.count(); ++index) {
    std::vector<std::byte> scratch(static_cast<size_t>(scratch_bytes) + 64);
    std::vector<const std::byte*> data(columns, nullptr);
    std::vector<int64_t> bytes(columns, 0);
    std::vector<Run::ColumnRows> rows;
    for (size_t c = 0; c < columns; ++c) rows.push_back({&data[c], &bytes[c], false});
    RowErrors errors;
    Run run;
    run.count = 1;
    run.indices = &index;
    run.cold = true;
    run.max_bytes_per_sample = 1 << 20;
    run.scratch = scratch.data();
    run.columns = rows.data();
    run.errors = &errors;
    source.locate(run);
    for (size_t c = 0; c < columns && errors.empty(); ++c) {
      const int64_t row_bytes = source.schema().columns[c].row_bytes;
      for (int64_t b = 0; b < (row_bytes < 0 ? bytes[c] : row_bytes); ++b)
        sum += std::to_integer<uint64_t>(data[c][b]);
    }
  }
  return sum;
}

void run(std::string_view input) {
  for (bool strict : {true, false}) {
    TarOptions options;
    options.end = strict ? TarEnd::kRequired : TarEnd::kCut;
    options.label_u8 = !strict;
    auto source = open_bytes(input, options);
    if (!source.is_ok()) {
      if (source.status().message().empty()) std::abort();
      continue;
    }
    // A sum that bytes cannot reach: the reads are not optimised away.
    if (read_all(*source.value()) > input.size() * 1024) std::abort();
  }
}

const Target kTarget("tar_index", run);

}  // namespace
}  // namespace dataline::fuzz
