// What fuzz targets of file formats share: the fuzzed bytes as a file, rows read out of a source, and checks that end
// the process where a promise is broken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/thread.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline::fuzz {

constexpr int64_t kMostMemoryBytes = 64 << 20;

// libFuzzer takes an abort for a find; the line says which promise was broken.
inline void check(bool holds, std::string_view promise, std::string_view detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "broken: %.*s: %.*s\n", static_cast<int>(promise.size()), promise.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// A refusal says which file it is about, and what is wrong.
inline void check_names(const Status& status, std::string_view name) {
  check(status.code() != Code::kOk && status.code() != Code::kInternal, "a refusal has a code of its own",
        status.message());
  check(status.message().find(name) != std::string::npos, "a refusal names its file", status.message());
  check(status.message().size() > name.size() + 2, "a refusal says what is wrong", status.message());
}

inline OpenContext context(IoMode io = IoMode::kAuto) {
  OpenContext out;
  out.memory = HostMemory::create({}, kMostMemoryBytes);
  out.io = io;
  return out;
}

// A folder of this process, gone with it.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dataline-fuzz-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

 private:
  std::string path_;
};

// Rows so large are the file's right, and the target's memory.
inline bool has_huge_rows(const Source& source) {
  if (source.scratch_bytes(1 << 20) > (16 << 20)) return true;
  const std::vector<Field>& fields = source.schema().fields;
  return std::any_of(fields.begin(), fields.end(), [](const Field& field) {
    return field.kind == FieldKind::kDense && field.bytes() > (1 << 20);
  });
}

// Rows of a run, as a batch would read them. Row data lives until the next read.
class Rows {
 public:
  explicit Rows(const Source& source) : source_(source), columns_(source.schema().columns.size()) {
    scratch_.resize(static_cast<size_t>(source.scratch_bytes(1 << 20)) + 64);
    data_.resize(columns_);
    bytes_.resize(columns_);
  }

  // The bytes of each column of one record; empty where the record cannot be read.
  std::vector<std::string_view> read(int64_t index) {
    std::vector<Run::ColumnRows> rows;
    for (size_t c = 0; c < columns_; ++c) rows.push_back({&data_[c], &bytes_[c], false});
    RowErrors errors;
    Run run;
    run.count = 1;
    run.indices = &index;
    run.opened_ns = monotonic_ns();
    run.max_bytes_per_sample = 1 << 20;
    const auto address = reinterpret_cast<uintptr_t>(scratch_.data());
    run.scratch = scratch_.data() + (64 - address % 64) % 64;
    run.columns = rows.data();
    run.errors = &errors;
    source_.locate(run);
    if (!errors.empty()) return {};
    std::vector<std::string_view> out;
    for (size_t c = 0; c < columns_; ++c) {
      const int64_t fixed = source_.schema().columns[c].row_bytes;
      out.emplace_back(reinterpret_cast<const char*>(data_[c]),
                       static_cast<size_t>(fixed < 0 ? bytes_[c] : fixed));
    }
    return out;
  }

 private:
  const Source& source_;
  size_t columns_;
  std::vector<std::byte> scratch_;
  std::vector<const std::byte*> data_;
  std::vector<int64_t> bytes_;
};

// `bytes` with every element of `width` bytes turned round.
inline std::string turned(std::string_view bytes, size_t width) {
  std::string out(bytes);
  for (size_t at = 0; at + width <= out.size(); at += width)
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(at),
                 out.begin() + static_cast<std::ptrdiff_t>(at + width));
  return out;
}

inline uint64_t number_at(std::string_view bytes, size_t at, size_t width, bool big) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    const size_t place = big ? at + i : at + width - 1 - i;
    value = value << 8 | static_cast<unsigned char>(bytes[place]);
  }
  return value;
}

// Records that are looked at: all of a small set, both ends of a large one.
inline std::vector<int64_t> some_of(int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) {
    if (i == 64 && count > 128) i = count - 64;
    out.push_back(i);
  }
  return out;
}

}  // namespace dataline::fuzz
