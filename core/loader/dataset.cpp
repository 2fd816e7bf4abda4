// SPDX-License-Identifier: Apache-2.0
#include "core/loader/dataset.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/message_text.h"
#include "core/loader/config/delivery.h"
#include "core/loader/extensions.h"
#include "core/loader/mixed_documents.h"
#include "core/loader/mixed_fields.h"
#include "core/loader/option_table.h"
#include "core/loader/options.h"
#include "core/loader/pipeline.h"
#include "core/memory/machine_limits.h"
#include "core/source/arrow/memory_source.h"
#include "core/source/composed/composed.h"
#include "core/source/host/host_files.h"
#include "core/source/identity.h"
#include "core/source/open.h"
#include "core/source/packing/packing.h"

namespace dataline {
namespace {

std::shared_ptr<HostMemory> memory_for(const Options& options) {
  const int64_t budget = options.integer(Option::kMemoryBudget);
  return HostMemory::create(options.allocator, budget >= 0 ? budget : memory_limit().bytes / 2);
}

// io=device is the loader's.
static_assert(static_cast<int32_t>(Io::kMemory) == static_cast<int32_t>(IoMode::kMemory));
IoMode io_mode(const Options& options) {
  const int64_t io = options.integer(Option::kIo);
  return io == static_cast<int64_t>(Io::kDevice) ? IoMode::kAuto : static_cast<IoMode>(io);
}

std::vector<Part> to_parts(std::span<const Dataset* const> datasets, std::vector<std::string> names) {
  std::vector<Part> parts(datasets.size());
  for (size_t i = 0; i < datasets.size(); ++i) {
    parts[i].source = datasets[i]->source();
    parts[i].path = datasets[i]->info().uri;
    if (!names.empty()) parts[i].name = std::move(names[i]);
  }
  return parts;
}

bool holds_images(const Field& field) {
  return field.kind == FieldKind::kRagged && field.dtype == DType::kU8 && field.shape.size() == 1;
}

// Nothing without pack_length.
Result<std::optional<PackOptions>> packing_of(const Options& options) {
  const bool packs = options.is_set(Option::kPackLength);
  PackOptions packing{.length = options.integer(Option::kPackLength),
                      .method = static_cast<PackMethod>(options.integer(Option::kPackMethod)),
                      .window = options.integer(Option::kPackWindow),
                      .split = options.integer(Option::kPackSplit) != 0};
  for (const Option option : {Option::kPackMethod, Option::kPackWindow, Option::kPackSplit}) {
    if (!options.is_set(option)) continue;
    const char* const key = option_table()[static_cast<size_t>(option)].key;
    if (!packs) return error(Code::kBadOption, "option ", key, ": needs pack_length");
    if (packing.method == PackMethod::kConcat && option != Option::kPackMethod)
      return error(Code::kBadOption, "option ", key,
                   ": needs pack_method=best_fit; concat joins all documents");
  }
  return packs ? std::optional(packing) : std::nullopt;
}

// What a host lends to a source that is then packed. It stays the host's if that fails.
struct LateLoan {
  HostOwner owner;
  bool taken = false;

  static void release(void* self) {
    const std::unique_ptr<LateLoan> loan(static_cast<LateLoan*>(self));
    if (loan->taken) loan->owner.release(loan->owner.context);
  }
};

// The source that `make` makes of what `owner` lends, packed if the options of the context say so.
template <typename Make>
Result<SourceRef> made_of_loan(HostOwner owner, const OpenContext& context, Make make) {
  DL_ASSIGN_OR_RETURN(const std::optional<PackOptions> packing, packing_of(*context.options));
  if (!packing) return make(owner);
  auto loan = std::make_unique<LateLoan>(LateLoan{owner});
  DL_ASSIGN_OR_RETURN(SourceRef source,
                      make(owner.lends() ? HostOwner{loan.get(), LateLoan::release} : owner));
  LateLoan* const held = owner.lends() ? loan.release() : nullptr;  // by the source
  DL_ASSIGN_OR_RETURN(SourceRef packed, pack_source(std::move(source), *packing, context));
  if (held != nullptr) held->taken = true;
  return packed;
}

int64_t max_record_bytes(const std::vector<Field>& fields) {
  int64_t most = 0;
  for (const Field& field : fields) {
    if (field.kind != FieldKind::kRagged) continue;
    if (field.max_bytes < 0) return kImageRoomBytes;
    most = std::max(most, field.max_bytes);
  }
  return most;
}

constexpr int64_t kHeapScratchBytes = int64_t{1} << 20;

// Zeroed, as sources require. Large ones are fresh pages, of which only written ones use memory.
Result<Block> zeroed_scratch(int64_t bytes) {
  const bool in_pages = bytes > kHeapScratchBytes;
  const std::shared_ptr<HostMemory> memory = HostMemory::create({});
  DL_ASSIGN_OR_RETURN(
      Block block,
      memory->allocate(bytes, 64, in_pages ? MemoryKind::kData : MemoryKind::kTable, "reading one record"));
  if (!in_pages) std::fill_n(block.data(), bytes, std::byte{0});
  return block;
}

}  // namespace

Result<size_t> image_field(const std::vector<Field>& fields, std::optional<std::string_view> name) {
  const std::string_view wanted = name.value_or("image");
  std::string list;
  std::vector<size_t> candidates;
  for (size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].name == wanted && (name || holds_images(fields[f]))) return f;
    if (holds_images(fields[f])) candidates.push_back(f);
    list += ::dataline::concat(list.empty() ? "" : ", ", fields[f].name);
  }
  if (!name && candidates.size() == 1) return candidates[0];
  return error(Code::kNoSuchField, "expected a field of encoded images (fields: ", list, "), got ",
               name ? ::dataline::concat("'", wanted, "'") : std::string("no name"));
}

