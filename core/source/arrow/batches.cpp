// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/batches.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/source/arrow/batch_reader.h"
#include "core/source/arrow/inflation.h"

namespace dataline {
namespace {

constexpr int64_t kBatchesPerLook = 1024;  // between two looks at the cancel token

namespace dictionary_table {
constexpr int kId = 0, kData = 1, kIsDelta = 2;
}

class FileReader {
 public:
  FileReader(const MappedFile& file, const ArrowPlan& plan, const OpenContext& context,
             ArrowInflation* inflation)
      : file_(file),
        plan_(plan),
        context_(context),
        tables_{ArrowBatches(context.memory, plan.batch.slots),
                {},
                std::vector<int64_t>(static_cast<size_t>(plan.batch.slots)),
                false,
                true},
        batch_reader_(file, plan, plan.batch, "record batch", *context.memory, tables_, inflation) {
    for (const ArrowDictionaryPlan& dictionary : plan.dictionaries) {
      tables_.dictionaries.emplace_back(context.memory, dictionary.layout.slots);
      dictionary_readers_.emplace_back(file, plan, dictionary.layout, "dictionary batch", *context.memory,
                                       tables_, inflation);
      first_values_.push_back(0);
    }
  }

  Status look() {
    if (messages_++ % kBatchesPerLook != 0) return Status::ok();
    if (context_.cancelled())
      return error(Code::kCancelled, file_.path(), ": cancelled after ", tables_.batches.count(),
                   " record batches");
    context_.report("reading ", file_.path());
    return Status::ok();
  }

  // `once`: a dictionary cannot be replaced, as in a file, whose batches are read in any order.
  Status add_dictionary(const ArrowMessage& message, bool once) {
    const auto id = message.header.number<int64_t>(dictionary_table::kId);
    const FlatTable data = message.header.table(dictionary_table::kData);
    const bool delta = message.header.number<uint8_t>(dictionary_table::kIsDelta) != 0;
    FlatBuffer& flat = message.header.buffer();
    if (!flat.ok()) return flat.take_status();
    for (size_t d = 0; d < plan_.dictionaries.size(); ++d) {
      if (plan_.dictionaries[d].id != id) continue;
      if (!data.present())
        return error(Code::kCorrupt, file_.path(), ": offset ", message.offset, ": dictionary ", id,
                     " without values");
      ArrowBatches& values = tables_.dictionaries[d];
      if (!delta && once && values.count() > 0) {
        return error(Code::kCorrupt, file_.path(), ": offset ", message.offset, ": dictionary ", id,
                     " appears twice: a file may only extend it (delta)");
      }
      ArrowBatchReader& reader = dictionary_readers_[d];
      DL_RETURN_IF_ERROR(reader.read(data, message, values.count()));
      if (reader.compressed()) return compressed_ = true, Status::ok();
      DL_RETURN_IF_ERROR(check_rows(values, reader.rows(), message));
      if (!delta) first_values_[d] = values.rows();
      for (const int64_t nulls : reader.nulls()) tables_.value_nulls |= nulls > 0;
      values.add(reader.rows(), reader.slots());
    }
    return Status::ok();
  }

  Status add_batch(const ArrowMessage& message) {
    DL_RETURN_IF_ERROR(batch_reader_.read(message.header, message, tables_.batches.count()));
    if (batch_reader_.compressed()) return compressed_ = true, Status::ok();
    DL_RETURN_IF_ERROR(check_rows(tables_.batches, batch_reader_.rows(), message));
    std::vector<int64_t>& slots = batch_reader_.slots();
    for (const ArrowColumn& column : plan_.columns) {
      if (column.dictionary < 0) continue;
      const auto d = static_cast<size_t>(column.dictionary);
      slots[static_cast<size_t>(column.first)] = first_values_[d];
      slots[static_cast<size_t>(column.first) + 1] = tables_.dictionaries[d].rows() - first_values_[d];
    }
    for (size_t s = 0; s < tables_.nulls.size(); ++s)
      tables_.nulls[s] = std::min(kMaxArrowRows, tables_.nulls[s] + batch_reader_.nulls()[s]);
    tables_.batches.add(batch_reader_.rows(), slots);
    return Status::ok();
  }

  // A batch was compressed, and there is no inflation: all has to be read once more, with one.
  bool compressed() const { return compressed_; }
  ArrowTables& tables() { return tables_; }

 private:
  Status check_rows(const ArrowBatches& batches, int64_t rows, const ArrowMessage& message) const {
    if (rows <= kMaxArrowRows - batches.rows()) return Status::ok();
    return error(Code::kCorrupt, file_.path(), ": offset ", message.offset, ": ", rows, " rows after ",
                 batches.rows(), ": more than 2^62 rows");
  }

