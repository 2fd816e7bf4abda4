// Datasets: open, from arrays and readers, compose, describe.
// SPDX-License-Identifier: Apache-2.0
#include "capi/create_dataset.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/host_fields.h"
#include "capi/host_struct.h"

using namespace dataline;
using namespace dataline::capi;

static_assert(kReaderInterrupted == DL_READER_INTERRUPTED);

namespace {

Result<std::vector<const Dataset*>> read_parts(dl_dataset* const* parts, int32_t count) {
  if (parts == nullptr) return null_argument("parts");
  if (count < 1) return error(Code::kInvalidArgument, "parts: expected at least one, got ", count);
  std::vector<const Dataset*> out;
  for (int32_t i = 0; i < count; ++i) {
    if (parts[i] == nullptr) return error(Code::kInvalidArgument, "part ", i + 1, " is NULL");
    out.push_back(parts[i]->core.get());
  }
  return out;
}

// The host is called with the core's structs.
#define DL_SAME_PLACE(ours, theirs, member)                           \
  static_assert(offsetof(ours, member) == offsetof(theirs, member) && \
                sizeof(ours::member) == sizeof(theirs::member))
DL_SAME_PLACE(ReaderCell, dl_reader_cell, borrowed);
DL_SAME_PLACE(ReaderCell, dl_reader_cell, status);
DL_SAME_PLACE(ReaderCell, dl_reader_cell, reserved);
DL_SAME_PLACE(ReaderRequest, dl_reader_request, cell_bytes);
DL_SAME_PLACE(ReaderRequest, dl_reader_request, slots);
DL_SAME_PLACE(ReaderRequest, dl_reader_request, seed);
// NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer is meant
DL_SAME_PLACE(ReaderRequest, dl_reader_request, cells);
DL_SAME_PLACE(ReaderRequest, dl_reader_request, message_bytes);
DL_SAME_PLACE(ReaderRequest, dl_reader_request, release_context);
DL_SAME_PLACE(ReaderRequest, dl_reader_request, reserved);
#undef DL_SAME_PLACE
static_assert(sizeof(ReaderCell) == sizeof(dl_reader_cell) &&
              sizeof(ReaderRequest) == sizeof(dl_reader_request));

Result<ReaderFiles> read_files(const dl_reader& given) {
  DL_RETURN_IF_ERROR(check_array(given.files, given.file_count, "dl_reader.files"));
  ReaderFiles files;
  for (int64_t i = 0; i < given.file_count; ++i) {
    if (given.files[i] == nullptr) return null_argument("dl_reader.files");
    files.paths.emplace_back(given.files[i]);
  }
  if (given.file_ends != nullptr) files.ends.assign(given.file_ends, given.file_ends + given.file_count);
  return files;
}

}  // namespace

extern "C" {

dl_status dl_dataset_open(const char* uri, const dl_options* options, dl_dataset** out, dl_error* error) {
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_REQUIRE(uri);
    return Dataset::open(uri, options_or_default(options, Options()), std::make_shared<OpenProgress>());
  });
}

dl_status dl_dataset_from_arrays(const dl_array* arrays, int32_t count, void (*release)(void*), void* context,
                                 const dl_options* options, dl_dataset** out, dl_error* error) {
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_REQUIRE(arrays);
    int64_t samples = 0;
    DL_ASSIGN_OR_RETURN(std::vector<ArrayField> fields, read_arrays(arrays, count, samples));
    return Dataset::from_arrays(std::move(fields), samples, {context, release},
                                options_or_default(options, Options()));
  });
}

dl_status dl_dataset_from_arrow(ArrowArrayStream* stream, const char* keys, const dl_options* options,
                                dl_dataset** out, dl_error* error) {
  ArrowOwned<ArrowArrayStream> taken;
  if (stream != nullptr) taken = ArrowOwned<ArrowArrayStream>(*stream);
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_REQUIRE(stream);
    return Dataset::from_arrow(std::move(taken), keys == nullptr ? "" : keys,
                               options_or_default(options, Options()));
  });
}

dl_status dl_dataset_from_arrow_array(ArrowSchema* schema, ArrowArray* array, const char* keys,
                                      const dl_options* options, dl_dataset** out, dl_error* error) {
  ArrowOwned<ArrowSchema> type;
  ArrowOwned<ArrowArray> values;
  if (schema != nullptr) type = ArrowOwned<ArrowSchema>(*schema);
  if (array != nullptr) values = ArrowOwned<ArrowArray>(*array);
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_REQUIRE(schema);
    DL_REQUIRE(array);
    return Dataset::from_arrow(std::move(type), std::move(values), keys == nullptr ? "" : keys,
                               options_or_default(options, Options()));
  });
}

