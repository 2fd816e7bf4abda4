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

#include "group_cache.h"
#include "parquet_file.h"
#include "partitions.h"

namespace dataline_parquet {

struct GroupPlace {
  int32_t file = 0;
  int32_t group = 0;
  int64_t first = 0;  // row of the dataset
};

class Dataset {
 public:
  Dataset(std::vector<std::shared_ptr<const ParquetFile>> files, Partitions partitions, int64_t cache_bytes)
      : files_(std::move(files)), partitions_(std::move(partitions)), cache_(cache_bytes, place_groups()) {
    for (size_t p = 1; p < places_.size(); ++p) block_ends_.push_back(places_[p].first);
    if (!places_.empty()) block_ends_.push_back(rows_);
    held_groups_ = std::max<int64_t>(cache_bytes / std::max<int64_t>(largest_, 1), 1);
  }

  int64_t rows() const { return rows_; }
  // Where the row groups that have rows end, and how many of the largest ones the cache has room for.
  const std::vector<int64_t>& block_ends() const { return block_ends_; }
  int64_t held_groups() const { return held_groups_; }
  // A group of block_ends() is read soon.
  void advise(int64_t block) { cache_.advise(static_cast<size_t>(block)); }
  const std::vector<PqField>& fields() const { return partitions_.fields(); }

  // Of the files, in order; they live as long as this object.
  std::vector<const char*> paths() const {
    std::vector<const char*> paths;
    for (const auto& file : files_) paths.push_back(file->path().c_str());
    return paths;
  }
  // The row after the last one of each file.
  const std::vector<int64_t>& file_ends() const { return file_ends_; }

  // Sizes, rows and columns, and the values of the directories' names.
  std::string fingerprint() const {
    uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](const std::string& text) {
      for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    };
    for (const PqField& field : fields()) add(concat(field.name, ' ', field.type_text(), '\n'));
    for (size_t f = 0; f < files_.size(); ++f) {
      add(concat(files_[f]->file_bytes(), ':'));
      for (const int64_t rows : files_[f]->group_rows()) add(concat(rows, ','));
      for (const Partitions::Place& place : partitions_.places()) {
        if (place.column) continue;
        const std::vector<uint8_t>& bytes = partitions_.value(f, place).bytes;
        add(concat(bytes.size(), '=', std::string(bytes.begin(), bytes.end())));
      }
    }
    return concat("parquet ", files_.size(), " ", rows_, " ", std::hex, hash);
  }