Result<ImageFacts> image_facts_of(const Source& source, size_t field, int64_t index, int64_t room_bytes) {
  if (index < 0 || index >= source.count())
    return error(Code::kOutOfRange, "sample ", index, ": expected 0 to ", source.count(), " exclusive");
  DL_ASSIGN_OR_RETURN(const Block scratch, zeroed_scratch(source.scratch_bytes(room_bytes)));
  RunMemory memory(source, 1, scratch.data());
  Run& run = memory.run;
  run.count = 1;
  run.indices = &index;
  run.contiguous = true;
  run.cold = true;  // makes a file truncated since it was mapped an error instead of a signal
  run.max_bytes_per_sample = room_bytes;
  memory.locate(source);

  const FieldPlace& place = source.schema().places[field];
  const auto column = static_cast<size_t>(place.column);
  Status failed = memory.errors.empty() ? Status::ok() : std::move(memory.errors.all().front().status);
  if (failed.is_ok()) {
    const int64_t bytes = run.columns[column].bytes[0];
    Result<ImageHeader> header =
        read_image_header(Bytes(run.columns[column].data[0] + place.offset, static_cast<size_t>(bytes)));
    if (header.is_ok()) return ImageFacts{.header = header.value(), .bytes = bytes};
    failed = header.take_status().in(place_text(source.place_of(index, column)));
  }
  return std::move(failed).in(concat("sample ", index)).with_sample(index);
}

namespace {

OpenContext context_with(const Options& options, std::shared_ptr<HostMemory> memory) {
  OpenContext context{.memory = std::move(memory),
                      .io = io_mode(options),
                      .fault_guard = options.integer(Option::kFaultGuard) != 0,
                      .bad_files = static_cast<BadFiles>(options.integer(Option::kBadFiles)),
                      .checksums = static_cast<Checksums>(options.integer(Option::kChecksums)),
                      .cancel = options.cancel,
                      .log = options.log,
                      .storages = {},
                      .options = &options};
  if (options.extensions != nullptr) context.storages = options.extensions->storages;
  return context;
}

}  // namespace

OpenContext open_context(const Options& options) { return context_with(options, memory_for(options)); }

OpenContext file_context(const Options& options) {
  if (io_mode(options) == IoMode::kMemory) return open_context(options);
  OpenContext context = context_with(options, HostMemory::create(options.allocator));
  context.io = IoMode::kPread;
  return context;
}

Dataset::Dataset(SourceRef source) : source_(std::move(source)), info_(source_->info()) {
  for (std::string& note : info_.notes) note = message_text(note);
  const Schema& schema = source_->schema();
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    outputs_.push_back({.field = schema.fields[f], .flags = schema.places[f].shared ? kViewOverlapping : 0});
  }
  schema_ = std::make_unique<ViewSet>(outputs_, /*with_batch=*/false);
  schema_->set_schema_rows(-1);
}

Result<std::string> Dataset::identity() const { return local_identity(*source_); }

Result<ImageFacts> Dataset::image_facts(std::optional<std::string_view> field, int64_t index) const {
  const std::vector<Field>& fields = source_->schema().fields;
  DL_ASSIGN_OR_RETURN(const size_t found, image_field(fields, field));
  if (!holds_images(fields[found])) {
    return error(Code::kUnsupported, "field '", fields[found].name,
                 "': expected encoded images (u8[-1]), got ", field_type_text(fields[found]));
  }
  return image_facts_of(*source_, found, index, max_record_bytes(fields));
}

