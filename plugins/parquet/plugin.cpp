// The plug-in: the format `parquet` on dataline.h's extensions. What meets the C ABI is here.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "dataset.h"
#include "library.h"
#include "paths.h"

namespace dataline_parquet {

Library library;

namespace {

constexpr size_t kMaxKeptOpen = 128;  // files; a process may have 1024 open on many systems
enum Key { kFields, kNulls, kCacheBytes, kKeys };

int32_t read_rows(void* context, dl_reader_request* request) {
  try {
    return static_cast<Dataset*>(context)->read(*request);
  } catch (const std::exception& thrown) {
    std::snprintf(request->messages, static_cast<size_t>(request->message_bytes), "parquet: %s",
                  thrown.what());
  } catch (...) {
    std::snprintf(request->messages, static_cast<size_t>(request->message_bytes),
                  "parquet: an unknown exception");
  }
  return DL_ERR_READER;
}

void advise_group(void* context, int64_t block) {
  try {
    static_cast<Dataset*>(context)->advise(block);
  } catch (...) {  // no room to note it: a hint
    return;
  }
}

void destroy_dataset(void* context) { delete static_cast<Dataset*>(context); }

dl_status make_dataset(std::unique_ptr<Dataset> made, const dl_options* options, dl_dataset** out,
                       dl_error* error) {
  std::vector<dl_view> views;
  for (const PqField& field : made->fields()) {
    dl_view view = {};
    view.struct_size = sizeof view;
    view.name = field.name.c_str();
    view.kind = field.ragged ? DL_KIND_RAGGED : DL_KIND_DENSE;
    view.dtype = field.dtype;
    view.rank = static_cast<int32_t>(field.shape.size());
    view.shape = field.shape.data();
    view.axes = field.axes.c_str();
    views.push_back(view);
  }
  const std::string fingerprint = made->fingerprint();
  dl_reader reader = {};
  reader.struct_size = sizeof reader;
  reader.field_count = static_cast<int32_t>(views.size());
  reader.fields = views.data();
  reader.record_count = made->rows();
  reader.context = made.get();
  reader.read = read_rows;
  reader.destroy = destroy_dataset;
  reader.fingerprint = fingerprint.c_str();
  reader.block_count = static_cast<int64_t>(made->block_ends().size());
  reader.block_ends = made->block_ends().data();
  reader.held_blocks = made->held_groups();
  reader.prompt = 1;
  reader.advise = advise_group;
  const std::vector<const char*> files = made->paths();
  reader.file_count = static_cast<int64_t>(files.size());
  reader.files = files.data();
  reader.file_ends = made->file_ends().data();
  const dl_status status = library.from_reader(&reader, options, out, error);
  if (status == DL_OK) static_cast<void>(made.release());  // destroy_dataset has it
  return status;
}

Failure read_fields(const char* text, std::vector<std::string>& out) {
  const std::string_view all = text == nullptr ? "" : text;
  if (text == nullptr) return {};
  for (size_t at = 0; at <= all.size();) {
    const size_t end = std::min(all.find(',', at), all.size());
    const std::string name(all.substr(at, end - at));
    if (name.empty()) return failure(DL_ERR_BAD_URI, "fields='", all, "': an empty name");
    out.push_back(name);
    at = end + 1;
  }
  return {};
}

template <typename T>
bool parse(std::string_view text, T& out) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  return fault == std::errc() && end == text.data() + text.size() && !text.empty();
}

Failure read_nulls(const char* given, std::optional<Fill>& out) {
  const std::string_view text = given == nullptr ? "error" : given;
  if (text == "error") return {};
  if (text == "mask") {
    out = Fill{0, 0, true};
    return {};
  }
  if (text.substr(0, 5) == "fill(" && text.back() == ')') {
    const std::string_view number = text.substr(5, text.size() - 6);
    Fill fill;
    int64_t whole = 0;
    if (parse(number, whole)) {
      fill.whole = whole;
      fill.number = static_cast<double>(whole);
    }
    if (fill.whole || (parse(number, fill.number) && fill.number - fill.number == 0)) {
      out = fill;
      return {};
    }
  }
  return failure(DL_ERR_BAD_URI, "nulls='", text, "': expected error, fill(NUMBER) or mask");
}

Failure read_cache_bytes(const char* given, int64_t& out) {
  std::string_view text = given == nullptr ? "" : given;
  constexpr std::pair<std::string_view, int> kUnits[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) continue;
    text.remove_suffix(unit.size());
    shift = bits;
  }
  int64_t number = 0;
  if (parse(text, number) && number > 0 && number <= (INT64_MAX >> shift)) {
    out = number << shift;
    return {};
  }
  return failure(DL_ERR_BAD_URI, "cache_bytes='", given == nullptr ? "" : given,
                 "': expected a size above 0, as in 256MiB");
}

