// The rows of the row groups of several files, read through one cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "group_cache.h"
#include "parquet_file.h"

namespace dataline_parquet {

struct GroupPlace {
  int32_t file = 0;
  int32_t group = 0;
  int64_t first = 0;  // row of the dataset
};

class Dataset {
 public:
  Dataset(std::vector<std::shared_ptr<const ParquetFile>> files, int64_t cache_bytes)
      : files_(std::move(files)), cache_(cache_bytes, place_groups()) {
    for (size_t p = 1; p < places_.size(); ++p) block_ends_.push_back(places_[p].first);
    if (!places_.empty()) block_ends_.push_back(rows_);
    held_groups_ = std::max<int64_t>(cache_bytes / std::max<int64_t>(largest_, 1), 1);
  }

  int64_t rows() const { return rows_; }
  // Where the row groups that have rows end, and how many of the largest ones the cache has room for.
  const std::vector<int64_t>& block_ends() const { return block_ends_; }
  int64_t held_groups() const { return held_groups_; }
  const std::vector<PqField>& fields() const { return files_[0]->fields(); }

  // Sizes, rows and columns.
  std::string fingerprint() const {
    uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](const std::string& text) {
      for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    };
    for (const PqField& field : fields()) add(concat(field.name, ' ', field.type_text(), '\n'));
    for (const auto& file : files_) {
      add(concat(file->file_bytes(), ':'));
      for (const int64_t rows : file->group_rows()) add(concat(rows, ','));
    }
    return concat("parquet ", files_.size(), " ", rows_, " ", std::hex, hash);
  }

  int32_t read(dl_reader_request& request) {
    // By row group, so that each is asked for once, and a thread holds one of them.
    std::array<int32_t, 64> order{};
    const int32_t count = std::min<int32_t>(request.record_count, 64);
    for (int32_t r = 0; r < count; ++r) order[static_cast<size_t>(r)] = r;
    std::sort(order.begin(), order.begin() + count,
              [&](int32_t a, int32_t b) { return request.indices[a] < request.indices[b]; });
    // Groups that another thread decodes come last, so that several are decoded at once.
    std::array<GroupRows, 64> waiting{};
    size_t waits = 0;
    for (int32_t i = 0; i < count;) {
      GroupRows rows = {place_of(request.indices[order[static_cast<size_t>(i)]]), i, i + 1};
      while (rows.end < count &&
             place_of(request.indices[order[static_cast<size_t>(rows.end)]]) == rows.place)
        ++rows.end;
      bool busy = false;
      if (!read_group(request, order.data(), rows, &busy)) return DL_CANCELLED;
      if (busy) waiting[waits++] = rows;
      i = rows.end;
    }
    for (size_t w = 0; w < waits; ++w) {
      if (!read_group(request, order.data(), waiting[w], nullptr)) return DL_CANCELLED;
    }
    return 0;
  }

 private:
  // Records order[begin] to order[end - 1] of a request.
  struct GroupRows {
    size_t place = 0;
    int32_t begin = 0, end = 0;
  };

  // The rows of the groups that have some.
  std::vector<int64_t> place_groups() {
    std::vector<int64_t> out;
    for (size_t f = 0; f < files_.size(); ++f) {
      const std::vector<int64_t>& groups = files_[f]->group_rows();
      for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g] == 0) continue;
        places_.push_back({static_cast<int32_t>(f), static_cast<int32_t>(g), rows_});
        out.push_back(groups[g]);
        rows_ += groups[g];
        largest_ = std::max(largest_, files_[f]->group_bytes()[g]);
      }
    }
    return out;
  }

  // False: cancelled.
  bool read_group(dl_reader_request& request, const int32_t* order, const GroupRows& rows, bool* busy) {
    GroupCache::GroupRef group;
    const Failure failed = find(rows, request.cancelled, busy, &group);
    if (failed.code == DL_CANCELLED) return false;
    for (int32_t i = rows.begin; i < rows.end && (failed || group != nullptr); ++i) {
      if (failed) {
        refuse(request, order[i], failed.code, failed.text);
      } else {
        copy(request, order[i], places_[rows.place], *group);
      }
    }
    return true;
  }

  size_t place_of(int64_t row) const {
    const auto after =
        std::upper_bound(places_.begin(), places_.end(), row,
                         [](int64_t wanted, const GroupPlace& place) { return wanted < place.first; });
    return static_cast<size_t>(after - places_.begin()) - 1;
  }

  Failure find(const GroupRows& rows, const int32_t* cancelled, bool* busy, GroupCache::GroupRef* out) {
    const GroupPlace& where = places_[rows.place];
    const ParquetFile& file = *files_[static_cast<size_t>(where.file)];
    return cache_.get(
        rows.place, rows.end - rows.begin, cancelled,
        [&](GroupCache::GroupRef* made) { return file.decode(where.group, cancelled, made); }, busy, out);
  }

  void copy(dl_reader_request& request, int32_t record, const GroupPlace& place, const Group& group) const {
    const int64_t row = request.indices[record] - place.first;
    for (size_t f = 0; f < fields().size(); ++f) {
      dl_reader_cell& cell = *dl_reader_cell_at(&request, record, static_cast<int32_t>(f));
      const uint8_t* data = nullptr;
      int64_t bytes = 0;
      if (const Failure failed = group.find(f, row, &data, &bytes)) {
        refuse(request, record, failed.code,
               concat(files_[static_cast<size_t>(place.file)]->path(), ": row group ", place.group, ": row ",
                      row, ": column '", fields()[f].name, "': ", failed.text));
        return;
      }
      cell.bytes = bytes;  // more than there is room for: the library says so
      if (bytes > 0 && bytes <= cell.capacity) std::memcpy(cell.data, data, static_cast<size_t>(bytes));
    }
  }

  static void refuse(dl_reader_request& request, int32_t record, dl_status code, const std::string& text) {
    dl_reader_cell_at(&request, record, 0)->status = code;
    std::snprintf(request.messages + record * request.message_bytes,
                  static_cast<size_t>(request.message_bytes), "%s", text.c_str());
  }

  const std::vector<std::shared_ptr<const ParquetFile>> files_;
  std::vector<GroupPlace> places_;  // those that have rows, ascending
  int64_t rows_ = 0, largest_ = 0, held_groups_ = 0;
  std::vector<int64_t> block_ends_;
  GroupCache cache_;  // after what place_groups() fills
};

}  // namespace dataline_parquet