Result<std::unique_ptr<Dataset>> Dataset::of(Result<SourceRef> source) {
  if (!source.is_ok()) return source.take_status();
  return std::unique_ptr<Dataset>(new Dataset(source.take()));
}

Result<std::unique_ptr<Dataset>> Dataset::packed(Result<SourceRef> source, const OpenContext& context) {
  if (!source.is_ok()) return source.take_status();
  DL_ASSIGN_OR_RETURN(const std::optional<PackOptions> packing, packing_of(*context.options));
  if (!packing) return of(with_mixed_fields(source.take(), *context.options));
  SourceRef documents = source.take();
  DL_RETURN_IF_ERROR(refuse_grouped(*documents, "option pack_length"));
  if (documents->facts().mix != nullptr) {
    DL_ASSIGN_OR_RETURN(documents, documents_of_mix(std::move(documents), context));
  }
  return of(pack_source(std::move(documents), *packing, context));
}

Result<std::unique_ptr<Dataset>> Dataset::open(std::string_view uri, const Options& options,
                                               std::shared_ptr<OpenProgress> progress) {
  std::vector<const Format*> known(formats().begin(), formats().end());
  if (options.extensions != nullptr) {
    for (const auto& host : options.extensions->formats) known.push_back(&host->format());
  }
  OpenContext context = open_context(options);
  context.progress = std::move(progress);
  return packed(open_source(uri, context, known), context);
}

Result<std::unique_ptr<Dataset>> Dataset::from_arrays(std::vector<ArrayField> fields, int64_t sample_count,
                                                      HostOwner owner, const Options& options) {
  const OpenContext context = open_context(options);
  return of(made_of_loan(owner, context, [&](HostOwner lender) {
    return array_source(std::move(fields), sample_count, lender, *context.memory);
  }));
}

Result<std::unique_ptr<Dataset>> Dataset::from_arrow(ArrowOwned<ArrowArrayStream> stream,
                                                     std::string_view keys, const Options& options) {
  const OpenContext context = open_context(options);
  DL_ASSIGN_OR_RETURN(const ArrowOptions wanted, arrow_memory_options(keys));
  return packed(open_arrow_stream(std::move(stream), wanted, context), context);
}

Result<std::unique_ptr<Dataset>> Dataset::from_arrow(ArrowOwned<ArrowSchema> schema,
                                                     ArrowOwned<ArrowArray> array, std::string_view keys,
                                                     const Options& options) {
  const OpenContext context = open_context(options);
  DL_ASSIGN_OR_RETURN(const ArrowOptions wanted, arrow_memory_options(keys));
  return packed(open_arrow_array(std::move(schema), std::move(array), wanted, context), context);
}

Result<std::unique_ptr<Dataset>> Dataset::from_reader(std::vector<Field> fields, ReaderTable table,
                                                      ReaderFiles files, const Options& options) {
  DL_ASSIGN_OR_RETURN(const std::optional<PackOptions> packing, packing_of(options));
  if (packing)
    return error(Code::kUnsupported,
                 "option pack_length: packing needs the lengths of documents before they are read, and a "
                 "reader does not report them");
  DL_ASSIGN_OR_RETURN(table.files,
                      HostFiles::open(std::move(files), table.record_count, file_context(options)));
  return of(reader_source(std::move(fields), std::move(table), *open_context(options).memory));
}

Result<std::unique_ptr<Dataset>> Dataset::zip(std::span<const Dataset* const> parts,
                                              std::vector<std::string> names, const Options& options) {
  return packed(zip_sources(to_parts(parts, std::move(names))), open_context(options));
}

Result<std::unique_ptr<Dataset>> Dataset::concat(std::span<const Dataset* const> parts,
                                                 const Options& options) {
  return packed(concat_sources(to_parts(parts, {})), open_context(options));
}

Result<std::unique_ptr<Dataset>> Dataset::mix(std::span<const Dataset* const> parts, MixRecipe recipe,
                                              const Options& options) {
  for (size_t k = 0; k < parts.size(); ++k) {
    recipe.parts[k].source = parts[k]->source();
    recipe.parts[k].uri = parts[k]->info().uri;
  }
  return packed(mix_sources(std::move(recipe)), open_context(options));
}

Result<std::unique_ptr<Dataset>> Dataset::subset(const Dataset& dataset, std::span<const int64_t> indices,
                                                 HostOwner owner, const Options& options) {
  const OpenContext context = open_context(options);
  return of(made_of_loan(owner, context, [&](HostOwner lender) {
    return subset_source(dataset.source(), indices, lender, *context.memory);
  }));
}

}  // namespace dataline