Failure check_same(const ParquetFile& first, const ParquetFile& file) {
  const std::vector<PqField>&expected = first.fields(), &got = file.fields();
  if (expected.size() != got.size()) {
    return failure(DL_ERR_MISMATCH, file.path(), ": ", got.size(), " fields, expected the ", expected.size(),
                   " of ", first.path());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == got[i]) continue;
    return failure(DL_ERR_MISMATCH, file.path(), ": column '", got[i].name, "' is ", got[i].type_text(),
                   ", expected '", expected[i].name, "' of ", expected[i].type_text(), " as in ",
                   first.path());
  }
  return {};
}

// The caller's options for opening files again. Its token is for this opening alone: they get one that nobody cancels.
Failure keep_options(const dl_options* given, std::shared_ptr<dl_options>& out) {
  dl_error error = DL_ERROR_INIT;
  dl_options* copy = nullptr;
  dl_cancel_token* token = nullptr;
  dl_status code = library.options_copy(given, &copy, &error);
  if (code == DL_OK) {
    out = std::shared_ptr<dl_options>(copy, library.options_destroy);
    code = library.token_create(&token, &error);
  }
  if (code == DL_OK) code = library.set_cancel_token(copy, token, &error);
  library.token_destroy(token);
  return code == DL_OK ? Failure() : failure(code, error.message);
}

Failure open_files(const dl_format_request& request, FileOptions& options,
                   std::vector<std::shared_ptr<const ParquetFile>>& files, Partitions& partitions) {
  if (Failure failed = read_fields(request.values[kFields], options.fields)) return failed;
  if (Failure failed = read_nulls(request.values[kNulls], options.fill)) return failed;
  if (Failure failed = read_cache_bytes(request.values[kCacheBytes], options.cache_bytes)) return failed;
  std::vector<FoundFile> paths;
  if (Failure failed = files_of(request.path, paths)) return failed;
  if (Failure failed = Partitions::make(paths, options, &partitions)) return failed;
  options.kept_open = paths.size() <= kMaxKeptOpen;
  if (!options.kept_open) {
    if (Failure failed = keep_options(request.options, options.library_options)) return failed;
  }
  const auto count = static_cast<int64_t>(paths.size());
  const FileOptions file_options = partitions.for_files(options);
  const bool tells = request.struct_size >= sizeof request;  // else an older library's
  Failure first_empty;
  for (const FoundFile& found : paths) {
    if (tells && is_set(request.cancelled)) {
      return failure(DL_CANCELLED, request.path, ": cancelled after ", files.size(), " of ", count, " files");
    }
    if (tells) request.report(&request, static_cast<int64_t>(files.size()), count);
    std::shared_ptr<const ParquetFile> file;
    Failure not_opened = ParquetFile::open(found.path, file_options, request.options, &file);
    // A file of 0 bytes among others adds no samples, as in the library's formats.
    if (not_opened.code == DL_ERR_EMPTY && count > 1) {
      if (!first_empty) first_empty = not_opened;
      partitions.drop(files.size());
      continue;
    }
    if (not_opened) return not_opened;
    if (!files.empty()) {
      if (Failure failed = check_same(*files[0], *file)) return failed;
    }
    files.push_back(std::move(file));
  }
  if (files.empty()) return first_empty;
  partitions.place(files[0]->fields(), options);
  if (tells) request.report(&request, count, count);
  return {};
}

