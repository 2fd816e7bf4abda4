// The rows of the row groups of several files, read through one cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "group_places.h"
#include "parquet_file.h"
#include "shares.h"

namespace dataline_parquet {

class Dataset {
 public:
  Dataset(std::vector<std::shared_ptr<const ParquetFile>> files, int64_t cache_bytes)
      : files_(std::move(files)), cache_(cache_bytes, place_groups()) {
    held_groups_ = std::max<int64_t>(cache_bytes / std::max<int64_t>(largest_, 1), 1);
  }

  int64_t rows() const { return places_.rows(); }
  // Where the row groups that have rows end, and how many of the largest ones the cache has room for.
  const std::vector<int64_t>& block_ends() const { return places_.ends(); }
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
    return concat("parquet ", files_.size(), " ", rows(), " ", std::hex, hash);
  }

  // Row groups that are in the cache come first, all at once where it has all of them, and those that another thread decodes
  // last, so that several are decoded at once.
  int32_t read(dl_reader_request& request) {
    Shares shares(request, places_);
    std::unique_ptr<Loan> loan;  // made by the first value that is lent
    cache_.find_ready({shares.groups.data(), shares.count}, shares.held.data());
    std::bitset<Shares::kMostRecords> left;
    for (size_t s = 0; s < shares.count; ++s) left[s] = shares.held[s] == nullptr;
    if (left.none()) copy(request, shares, 0, shares.count, loan);
    for (size_t s = 0; s < shares.count && left.any(); ++s)
      if (!left[s]) copy(request, shares, s, s + 1, loan);
    for (const bool waits : {false, true}) {
      for (size_t s = 0; s < shares.count; ++s) {
        if (!left[s]) continue;
        bool busy = false;
        const Failure failed =
            find(shares.groups[s], request.cancelled, waits ? nullptr : &busy, &shares.held[s]);
        if (failed.code == DL_CANCELLED) return DL_CANCELLED;
        if (busy) continue;
        left[s] = false;
        if (failed) {
          for (const int32_t record : shares.records(s, s + 1))
            refuse(request, record, failed.code, failed.text);
        } else {
          copy(request, shares, s, s + 1, loan);
        }
      }
    }
    if (loan != nullptr) {
      request.release = &Loan::release;
      request.release_context = loan.release();
    }
    return 0;
  }

 private:
  static constexpr int64_t kLentBytes = 256;  // values of so many bytes are lent, not copied

  // Keeps the groups that values are lent from.
  struct Loan {
    std::vector<GroupCache::GroupRef> groups;
    static void release(void* context) { delete static_cast<Loan*>(context); }
  };

