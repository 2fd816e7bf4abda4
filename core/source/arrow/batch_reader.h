// Takes the slots of one record batch, or batch of a dictionary's values: compares what its metadata say with the schema, the
// body and the number of rows.
// Threads: externally synchronized. Lifetime: what the constructor is given outlives it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/memory/mapped_file.h"
#include "core/source/arrow/batches.h"
#include "core/source/arrow/columns.h"
#include "core/source/arrow/inflation.h"
#include "core/source/arrow/messages.h"
#include "core/source/files.h"

namespace dataline {

constexpr int64_t kMaxArrowRows = int64_t{1} << 62;

class ArrowBatchReader {
 public:
  // `what`: of whom messages speak. `tables` gets the buffers of views. `inflation`: gets all buffers that are used; null: they
  // are used where they lie, and none is compressed.
  ArrowBatchReader(const MappedFile& file, const ArrowPlan& plan, const ArrowLayout& layout,
                   std::string_view what, HostMemory& memory, ArrowTables& tables, ArrowInflation* inflation)
      : file_(file),
        plan_(plan),
        layout_(layout),
        what_(what),
        memory_(memory),
        tables_(tables),
        inflation_(inflation),
        slots_(static_cast<size_t>(layout.slots)) {}

  // `number`: of the batch, for messages. Afterwards rows(), slots() and nulls().
  Status read(const FlatTable& batch, const ArrowMessage& message, int64_t number);

  // The batch that was read last is compressed, and there is no inflation: nothing is known of it.
  bool compressed() const { return compressed_; }
  int64_t rows() const { return rows_; }
  std::vector<int64_t>& slots() { return slots_; }
  const std::vector<int64_t>& nulls() const { return nulls_; }  // by slot

 private:
  template <typename... Parts>
  Status refuse(Code code, const Parts&... parts) const {
    return error(code, file_.path(), ": offset ", message_->offset, ": ", what_, " ", number_, " ", parts...);
  }
  template <typename... Parts>
  Status refuse_column(const ArrowTake& take, Code code, const Parts&... parts) const {
    const std::string& name = plan_.columns[static_cast<size_t>(take.column)].field.name;
    return refuse(code, "column ", printable(name), ": ", parts...);
  }

  Result<std::optional<FrameCodec>> codec_of(const FlatTable& compression) const;
  int64_t length(int32_t node) const { return nodes_.number<int64_t>(node, 0); }
  Status place_buffers(const FlatVector& variadic);
  Status check_lengths() const;
  Result<FileExtent> place_of(const ArrowTake& take, int64_t buffer);
  Status fill(const ArrowTake& take);
  Status fill_view_buffers(const ArrowTake& take);
  void add_bytes(int64_t bytes);

  const MappedFile& file_;
  const ArrowPlan& plan_;
  const ArrowLayout& layout_;
  std::string_view what_;
  HostMemory& memory_;
  ArrowTables& tables_;
  ArrowInflation* const inflation_;
  bool compressed_ = false;
  const ArrowMessage* message_ = nullptr;
  int64_t number_ = 0, rows_ = 0;
  FlatVector nodes_, buffers_;
  std::vector<int64_t> first_buffer_, view_buffers_, slots_, nulls_;  // the first two by node
};

}  // namespace dataline
