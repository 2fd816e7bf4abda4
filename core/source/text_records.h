// The base of sources whose records are text, which is parsed when a sample is delivered: JSON lines, CSV.
//
// Threads: immutable after open; every function may be called from several workers at once.
// Cost: text that needs no change is not copied; a file that is not mapped is read a record at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/source/adjacent_records.h"
#include "core/source/nulls.h"
#include "core/source/text_fields.h"
#include "core/source/uri.h"

namespace dataline {

// Where a value is put, unless it can stay where it is written.
struct ValueRoom {
  std::byte* data = nullptr;
  int64_t bytes = 0;
};

struct ValueCell {
  const std::byte* data = nullptr;
  int64_t bytes = 0;
  bool null = false;  // what the rule for nulls puts there
};

// A value that stays where it is. Not null: null means that the row failed.
inline ValueCell cell_of(std::string_view text) {
  static constexpr std::byte kEmpty{};
  return {text.empty() ? &kEmpty : reinterpret_cast<const std::byte*>(text.data()),
          static_cast<int64_t>(text.size())};
}

inline constexpr KeySpec kTextEndKey{"end", "optional|cut", "optional",
                                     "whether the last record must be complete; cut: one without a line end, "
                                     "or with an open quote, is left out, because it may be incomplete"};
// end=cut: takes a last record without a line end away, and notes it: a part of a number or of a text may pass as one.
Status drop_cut_record(const MappedFile& file, RecordEnds& records, SourceInfo& info);
// "damaged: FILE: cut: 7 bytes from offset 12 on are left out", where that is the end of the file.
std::string cut_note(const MappedFile& file, int64_t offset);

class TextRecords : public AdjacentRecords {
 public:
  void locate(Run& run) const final;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const final;

 protected:
  // `longest`: bytes of the longest record.
  TextRecords(MappedFile file, Schema schema, SourceInfo info, RecordEnds records, int64_t longest,
              std::span<const TextField> fields);

  // The values of a record; `rooms` and `cells`: one a field.
  virtual Status read_values(int64_t index, std::string_view record, std::span<const ValueRoom> rooms,
                             std::span<ValueCell> cells) const = 0;
  // For identify(): the records and the rule for nulls.
  void add_records(const std::optional<NullFill>& fill, IdentityBuilder& identity) const;

 private:
  struct Most {
    int64_t bytes = 0;
    bool bounded = false;  // by max_bytes_per_sample
  };
  int64_t record_room(int64_t max_bytes_per_sample) const;
  int64_t value_room(const Most& most, int64_t max_bytes_per_sample) const;
  Status read_record(Run& run, int64_t row, bool populate, std::byte* scratch) const;

  const int64_t longest_;
  const uint64_t ends_digest_;
  std::vector<Most> most_;  // of each field
};

}  // namespace dataline
