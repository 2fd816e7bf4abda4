// A dataset as the host holds it: a source and the description that callers read.
// Threads: immutable after create.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arrow_c_data.h"
#include "core/base/open_progress.h"
#include "core/batch/view.h"
#include "core/source/composed/mix.h"
#include "core/source/format.h"
#include "core/source/host/host.h"
#include "core/source/source.h"
#include "core/transform/decode/image_header.h"

namespace dataline {

class Options;  // core/loader/options.h

// Room for a record where its source copies and does not know how large its samples are.
constexpr int64_t kImageRoomBytes = int64_t{64} << 20;

struct ImageFacts {
  ImageHeader header;
  int64_t bytes = 0;  // encoded
};

// The field of encoded images (ragged u8): of that name, or without one `image`, or the only such field. kNoSuchField lists
// the fields.
Result<size_t> image_field(const std::vector<Field>& fields, std::optional<std::string_view> name);

// The header of the encoded image in field `field` of record `index`. Nothing is decoded; of a mapped file only the header
// is read. `room_bytes`: maximum bytes of a record, for sources that copy (Source::scratch_bytes).
// kOutOfRange, kNoMemory, the source's error for the record, kCorrupt, kTruncated.
Result<ImageFacts> image_facts_of(const Source& source, size_t field, int64_t index, int64_t room_bytes);

// How files are opened with these options, which the context borrows.
OpenContext open_context(const Options& options);
// How a format of the host's opens a file: by pread, unless all of it is to be in memory. Only then the machine is asked how much
// there is, which takes longer than to open a file.
OpenContext file_context(const Options& options);

class Dataset {
 public:
  // `progress`: what other threads may see of it meanwhile; never null.
  static Result<std::unique_ptr<Dataset>> open(std::string_view uri, const Options& options,
                                               std::shared_ptr<OpenProgress> progress);
  // Calls that fail never take what `owner` or `table` lends.
  static Result<std::unique_ptr<Dataset>> from_arrays(std::vector<ArrayField> fields, int64_t sample_count,
                                                      HostOwner owner, const Options& options);
  // Both are taken whatever happens, as Arrow's libraries do. `keys`: arrow_memory_options().
  static Result<std::unique_ptr<Dataset>> from_arrow(ArrowOwned<ArrowArrayStream> stream,
                                                     std::string_view keys, const Options& options);
  static Result<std::unique_ptr<Dataset>> from_arrow(ArrowOwned<ArrowSchema> schema,
                                                     ArrowOwned<ArrowArray> array, std::string_view keys,
                                                     const Options& options);
  static Result<std::unique_ptr<Dataset>> from_reader(std::vector<Field> fields, ReaderTable table,
                                                      ReaderFiles files, const Options& options);
  // names: empty, or one a part.
  static Result<std::unique_ptr<Dataset>> zip(std::span<const Dataset* const> parts,
                                              std::vector<std::string> names, const Options& options);
  static Result<std::unique_ptr<Dataset>> concat(std::span<const Dataset* const> parts,
                                                 const Options& options);
  // The sources of the recipe's parts are those of `parts`, in order.
  static Result<std::unique_ptr<Dataset>> mix(std::span<const Dataset* const> parts, MixRecipe recipe,
                                              const Options& options);
  static Result<std::unique_ptr<Dataset>> subset(const Dataset& dataset, std::span<const int64_t> indices,
                                                 HostOwner owner, const Options& options);

  // Of the encoded image in a ragged u8 field; without a name: `image`, or the only such field. kNoSuchField,
  // kUnsupported, and what image_facts_of() says.
  Result<ImageFacts> image_facts(std::optional<std::string_view> field, int64_t index) const;

  // local_identity() of the source.
  Result<std::string> identity() const;

  const SourceRef& source() const { return source_; }
  const SourceInfo& info() const { return info_; }
  const std::vector<BatchView>& fields() const { return schema_->views(); }

 private:
  explicit Dataset(SourceRef source);
  static Result<std::unique_ptr<Dataset>> of(Result<SourceRef> source);
  // of(), packed if the options of the context say so.
  static Result<std::unique_ptr<Dataset>> packed(Result<SourceRef> source, const OpenContext& context);

  SourceRef source_;
  SourceInfo info_;
  std::vector<OutputField> outputs_;
  std::unique_ptr<ViewSet> schema_;
};

}  // namespace dataline