  // Row group by row group. Those that are in the cache come first, and those that another thread decodes last, so that several
  // are decoded at once.
  int32_t read(dl_reader_request& request) {
    Shares shares;
    share_out(request, shares);
    std::unique_ptr<Loan> loan;  // made by the first value that is lent
    cache_.find_ready({shares.groups.data(), shares.count}, shares.ready.data());
    for (size_t s = 0; s < shares.count; ++s) {
      if (shares.ready[s] != nullptr) copy(request, shares, s, shares.ready[s], loan);
      shares.ready[s].reset();
    }
    for (const bool waits : {false, true}) {
      for (size_t s = 0; s < shares.count; ++s) {
        if (shares.done[s]) continue;
        bool busy = false;
        GroupCache::GroupRef group;
        const Failure failed = find(shares.groups[s], request.cancelled, waits ? nullptr : &busy, &group);
        if (failed.code == DL_CANCELLED) return DL_CANCELLED;
        if (busy) continue;
        if (failed) {
          for (const int32_t record : shares.records(s)) refuse(request, record, failed.code, failed.text);
          shares.done[s] = true;
        } else {
          copy(request, shares, s, group, loan);
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
  static constexpr size_t kMostRecords = 64;  // of a request
  static constexpr int64_t kLentBytes = 256;  // values of so many bytes are lent, not copied

  // The records of a request by row group.
  struct Shares {
    size_t count = 0;
    std::array<GroupCache::Wanted, kMostRecords> groups;  // its number, and how many rows of it
    std::array<GroupCache::GroupRef, kMostRecords> ready;
    std::bitset<kMostRecords> done;
    std::array<int32_t, kMostRecords> order;
    std::array<int32_t, kMostRecords + 1> begins;

    std::span<const int32_t> records(size_t s) const {
      return {order.data() + begins[s], static_cast<size_t>(begins[s + 1] - begins[s])};
    }
  };

  // Keeps the groups that values are lent from.
  struct Loan {
    std::vector<GroupCache::GroupRef> groups;
    static void release(void* context) { delete static_cast<Loan*>(context); }
  };

  void share_out(const dl_reader_request& request, Shares& out) const {
    const auto count = std::min<size_t>(static_cast<size_t>(request.record_count), kMostRecords);
    std::array<size_t, kMostRecords> share_of;
    size_t last = 0;
    for (size_t r = 0; r < count; ++r) {
      const int64_t row = request.indices[r];
      if (r == 0 || !is_in(out.groups[last].number, row)) {
        last = 0;
        while (last < out.count && !is_in(out.groups[last].number, row)) ++last;
        if (last == out.count) out.groups[out.count++] = {place_of(row), 0};
      }
      ++out.groups[last].rows;
      share_of[r] = last;
    }
    std::array<int32_t, kMostRecords> next;
    out.begins[0] = 0;
    for (size_t s = 0; s < out.count; ++s) {
      next[s] = out.begins[s];
      out.begins[s + 1] = out.begins[s] + static_cast<int32_t>(out.groups[s].rows);
    }
    for (size_t r = 0; r < count; ++r)
      out.order[static_cast<size_t>(next[share_of[r]]++)] = static_cast<int32_t>(r);
  }

  bool is_in(size_t place, int64_t row) const {
    return row >= places_[place].first && row < block_ends_[place];
  }

  // The groups that have rows.
  std::vector<GroupCache::Size> place_groups() {
    std::vector<GroupCache::Size> out;
    for (size_t f = 0; f < files_.size(); ++f) {
      const std::vector<int64_t>& groups = files_[f]->group_rows();
      for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g] == 0) continue;
        places_.push_back({static_cast<int32_t>(f), static_cast<int32_t>(g), rows_});
        out.push_back({groups[g], files_[f]->group_bytes()[g]});
        rows_ += groups[g];
        largest_ = std::max(largest_, files_[f]->group_bytes()[g]);
      }
      file_ends_.push_back(rows_);
    }
    return out;
  }

  size_t place_of(int64_t row) const {
    const auto after =
        std::upper_bound(places_.begin(), places_.end(), row,
                         [](int64_t wanted, const GroupPlace& place) { return wanted < place.first; });
    return static_cast<size_t>(after - places_.begin()) - 1;
  }

  Failure find(const GroupCache::Wanted& wanted, const int32_t* cancelled, bool* busy,
               GroupCache::GroupRef* out) {
    const auto decode = [&](size_t number, GroupCache::GroupRef* made) {
      const GroupPlace& where = places_[number];
      return files_[static_cast<size_t>(where.file)]->decode(where.group, cancelled, made);
    };
    return cache_.get(wanted, cancelled, decode, busy, out);
  }

  // The rows of one share, field by field.
  void copy(dl_reader_request& request, Shares& shares, size_t s, const GroupCache::GroupRef& group,
            std::unique_ptr<Loan>& loan) const {
    bool lent = false;
    for (size_t f = 0; f < fields().size(); ++f) {
      const Partitions::Place& from = partitions_.places()[f];
      if (!from.column) {
        copy_value(request, shares, s, f, from);
        continue;
      }
      const uint8_t* data = group->plain(*from.column);
      lent = (data != nullptr ? copy_plain(request, shares, s, f, data)
                              : copy_each(request, shares, s, f, *from.column, *group)) ||
             lent;
    }
    if (lent && loan == nullptr) loan = std::make_unique<Loan>();
    if (lent) loan->groups.push_back(group);
    shares.done[s] = true;
  }

  // Rows of one size, side by side. Whether they are lent.
  bool copy_plain(dl_reader_request& request, const Shares& shares, size_t s, size_t f,
                  const uint8_t* data) const {
    const int64_t first = places_[shares.groups[s].number].first, bytes = fields()[f].unit_bytes;
    const auto field = static_cast<int32_t>(f);
    if (bytes == 8) {
      // As dl_reader_cell_at finds them, with its factors taken out of the loop.
      const int64_t* const indices = request.indices;
      const char* const cells = reinterpret_cast<const char*>(dl_reader_cell_at(&request, 0, field));
      const int64_t step = int64_t{request.field_count} * request.cell_bytes;
      for (const int32_t record : shares.records(s)) {
        const auto* cell = reinterpret_cast<const dl_reader_cell*>(cells + record * step);
        std::memcpy(cell->data, data + (indices[record] - first) * 8, 8);
      }
      return false;
    }
    for (const int32_t record : shares.records(s)) {
      dl_reader_cell& cell = *dl_reader_cell_at(&request, record, field);
      const uint8_t* row = data + (request.indices[record] - first) * bytes;
      if (bytes >= kLentBytes) {
        cell.borrowed = row;
      } else {
        std::memcpy(cell.data, row, static_cast<size_t>(bytes));
      }
    }
    return bytes >= kLentBytes;
  }

  // The value of a directory's name, which all rows of its files have.
  void copy_value(dl_reader_request& request, const Shares& shares, size_t s, size_t f,
                  const Partitions::Place& from) const {
    const GroupPlace& place = places_[shares.groups[s].number];
    const Partitions::Value& value = partitions_.value(static_cast<size_t>(place.file), from);
    for (const int32_t record : shares.records(s)) {
      if (value.is_null) {
        refuse_value(request, record, place, request.indices[record] - place.first, f,
                     failure(DL_ERR_CORRUPT, kNullRow));
        continue;
      }
      dl_reader_cell& cell = *dl_reader_cell_at(&request, record, static_cast<int32_t>(f));
      cell.bytes = static_cast<int64_t>(value.bytes.size());
      if (cell.bytes > 0 && cell.bytes <= cell.capacity)
        std::memcpy(cell.data, value.bytes.data(), value.bytes.size());
    }
  }

  // Rows of any kind. Whether some are lent.
  bool copy_each(dl_reader_request& request, const Shares& shares, size_t s, size_t f, size_t column,
                 const Group& group) const {
    const GroupPlace& place = places_[shares.groups[s].number];
    const std::span<const int32_t> records = shares.records(s);
    std::array<int64_t, kMostRecords> rows;
    std::array<Found, kMostRecords> found;
    for (size_t i = 0; i < records.size(); ++i) rows[i] = request.indices[records[i]] - place.first;
    bool lent = false;
    for (size_t begin = 0; begin < records.size();) {
      Failure failed;
      const size_t end = begin + group.find(column, {rows.data() + begin, records.size() - begin},
                                            found.data() + begin, &failed);
      for (size_t i = begin; i < end; ++i)
        lent = fill(*dl_reader_cell_at(&request, records[i], static_cast<int32_t>(f)), found[i]) || lent;
      if (end < records.size()) refuse_value(request, records[end], place, rows[end], f, failed);
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
  const Partitions partitions_;
  std::vector<GroupPlace> places_;  // those that have rows, ascending
  int64_t rows_ = 0, largest_ = 0, held_groups_ = 0;
  std::vector<int64_t> block_ends_, file_ends_;
  GroupCache cache_;  // after what place_groups() fills
};

}  // namespace dataline_parquet