dl_status dl_dataset_from_reader(const dl_reader* reader, const dl_options* options, dl_dataset** out,
                                 dl_error* error) {
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_REQUIRE(reader);
    DL_ASSIGN_OR_RETURN(const dl_reader given, read_struct(*reader));
    if (given.fields == nullptr) return null_argument("dl_reader.fields");
    DL_RETURN_IF_ERROR(check_reserved<dl_reader>("reserved", given.reserved == 0));
    DL_ASSIGN_OR_RETURN(std::vector<Field> fields, read_fields(given.fields, given.field_count));
    ReaderTable table;
    table.context = given.context;
    table.record_count = given.record_count;
    // dl_reader_request is the public name of ReaderRequest; the layout is the same.
    table.read = reinterpret_cast<decltype(table.read)>(given.read);
    table.destroy = given.destroy;
    if (given.fingerprint != nullptr) table.fingerprint = given.fingerprint;
    DL_ASSIGN_OR_RETURN(ReaderFiles files, read_files(given));
    table.block_count = given.block_count;
    table.block_ends = given.block_ends;
    table.held_blocks = given.held_blocks;
    table.prompt = given.prompt != 0;
    table.advise = given.advise;
    return Dataset::from_reader(std::move(fields), std::move(table), std::move(files),
                                options_or_default(options, Options()));
  });
}

dl_status dl_dataset_zip(dl_dataset* const* parts, const char* const* names, int32_t count,
                         const dl_options* options, dl_dataset** out, dl_error* error) {
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_ASSIGN_OR_RETURN(std::vector<const Dataset*> datasets, read_parts(parts, count));
    std::vector<std::string> texts;
    for (int32_t i = 0; names != nullptr && i < count; ++i)
      texts.emplace_back(names[i] != nullptr ? names[i] : "");
    return Dataset::zip(datasets, std::move(texts), options_or_default(options, Options()));
  });
}

dl_status dl_dataset_concat(dl_dataset* const* parts, int32_t count, const dl_options* options,
                            dl_dataset** out, dl_error* error) {
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_ASSIGN_OR_RETURN(std::vector<const Dataset*> datasets, read_parts(parts, count));
    return Dataset::concat(datasets, options_or_default(options, Options()));
  });
}

dl_status dl_dataset_subset(dl_dataset* dataset, const int64_t* indices, int64_t count,
                            void (*release)(void*), void* context, const dl_options* options,
                            dl_dataset** out, dl_error* error) {
  return create_dataset(out, error, [&]() -> MadeDataset {
    DL_REQUIRE(dataset);
    DL_RETURN_IF_ERROR(check_array(indices, count, "indices"));
    return Dataset::subset(*dataset->core, {indices, static_cast<size_t>(count)}, {context, release},
                           options_or_default(options, Options()));
  });
}

int64_t dl_dataset_count(const dl_dataset* dataset) {
  return dataset == nullptr ? 0 : dataset->core->source()->count();
}

const dl_view* dl_dataset_fields(const dl_dataset* dataset, int32_t* count) {
  if (count != nullptr) *count = 0;
  return dataset == nullptr ? nullptr : to_views(dataset->core->fields(), count);
}

const char* dl_dataset_format(const dl_dataset* dataset) {
  return dataset == nullptr ? "" : dataset->core->info().format.c_str();
}

const char* dl_dataset_uri(const dl_dataset* dataset) {
  return dataset == nullptr ? "" : dataset->core->info().uri.c_str();
}

int32_t dl_dataset_note_count(const dl_dataset* dataset) {
  return dataset == nullptr ? 0 : static_cast<int32_t>(dataset->core->info().notes.size());
}

const char* dl_dataset_note(const dl_dataset* dataset, int32_t index) {
  if (index < 0 || index >= dl_dataset_note_count(dataset)) return "";
  return dataset->core->info().notes[static_cast<size_t>(index)].c_str();
}

dl_status dl_dataset_image_info(const dl_dataset* dataset, const char* field, int64_t index,
                                dl_image_info* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(dataset);
    DL_REQUIRE(out);
    std::optional<std::string_view> name;
    if (field != nullptr) name = field;
    DL_ASSIGN_OR_RETURN(const ImageFacts from, dataset->core->image_facts(name, index));
    dl_image_info info = {};
    info.format = static_cast<int32_t>(from.header.format);
    info.width = from.header.width;
    info.height = from.header.height;
    info.channels = from.header.channels;
    info.bits = from.header.bits;
    info.orientation = from.header.orientation;
    info.progressive = from.header.progressive ? 1 : 0;
    info.bytes = from.bytes;
    return copy_struct(info, out);
  });
}

int64_t dl_dataset_class_count(const dl_dataset* dataset) {
  const auto* classes = dataset == nullptr ? nullptr : dataset->core->source()->facts().classes;
  return classes == nullptr ? 0 : static_cast<int64_t>(classes->size());
}

const char* dl_dataset_class_name(const dl_dataset* dataset, int64_t index) {
  if (index < 0 || index >= dl_dataset_class_count(dataset)) return "";
  return (*dataset->core->source()->facts().classes)[static_cast<size_t>(index)].c_str();
}

dl_status dl_dataset_identity(const dl_dataset* dataset, char* text, size_t* bytes, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(dataset);
    DL_REQUIRE(bytes);
    DL_ASSIGN_OR_RETURN(const std::string identity, dataset->core->identity());
    return copy_text(identity, "identity", text, bytes);
  });
}

dl_status dl_dataset_read(const dl_dataset* dataset, int64_t index, const dl_options* options, dl_batch** out,
                          dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(dataset);
    Batch* batch = nullptr;
    Status status =
        read_sample(dataset->core->source(), index, options_or_default(options, Options()), &batch);
    *out = to_handle(batch);
    return status;
  });
}

void dl_dataset_destroy(dl_dataset* dataset) { delete dataset; }

}  // extern "C"
