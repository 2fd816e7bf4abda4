// What the tests of the source room share: temporary files, and records fetched the way the loader fetches
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/thread.h"
#include "core/memory/mapped_file.h"
#include "core/source/host/host.h"
#include "core/source/source.h"
#include "tests/support/temp_folder.h"

namespace dataline {

// A directory that is gone at the end of the test.
class TempDir {
 public:
  TempDir() : path_(make_temp_folder("dataline-source")) {}
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path(std::string_view name = "") const {
    return name.empty() ? path_ : path_ + "/" + std::string(name);
  }
  // Makes the directories above it too. A new file each time: writing over an old one makes ext4 flush it.
  std::string write(std::string_view name, std::string_view bytes) const {
    std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

 private:
  std::string path_;
};

inline OpenContext test_context(IoMode io = IoMode::kAuto) {
  OpenContext context;
  context.memory = HostMemory::create({});
  context.io = io;
  return context;
}

// Little-endian bytes of a value, and of several.
template <typename T>
std::string raw_bytes(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
template <typename T>
std::string raw_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <typename T>
std::vector<T> values_of(std::string_view bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// The u32 big-endian that IDX headers are made of.
inline std::string big_u32(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

// A version 1.0 .npy file.
inline std::string npy_file(std::string_view descr, std::string_view shape, std::string_view data) {
  std::string text = "{'descr': '" + std::string(descr) +
                     "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }";
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + raw_bytes(static_cast<uint16_t>(text.size())) + text +
         std::string(data);
}

// Records of a source by index: bytes[field][row], empty where the row failed.
struct Fetched {
  std::vector<std::vector<std::string>> bytes;
  std::map<int64_t, Status> errors;  // by row
};

struct FetchOptions {
  int64_t run_records = kMaxRunRecords;
  int64_t max_bytes_per_sample = 4096;
  bool cold = false;
  int64_t opened_ns = 0;
  // What readers are told. Without a loader by default; slots: row i lies in first_slot + i.
  int64_t first_slot = -1, epoch = -1;
  uint64_t seed = 0;
  const CancelFlag* cancelled = nullptr;
};

// Arrays for one run, filled with what locate() must overwrite.
struct RunArrays {
  explicit RunArrays(const Source& source)
      : columns(source.schema().columns.size()), data(columns.size()), bytes(columns.size()) {
    for (size_t c = 0; c < columns.size(); ++c) {
      data[c].assign(kMaxRunRecords, reinterpret_cast<const std::byte*>(8));
      bytes[c].assign(kMaxRunRecords, -7);
      columns[c] = {data[c].data(), bytes[c].data(), true};
    }
  }
  std::vector<Run::ColumnRows> columns;
  std::vector<std::vector<const std::byte*>> data;
  std::vector<std::vector<int64_t>> bytes;
};

inline void check_contiguous(const Source& source, const Run& run) {
  for (size_t c = 0; c < source.schema().columns.size(); ++c) {
    if (!run.columns[c].contiguous) continue;
    for (int64_t i = 0; i < run.count; ++i) {
      ASSERT_NE(run.columns[c].data[i], nullptr) << "a failed row in a column called contiguous";
      if (i == 0) continue;
      ASSERT_EQ(run.columns[c].data[i], run.columns[c].data[i - 1] + source.schema().columns[c].row_bytes);
    }
  }
}

inline void take_rows(const Source& source, const Run& run, Fetched& out, int64_t first_row) {
  const Schema& schema = source.schema();
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    const Run::ColumnRows& rows = run.columns[schema.places[f].column];
    bool ragged = schema.fields[f].kind == FieldKind::kRagged;
    for (int64_t i = 0; i < run.count; ++i) {
      bool failed = out.errors.contains(first_row + i);
      ASSERT_EQ(rows.data[i] == nullptr, failed) << "row " << first_row + i << " field " << f;
      int64_t bytes = failed ? 0 : ragged ? rows.bytes[i] : schema.fields[f].bytes();
      const char* from = reinterpret_cast<const char*>(rows.data[i]) + schema.places[f].offset;
      out.bytes[f].emplace_back(failed ? "" : std::string(from, static_cast<size_t>(bytes)));
    }
  }
}

inline Fetched fetch(const Source& source, const std::vector<int64_t>& indices, FetchOptions options = {}) {
  Fetched out;
  out.bytes.resize(source.schema().fields.size());
  RunArrays arrays(source);
  int64_t scratch_bytes = source.scratch_bytes(options.max_bytes_per_sample);
  // 64-byte aligned, exactly as long as promised: a sanitizer sees what is written past it.
  constexpr std::align_val_t kAlignment{64};
  const int64_t wanted = std::max<int64_t>(scratch_bytes * options.run_records, 1);
  auto* scratch = static_cast<std::byte*>(::operator new(static_cast<size_t>(wanted), kAlignment));
  std::vector<int64_t> slots(indices.size());
  std::iota(slots.begin(), slots.end(), options.first_slot);
  for (size_t first = 0; first < indices.size();) {
    HostLoans loans;
    HostCall call(loans);
    call.epoch = options.epoch;
    call.seed = options.seed;
    Run run;
    run.cancelled = options.cancelled;
    run.slots = options.first_slot < 0 ? nullptr : slots.data() + first;
    run.call = &call;
    run.count = std::min<int64_t>(options.run_records, static_cast<int64_t>(indices.size() - first));
    run.indices = indices.data() + first;
    run.contiguous = true;
    for (int64_t i = 1; i < run.count; ++i) run.contiguous &= run.indices[i] == run.indices[i - 1] + 1;
    run.cold = options.cold;
    run.opened_ns = options.opened_ns;
    run.max_bytes_per_sample = options.max_bytes_per_sample;
    run.scratch = scratch;
    run.columns = arrays.columns.data();
    RowErrors errors;
    run.errors = &errors;
    source.locate(run);
    for (RowError& failed : errors.all())
      out.errors.emplace(static_cast<int64_t>(first) + failed.row, failed.status);
    check_contiguous(source, run);
    take_rows(source, run, out, static_cast<int64_t>(first));
    first += static_cast<size_t>(run.count);
  }
  ::operator delete(scratch, kAlignment);
  return out;
}

inline Fetched fetch_all(const Source& source, FetchOptions options = {}) {
  std::vector<int64_t> indices(static_cast<size_t>(source.count()));
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i);
  return fetch(source, indices, options);
}

// Expects an error of this code whose message has all the parts.
template <typename T>
void expect_error(const Result<T>& result, Code code, const std::vector<std::string>& parts) {
  ASSERT_FALSE(result.is_ok()) << "expected " << code_name(code);
  EXPECT_EQ(result.status().code(), code) << result.status().message();
  for (const std::string& part : parts) {
    EXPECT_NE(result.status().message().find(part), std::string::npos)
        << "'" << part << "' is not in: " << result.status().message();
  }
  EXPECT_EQ(result.status().message().find('\n'), std::string::npos) << "more than one line";
}

}  // namespace dataline
