// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/arrow_source.h"

#include <utility>

#include "core/base/thread.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

constexpr int64_t kCheckEveryNs = 1'000'000;  // record_items() looks at the file's length so often

}  // namespace

ArrowSource::ArrowSource(MappedFile file, Schema schema, SourceInfo info, ArrowRows rows)
    : FileSource(std::move(file), std::move(schema), std::move(info)),
      rows_(std::move(rows)),
      recheck_([this](int64_t index) { return check_unchanged(index); }) {}

void ArrowSource::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = !check_before(run.opened_ns) || run.cold;
  rows_.locate(run, ArrowAccess(file_, populate, run.cancelled), recheck_);
}

int64_t ArrowSource::record_items(int64_t index) const {
  if (!rows_.knows_items()) return -1;
  const bool populate = !check_before(monotonic_ns() - kCheckEveryNs);
  return rows_.record_items(index, ArrowAccess(file_, populate, nullptr));
}

Result<const std::byte*> ArrowSource::locate_items(const Run& run, const ItemRange& range,
                                                   std::byte* room) const {
  if (!rows_.finds_items()) return FileSource::locate_items(run, range, room);
  const bool populate = !check_before(run.opened_ns) || run.cold;
  return rows_.locate_items(range, ArrowAccess(file_, populate, run.cancelled), room);
}

void ArrowSource::advise_items(const ItemRange& range) const { advise({&range.index, 1}); }

void ArrowSource::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add("arrow");
  identity.add_file(file_);
  rows_.identify(identity);
}

}  // namespace dataline
