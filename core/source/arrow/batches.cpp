// Over 300 lines: one pass over the messages, whose readers share what a batch is checked against.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/batches.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/base/checked.h"
#include "core/source/arrow/inflation.h"
#include "core/source/files.h"

namespace dataline {
namespace {

constexpr int64_t kBatchesPerLook = 1024;  // between two looks at the cancel token
constexpr int64_t kMaxArrowRows = int64_t{1} << 62;
constexpr int64_t kNodeBytes = 16, kBufferBytes = 16;  // structs of two i64

namespace batch_table {
constexpr int kLength = 0, kNodes = 1, kBuffers = 2, kCompression = 3, kVariadic = 4;
}
namespace compression_table {
constexpr int kCodec = 0, kMethod = 1;
}
namespace dictionary_table {
constexpr int kId = 0, kData = 1, kIsDelta = 2;
}

// Bytes of `count` items of so many bits.
std::optional<int64_t> bytes_of_bits(int64_t count, int64_t bits) {
  const std::optional<int64_t> total = checked_multiply(count, bits);
  if (!total || *total > INT64_MAX - 7) return std::nullopt;
  return (*total + 7) / 8;
}

// Takes the slots of one record batch, or batch of a dictionary's values.
class BatchReader {
 public:
  // `what`: of whom messages speak. `tables` gets the buffers of views. `inflation`: gets all buffers that are used; null: they
  // are used where they lie, and none is compressed.
  BatchReader(const MappedFile& file, const ArrowPlan& plan, const ArrowLayout& layout, std::string_view what,
              HostMemory& memory, ArrowTables& tables, ArrowInflation* inflation)
      : file_(file),
        plan_(plan),
        layout_(layout),
        what_(what),
        memory_(memory),
        tables_(tables),
        inflation_(inflation),
        slots_(static_cast<size_t>(layout.slots)) {}

  // `number`: of the batch, for messages. Afterwards rows(), slots() and nulls().
  Status read(const FlatTable& batch, const ArrowMessage& message, int64_t number) {
    message_ = &message;
    number_ = number;
    FlatBuffer& flat = batch.buffer();
    rows_ = batch.number<int64_t>(batch_table::kLength);
    nodes_ = batch.vector(batch_table::kNodes, kNodeBytes);
    buffers_ = batch.vector(batch_table::kBuffers, kBufferBytes);
    const FlatTable compression = batch.table(batch_table::kCompression);
    const FlatVector variadic = batch.vector(batch_table::kVariadic, 8);
    if (!flat.ok()) return flat.take_status();
    DL_ASSIGN_OR_RETURN(const std::optional<FrameCodec> codec, codec_of(compression));
    if (codec && inflation_ == nullptr) return compressed_ = true, Status::ok();
    if (inflation_ != nullptr) inflation_->begin_message(codec);
    if (rows_ < 0 || rows_ > kMaxArrowRows) return refuse(Code::kCorrupt, "has ", rows_, " rows");
    DL_RETURN_IF_ERROR(place_buffers(variadic));
    DL_RETURN_IF_ERROR(check_lengths());
    slots_.assign(slots_.size(), -1);
    slots_[kArrowBatchBytesSlot] = 0;
    nulls_.assign(slots_.size(), 0);
    for (const ArrowTake& take : layout_.takes) DL_RETURN_IF_ERROR(fill(take));
    return Status::ok();
  }

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

  Result<std::optional<FrameCodec>> codec_of(const FlatTable& compression) const {
    if (!compression.present()) return std::optional<FrameCodec>();
    const int codec = compression.number<int8_t>(compression_table::kCodec);
    const int method = compression.number<int8_t>(compression_table::kMethod);
    if (codec < 0 || codec > 1 || method != 0)
      return refuse(Code::kUnsupported, "is compressed with codec ", codec, " by method ", method,
                    ", expected 0 (LZ4) or 1 (Zstandard) by method 0 (each buffer)");
    return std::optional(codec == 0 ? FrameCodec::kLz4 : FrameCodec::kZstd);
  }

  int64_t length(int32_t node) const { return nodes_.number<int64_t>(node, 0); }

  // Where each node's buffers begin: they are as many as the layout says, and variadic ones as the batch says.
  Status place_buffers(const FlatVector& variadic) {
    if (nodes_.size() != static_cast<int64_t>(layout_.nodes.size())) {
      return refuse(Code::kCorrupt, "has ", nodes_.size(), " arrays, the schema has ", layout_.nodes.size());
    }
    first_buffer_.clear();
    view_buffers_.assign(layout_.nodes.size(), 0);
    int64_t next = 0, views = 0;
    for (const ArrowNode& node : layout_.nodes) {
      first_buffer_.push_back(next);
      next += node.buffers;
      if (!node.variadic) continue;
      const int64_t more = views < variadic.size() ? variadic.number<int64_t>(views) : -1;
      ++views;
      if (more < 0 || more > buffers_.size())
        return refuse(Code::kCorrupt, "has ", more, " buffers for views");
      view_buffers_[first_buffer_.size() - 1] = more;
      next += more;
    }
    if (next == buffers_.size()) return Status::ok();
    return refuse(Code::kCorrupt, "has ", buffers_.size(), " buffers, the schema needs ", next);
  }