dl_status open_parquet(void*, const dl_format_request* request, dl_dataset** out, dl_error* error) {
  try {
    FileOptions options;
    std::vector<std::shared_ptr<const ParquetFile>> files;
    Partitions partitions;
    if (const Failure failed = open_files(*request, options, files, partitions)) {
      // The library puts the path before it.
      const std::string path = concat(request->path, ": ");
      const bool named = failed.text.compare(0, path.size(), path) == 0;
      return library.error_set(error, failed.code, failed.text.c_str() + (named ? path.size() : 0));
    }
    auto made = std::make_unique<Dataset>(std::move(files), std::move(partitions), options.cache_bytes);
    return make_dataset(std::move(made), request->options, out, error);
  } catch (const std::bad_alloc&) {
    return library.error_set(error, DL_ERR_NO_MEMORY, "parquet: out of memory");
  } catch (const std::exception& thrown) {
    return library.error_set(error, DL_ERR_READER, thrown.what());
  } catch (...) {
    return library.error_set(error, DL_ERR_READER, "parquet: an unknown exception");
  }
}

int32_t sniff_parquet(void*, const char*, const void* bytes, int64_t count, int64_t) {
  const bool ours = count >= 4 && (std::memcmp(bytes, "PAR1", 4) == 0 || std::memcmp(bytes, "PARE", 4) == 0);
  return ours ? DL_SNIFF_LIKELY : DL_SNIFF_NO;
}

dl_status add_format(dl_extensions* extensions, dl_error* error) {
  static const dl_format_key kTable[kKeys] = {
      {sizeof(dl_format_key), 0, "fields", "NAMES", nullptr,
       "the columns to read, in this order, as in image/bytes,label; a struct selects all its leaves; "
       "default: all"},
      {sizeof(dl_format_key), 0, "nulls", "RULE", "error",
       "what a null becomes; error: a bad sample; fill(V): the number V, or an empty row of a ragged field; "
       "mask: 0 or an empty row, with false in an extra field NAME/valid"},
      {sizeof(dl_format_key), 0, "cache_bytes", "SIZE", "256MiB",
       "memory for decoded row groups, for all files of a path together; one row group must fit"}};
  dl_format format = {};
  format.struct_size = sizeof format;
  format.name = "parquet";
  format.doc =
      "rows of Parquet files, or of a directory of them and its subdirectories, by Apache Arrow. Fields: the "
      "columns, leaves of structs as struct/leaf, and the keys of directories KEY=VALUE";
  format.keys = kTable;
  format.key_count = kKeys;
  format.suffixes = ".parquet .parq .pq";
  format.sniff = sniff_parquet;
  format.open = open_parquet;
  return library.add_format(extensions, &format, error);
}

}  // namespace
}  // namespace dataline_parquet

extern "C" dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error) {
  using namespace dataline_parquet;
  plugin->built_for = DL_ABI_VERSION;
  if (plugin->abi_version != DL_ABI_VERSION) return DL_OK;  // the library says that it does not fit
  const bool found = find(*plugin, "dl_error_set", library.error_set) &&
                     find(*plugin, "dl_options_copy", library.options_copy) &&
                     find(*plugin, "dl_options_destroy", library.options_destroy) &&
                     find(*plugin, "dl_options_set_cancel_token", library.set_cancel_token) &&
                     find(*plugin, "dl_cancel_token_create", library.token_create) &&
                     find(*plugin, "dl_cancel_token_destroy", library.token_destroy) &&
                     find(*plugin, "dl_file_open", library.file_open) &&
                     find(*plugin, "dl_file_bytes", library.file_bytes) &&
                     find(*plugin, "dl_file_read", library.file_read) &&
                     find(*plugin, "dl_file_destroy", library.file_destroy) &&
                     find(*plugin, "dl_dataset_from_reader", library.from_reader) &&
                     find(*plugin, "dl_extensions_add_format", library.add_format);
  if (!found) return DL_ERR_UNSUPPORTED;
  return add_format(plugin->extensions, error);
}