  // The rows of the groups that have some.
  std::vector<int64_t> place_groups() {
    std::vector<int64_t> out;
    for (size_t f = 0; f < files_.size(); ++f) {
      const std::vector<int64_t>& groups = files_[f]->group_rows();
      for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g] == 0) continue;
        places_.add(static_cast<int32_t>(f), static_cast<int32_t>(g), groups[g]);
        out.push_back(groups[g]);
        largest_ = std::max(largest_, files_[f]->group_bytes()[g]);
      }
    }
    places_.cut();
    return out;
  }

  Failure find(const GroupCache::Wanted& wanted, const int32_t* cancelled, bool* busy,
               GroupCache::GroupRef* out) {
    const GroupPlace& where = places_[wanted.number];
    const ParquetFile& file = *files_[static_cast<size_t>(where.file)];
    return cache_.get(
        wanted, cancelled,
        [&](GroupCache::GroupRef* made) { return file.decode(where.group, cancelled, made); }, busy, out);
  }

  // The rows of shares `begin` to `end`, field by field. What is not lent is let go.
  void copy(dl_reader_request& request, Shares& shares, size_t begin, size_t end,
            std::unique_ptr<Loan>& loan) const {
    bool lent = false;
    for (size_t f = 0; f < fields().size(); ++f) {
      std::array<const uint8_t*, Shares::kMostRecords> data;
      bool plain = true;
      for (size_t s = begin; s < end; ++s) {
        data[s] = shares.held[s]->plain(f);
        plain = plain && data[s] != nullptr;
      }
      if (plain) {
        lent = copy_plain(request, shares, shares.records(begin, end), f, data.data()) || lent;
        continue;
      }
      for (size_t s = begin; s < end; ++s) lent = copy_each(request, shares, s, f) || lent;
    }
    if (lent && loan == nullptr) loan = std::make_unique<Loan>();
    for (size_t s = begin; s < end; ++s) {
      if (lent) loan->groups.push_back(std::move(shares.held[s]));
      shares.held[s].reset();
    }
  }

  // Rows of one size, side by side: where those of a share begin is in `data`. Whether they are lent.
  bool copy_plain(dl_reader_request& request, const Shares& shares, std::span<const int32_t> records,
                  size_t f, const uint8_t* const* data) const {
    const int64_t bytes = fields()[f].unit_bytes;
    // As dl_reader_cell_at finds them, with its factors taken out of the loop.
    const int64_t* const indices = request.indices;
    char* const cells = reinterpret_cast<char*>(dl_reader_cell_at(&request, 0, static_cast<int32_t>(f)));
    const int64_t step = int64_t{request.field_count} * request.cell_bytes;
    const auto cell_of = [&](int32_t record) {
      return reinterpret_cast<dl_reader_cell*>(cells + record * step);
    };
    const auto row_of = [&](int32_t record, int64_t row_bytes) {
      const size_t s = shares.share[static_cast<size_t>(record)];
      return data[s] + (indices[record] - shares.first[s]) * row_bytes;
    };
    if (bytes == 8) {
      for (const int32_t record : records) std::memcpy(cell_of(record)->data, row_of(record, 8), 8);
    } else if (bytes < kLentBytes) {
      for (const int32_t record : records)
        std::memcpy(cell_of(record)->data, row_of(record, bytes), static_cast<size_t>(bytes));
    } else {
      for (const int32_t record : records) cell_of(record)->borrowed = row_of(record, bytes);
    }
    return bytes >= kLentBytes;
  }

  // Rows of any kind. Whether some are lent.
  bool copy_each(dl_reader_request& request, Shares& shares, size_t s, size_t f) const {
    const std::span<const int32_t> records = shares.records(s, s + 1);
    std::array<int64_t, Shares::kMostRecords> rows;
    std::array<Found, Shares::kMostRecords> found;
    for (size_t i = 0; i < records.size(); ++i) rows[i] = request.indices[records[i]] - shares.first[s];
    bool lent = false;
    for (size_t begin = 0; begin < records.size();) {
      Failure failed;
      const size_t end = begin + shares.held[s]->find(f, {rows.data() + begin, records.size() - begin},
                                                      found.data() + begin, &failed);
      for (size_t i = begin; i < end; ++i)
        lent = fill(*dl_reader_cell_at(&request, records[i], static_cast<int32_t>(f)), found[i]) || lent;
      if (end < records.size())
        refuse_value(request, records[end], places_[shares.groups[s].number], rows[end], f, failed);
      begin = end + 1;
    }
    return lent;
  }

  // Whether the value is lent.
  static bool fill(dl_reader_cell& cell, const Found& found) {
    cell.bytes = found.bytes;  // more than there is room for: the library says so
    if (found.bytes >= kLentBytes) return cell.borrowed = found.data, true;
    if (found.bytes > 0 && found.bytes <= cell.capacity)
      std::memcpy(cell.data, found.data, static_cast<size_t>(found.bytes));
    return false;
  }

  void refuse_value(dl_reader_request& request, int32_t record, const GroupPlace& place, int64_t row,
                    size_t field, const Failure& failed) const {
    refuse(request, record, failed.code,
           concat(files_[static_cast<size_t>(place.file)]->path(), ": row group ", place.group, ": row ", row,
                  ": column '", fields()[field].name, "': ", failed.text));
  }

  static void refuse(dl_reader_request& request, int32_t record, dl_status code, const std::string& text) {
    dl_reader_cell_at(&request, record, 0)->status = code;
    std::snprintf(request.messages + record * request.message_bytes,
                  static_cast<size_t>(request.message_bytes), "%s", text.c_str());
  }

  const std::vector<std::shared_ptr<const ParquetFile>> files_;
  GroupPlaces places_;
  int64_t largest_ = 0, held_groups_ = 0;
  GroupCache cache_;  // after what place_groups() fills
};

}  // namespace dataline_parquet