  // Arrays are as long as the batch, or as the array around them needs.
  Status check_lengths() const {
    for (size_t n = 0; n < layout_.nodes.size(); ++n) {
      const ArrowNode& node = layout_.nodes[n];
      if (!node.used) continue;
      const int64_t items = length(static_cast<int32_t>(n)),
                    nulls = nodes_.number<int64_t>(static_cast<int64_t>(n), 8);
      if (items < 0 || items > kMaxArrowRows || nulls < 0 || nulls > items)
        return refuse(Code::kCorrupt, "has an array of ", items, " values, ", nulls, " of them null");
      if (node.parent < 0) {
        if (items != rows_) return refuse(Code::kCorrupt, "has ", rows_, " rows, one of its columns ", items);
        continue;
      }
      if (node.per_parent < 0) continue;
      const std::optional<int64_t> needed = checked_multiply(length(node.parent), node.per_parent);
      if (needed && items >= *needed) continue;
      return refuse(Code::kCorrupt, "has an array of ", items, " values inside one of ", length(node.parent),
                    ", which needs ", node.per_parent, " for each");
    }
    return Status::ok();
  }

  // Of a buffer: where the slots' file has it.
  Result<FileExtent> place_of(const ArrowTake& take, int64_t buffer) {
    const auto offset = buffers_.number<int64_t>(buffer, 0), bytes = buffers_.number<int64_t>(buffer, 8);
    if (!extent_fits(offset, bytes, message_->body_bytes)) {
      return refuse_column(take, Code::kCorrupt, "a buffer of ", bytes, " bytes at byte ", offset,
                           " of the body, which has ", message_->body_bytes);
    }
    if (inflation_ == nullptr) return FileExtent{message_->body_at + offset, bytes};
    return inflation_->add(message_->body_at + offset, bytes);
  }

  Status fill(const ArrowTake& take) {
    const int64_t items = length(take.node);
    int64_t& slot = slots_[static_cast<size_t>(take.slot)];
    if (take.kind == ArrowTake::Kind::kItems) {
      slot = items;
      return Status::ok();
    }
    if (take.kind == ArrowTake::Kind::kViewBuffers) return fill_view_buffers(take);
    const int64_t index = first_buffer_[static_cast<size_t>(take.node)] + take.buffer;
    const int64_t nulls = nodes_.number<int64_t>(take.node, 8);
    if (take.kind == ArrowTake::Kind::kValidity && nulls == 0) return Status::ok();
    DL_ASSIGN_OR_RETURN(const FileExtent place, place_of(take, index));
    slot = place.offset;
    const int64_t bytes = place.bytes;
    add_bytes(bytes);
    if (take.kind == ArrowTake::Kind::kBytes) {
      slots_[static_cast<size_t>(take.slot) + 1] = bytes;
      return Status::ok();
    }
    if (take.kind == ArrowTake::Kind::kValidity) nulls_[static_cast<size_t>(take.slot)] = nulls;
    const bool offsets = take.kind == ArrowTake::Kind::kOffsets;
    if (offsets && items == 0) return Status::ok();  // they may be left out
    const std::optional<int64_t> needed = bytes_of_bits(items + (offsets ? 1 : 0), take.item_bits);
    if (needed && bytes >= *needed) return Status::ok();
    return refuse_column(take, Code::kCorrupt, items, " values need ",
                         needed ? std::to_string(*needed) : "more than 2^63", " bytes, the buffer has ",
                         bytes, take.kind == ArrowTake::Kind::kValidity ? " (validity)" : "");
  }

  Status fill_view_buffers(const ArrowTake& take) {
    const auto node = static_cast<size_t>(take.node);
    const int64_t count = view_buffers_[node], index = first_buffer_[node] + take.buffer;
    DL_ASSIGN_OR_RETURN(ArrowViewBuffer* const table, add_view_table(count, memory_, tables_));
    for (int64_t b = 0; b < count; ++b) {
      DL_ASSIGN_OR_RETURN(const FileExtent place, place_of(take, index + b));
      table[b] = {place.offset, place.bytes};
      add_bytes(place.bytes);
    }
    slots_[static_cast<size_t>(take.slot)] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(table));
    slots_[static_cast<size_t>(take.slot) + 1] = count;
    return Status::ok();
  }

  // At most 2^32 buffers within a file, most often none overlap.
  void add_bytes(int64_t bytes) {
    int64_t& all = slots_[kArrowBatchBytesSlot];
    all = std::min(all + bytes, kMaxArrowRows);
  }

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
                     " a second time: a file may only add to it (delta)");
      }
      BatchReader& reader = dictionary_readers_[d];
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
  BatchReader batch_reader_;
  std::vector<BatchReader> dictionary_readers_;
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
    ArrowMessages messages(file, footer.at());
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

Status read_stream(const MappedFile& file, int64_t begin, bool cut, FileReader& reader) {
  ArrowMessages messages(file, file.bytes());
  for (int64_t at = begin; !reader.compressed();) {
    DL_RETURN_IF_ERROR(reader.look());
    Result<std::optional<ArrowMessage>> read = messages.read(at);
    if (!read.is_ok() && cut && read.status().code() == Code::kTruncated) {
      reader.tables().end_mark = false;
      reader.tables().left_out = file.bytes() - at;
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
                   ": ", schema ? "a second schema" : "a message that is no record batch, but of kind ",
                   schema ? "" : std::to_string(static_cast<int>(message->kind)),
                   schema ? "" : " (4, 5: tensors)");
    }
  }
  reader.tables().end_mark = messages.end_mark();
  if (!cut && messages.end_mark() && messages.next() != file.bytes()) {
    return error(Code::kCorrupt, file.path(), ": offset ", messages.next(), ": ",
                 file.bytes() - messages.next(), " bytes after the end mark of the stream");
  }
  return Status::ok();
}

}  // namespace

Result<ArrowTables> read_arrow_stream(const MappedFile& file, const ArrowPlan& plan, int64_t begin, bool cut,
                                      const OpenContext& context) {
  return read_tables(file, plan, context,
                     [&](FileReader& reader) { return read_stream(file, begin, cut, reader); });
}

}  // namespace dataline