  const MappedFile& file_;
  const ArrowPlan& plan_;
  const OpenContext& context_;
  ArrowTables tables_;
  ArrowBatchReader batch_reader_;
  std::vector<ArrowBatchReader> dictionary_readers_;
  std::vector<int64_t> first_values_;  // of each dictionary: its first row since it was replaced
  int64_t messages_ = 0;
  bool compressed_ = false;
};

// Reads by read(reader), once more where a batch is compressed.
template <typename Read>
Result<ArrowTables> read_tables(const MappedFile& file, const ArrowPlan& plan, const OpenContext& context,
                                const Read& read) {
  FileReader in_place(file, plan, context, nullptr);
  DL_RETURN_IF_ERROR(read(in_place));
  if (!in_place.compressed()) return std::move(in_place.tables());
  ArrowInflation inflation(file, context);
  FileReader reader(file, plan, context, &inflation);
  DL_RETURN_IF_ERROR(read(reader));
  ArrowTables tables = std::move(reader.tables());
  DL_ASSIGN_OR_RETURN(MappedFile inflated, inflation.run());
  tables.inflated.emplace(std::move(inflated));
  tables.codecs = inflation.codecs();
  return tables;
}

}  // namespace

Result<ArrowViewBuffer*> add_view_table(int64_t count, HostMemory& memory, ArrowTables& tables) {
  if (count == 0) return static_cast<ArrowViewBuffer*>(nullptr);
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(count * int64_t{sizeof(ArrowViewBuffer)}, 64,
                                                   MemoryKind::kTable, "the buffers of Arrow's views"));
  tables.view_tables.push_back(std::move(block));
  return reinterpret_cast<ArrowViewBuffer*>(tables.view_tables.back().data());
}

Result<ArrowTables> read_arrow_file(const MappedFile& file, const ArrowPlan& plan, const ArrowFooter& footer,
                                    const OpenContext& context) {
  return read_tables(file, plan, context, [&](FileReader& reader) -> Status {
    ArrowMessages messages(file, footer.messages());
    for (int64_t i = 0; i < footer.dictionary_count() && !reader.compressed(); ++i) {
      DL_RETURN_IF_ERROR(reader.look());
      DL_ASSIGN_OR_RETURN(const ArrowMessage message,
                          messages.read(footer.dictionary(i), ArrowKind::kDictionary));
      DL_RETURN_IF_ERROR(reader.add_dictionary(message, true));
    }
    for (int64_t i = 0; i < footer.batch_count() && !reader.compressed(); ++i) {
      DL_RETURN_IF_ERROR(reader.look());
      DL_ASSIGN_OR_RETURN(const ArrowMessage message, messages.read(footer.batch(i), ArrowKind::kBatch));
      DL_RETURN_IF_ERROR(reader.add_batch(message));
    }
    return Status::ok();
  });
}

namespace {

Status read_stream(const MappedFile& file, FileExtent rest, bool cut, FileReader& reader) {
  ArrowMessages messages(file, rest);
  const int64_t end = rest.offset + rest.bytes;
  for (int64_t at = rest.offset; !reader.compressed();) {
    DL_RETURN_IF_ERROR(reader.look());
    Result<std::optional<ArrowMessage>> read = messages.read(at);
    if (!read.is_ok() && cut && read.status().code() == Code::kTruncated) {
      reader.tables().end_mark = false;
      reader.tables().left_out = end - at;
      return Status::ok();
    }
    DL_ASSIGN_OR_RETURN(const std::optional<ArrowMessage> message, std::move(read));
    at = messages.next();
    if (!message) break;
    if (message->kind == ArrowKind::kDictionary) {
      DL_RETURN_IF_ERROR(reader.add_dictionary(*message, false));
    } else if (message->kind == ArrowKind::kBatch) {
      DL_RETURN_IF_ERROR(reader.add_batch(*message));
    } else {
      const bool schema = message->kind == ArrowKind::kSchema;
      return error(schema ? Code::kCorrupt : Code::kUnsupported, file.path(), ": offset ", message->offset,
                   ": ", schema ? "a second schema" : "expected a record batch, got a message of kind ",
                   schema ? "" : std::to_string(static_cast<int>(message->kind)),
                   schema ? "" : " (4, 5: tensors)");
    }
  }
  reader.tables().end_mark = messages.end_mark();
  if (!cut && messages.end_mark() && messages.next() != end) {
    return error(Code::kCorrupt, file.path(), ": offset ", messages.next(), ": ", end - messages.next(),
                 " bytes after the end mark of the stream");
  }
  return Status::ok();
}

}  // namespace

Result<ArrowTables> read_arrow_stream(const MappedFile& file, const ArrowPlan& plan, FileExtent rest,
                                      bool cut, const OpenContext& context) {
  return read_tables(file, plan, context,
                     [&](FileReader& reader) { return read_stream(file, rest, cut, reader); });
}

}  // namespace dataline
