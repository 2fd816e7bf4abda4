// The plug-in: the format `parquet` on dataline.h's extensions, and rows of datasets from decoded row groups. Over 300 lines:
// what meets the C ABI is in one place.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

#include "group_cache.h"
#include "library.h"
#include "parquet_file.h"

namespace dataline_parquet {

Library library;

namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultCacheBytes = int64_t{256} << 20;
constexpr const char* kSuffixes[] = {".parquet", ".parq", ".pq"};
enum Key { kFields, kNulls, kCacheBytes, kKeys };

// ---- The dataset ------------------------------------------------------------------------------------------------------

struct GroupPlace {
  int32_t file = 0;
  int32_t group = 0;
  int64_t first = 0;  // row of the dataset
};

class Dataset {
 public:
  Dataset(std::vector<std::shared_ptr<const ParquetFile>> files, int64_t cache_bytes)
      : files_(std::move(files)), cache_(cache_bytes) {
    for (size_t f = 0; f < files_.size(); ++f) {
      const std::vector<int64_t>& groups = files_[f]->group_rows();
      for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g] > 0) places_.push_back({static_cast<int32_t>(f), static_cast<int32_t>(g), rows_});
        rows_ += groups[g];
      }
    }
  }

  int64_t rows() const { return rows_; }
  const std::vector<PqField>& fields() const { return files_[0]->fields(); }

  // Sizes, rows and columns.
  std::string fingerprint() const {
    uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](const std::string& text) {
      for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    };
    for (const PqField& field : fields()) add(concat(field.name, ' ', field.type_text(), '\n'));
    for (const auto& file : files_) {
      add(concat(file->file_bytes(), ':'));
      for (const int64_t rows : file->group_rows()) add(concat(rows, ','));
    }
    return concat("parquet ", files_.size(), " ", rows_, " ", std::hex, hash);
  }

  int32_t read(dl_reader_request& request) {
    // By row group, so that each is asked for once, and a thread holds one of them.
    std::array<int32_t, 64> order{};
    const int32_t count = std::min<int32_t>(request.record_count, 64);
    for (int32_t r = 0; r < count; ++r) order[static_cast<size_t>(r)] = r;
    std::sort(order.begin(), order.begin() + count,
              [&](int32_t a, int32_t b) { return request.indices[a] < request.indices[b]; });
    size_t held = places_.size();
    GroupCache::GroupRef group;
    Failure failed;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t record = order[static_cast<size_t>(i)];
      const size_t place = place_of(request.indices[record]);
      if (place != held) {
        group.reset();
        failed = find(place, request.cancelled, &group);
        held = place;
      }
      if (failed.code == DL_CANCELLED) return DL_CANCELLED;
      if (failed) {
        refuse(request, record, failed.code, failed.text);
      } else {
        copy(request, record, places_[place], *group);
      }
    }
    return 0;
  }

 private:
  size_t place_of(int64_t row) const {
    const auto after =
        std::upper_bound(places_.begin(), places_.end(), row,
                         [](int64_t wanted, const GroupPlace& place) { return wanted < place.first; });
    return static_cast<size_t>(after - places_.begin()) - 1;
  }

  Failure find(size_t place, const int32_t* cancelled, GroupCache::GroupRef* out) {
    const GroupPlace& where = places_[place];
    const ParquetFile& file = *files_[static_cast<size_t>(where.file)];
    return cache_.get(
        static_cast<int64_t>(place), cancelled,
        [&](GroupCache::GroupRef* made) { return file.decode(where.group, cancelled, made); }, out);
  }

  void copy(dl_reader_request& request, int32_t record, const GroupPlace& place, const Group& group) const {
    const int64_t row = request.indices[record] - place.first;
    for (size_t f = 0; f < fields().size(); ++f) {
      dl_reader_cell& cell = *dl_reader_cell_at(&request, record, static_cast<int32_t>(f));
      const uint8_t* data = nullptr;
      int64_t bytes = 0;
      if (const Failure failed = group.find(f, row, &data, &bytes)) {
        refuse(request, record, failed.code,
               concat(files_[static_cast<size_t>(place.file)]->path(), ": row group ", place.group, ": row ",
                      row, ": column '", fields()[f].name, "': ", failed.text));
        return;
      }
      cell.bytes = bytes;  // more than there is room for: the library says so
      if (bytes > 0 && bytes <= cell.capacity) std::memcpy(cell.data, data, static_cast<size_t>(bytes));
    }
  }

  static void refuse(dl_reader_request& request, int32_t record, dl_status code, const std::string& text) {
    dl_reader_cell_at(&request, record, 0)->status = code;
    std::snprintf(request.messages + record * request.message_bytes,
                  static_cast<size_t>(request.message_bytes), "%s", text.c_str());
  }

  const std::vector<std::shared_ptr<const ParquetFile>> files_;
  std::vector<GroupPlace> places_;  // those that have rows, ascending
  int64_t rows_ = 0;
  GroupCache cache_;
};

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
  const dl_status status = library.from_reader(&reader, options, out, error);
  if (status == DL_OK) static_cast<void>(made.release());  // destroy_dataset has it
  return status;
}

// ---- Keys -------------------------------------------------------------------------------------------------------------

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
  return failure(DL_ERR_BAD_URI, "nulls='", text, "': expected error, or fill(NUMBER)");
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

// ---- Opening ----------------------------------------------------------------------------------------------------------

bool has_suffix(const std::string& name) {
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](const char* suffix) {
    const size_t length = std::strlen(suffix);
    return name.size() > length && name.compare(name.size() - length, length, suffix) == 0;
  });
}

// Natural order: runs of digits by their value, so that part-2 is before part-10.
bool is_before(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<uint8_t>(a[i]) < static_cast<uint8_t>(b[j]);
      ++i, ++j;
      continue;
    }
    size_t m = i, n = j;
    while (m < a.size() && a[m] == '0') ++m;
    while (n < b.size() && b[n] == '0') ++n;
    size_t p = m, q = n;
    while (p < a.size() && is_digit(a[p])) ++p;
    while (q < b.size() && is_digit(b[q])) ++q;
    if (p - m != q - n) return p - m < q - n;
    const int order = a.compare(m, p - m, b, n, q - n);
    if (order != 0) return order < 0;
    i = p, j = q;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

// The files that a path stands for: itself, or those of a directory.
Failure files_of(const std::string& path, std::vector<std::string>& out) {
  std::error_code fault;
  if (path.find("://") != std::string::npos || !fs::is_directory(path, fault)) {
    out.push_back(path);
    return {};
  }
  std::vector<std::string> names;
  size_t seen = 0;
  for (fs::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault), ++seen) {
    const std::string name = at->path().filename().string();
    if (name[0] != '.' && has_suffix(name) && !at->is_directory()) names.push_back(name);
  }
  if (fault) return failure(DL_ERR_IO, path, ": ", fault.message());
  if (names.empty()) {
    return failure(DL_ERR_EMPTY, path, ": no parquet files (*.parquet, *.parq, *.pq) among the ", seen,
                   " entries of this directory");
  }
  std::sort(names.begin(), names.end(), is_before);
  for (const std::string& name : names) out.push_back((fs::path(path) / name).string());
  return {};
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

Failure open_files(const dl_format_request& request, FileOptions& options,
                   std::vector<std::shared_ptr<const ParquetFile>>& files) {
  if (Failure failed = read_fields(request.values[kFields], options.fields)) return failed;
  if (Failure failed = read_nulls(request.values[kNulls], options.fill)) return failed;
  if (Failure failed = read_cache_bytes(request.values[kCacheBytes], options.cache_bytes)) return failed;
  std::vector<std::string> paths;
  if (Failure failed = files_of(request.path, paths)) return failed;
  for (const std::string& path : paths) {
    std::shared_ptr<const ParquetFile> file;
    if (Failure failed = ParquetFile::open(path, options, request.options, &file)) return failed;
    if (!files.empty()) {
      if (Failure failed = check_same(*files[0], *file)) return failed;
    }
    files.push_back(std::move(file));
  }
  return {};
}

dl_status open_parquet(void*, const dl_format_request* request, dl_dataset** out, dl_error* error) {
  try {
    FileOptions options;
    std::vector<std::shared_ptr<const ParquetFile>> files;
    if (const Failure failed = open_files(*request, options, files))
      return library.error_set(error, failed.code, failed.text.c_str());
    auto made = std::make_unique<Dataset>(std::move(files), options.cache_bytes);
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
       "the columns to read, in this order, as in image/bytes,label; a struct stands for its leaves; "
       "default: all"},
      {sizeof(dl_format_key), 0, "nulls", "RULE", "error",
       "what a value is that is null: error, a bad sample; fill(V), the number V, or an empty row of a "
       "ragged field"},
      {sizeof(dl_format_key), 0, "cache_bytes", "SIZE", "256MiB",
       "memory for decoded row groups, of all files of a path together; one row group must fit"}};
  dl_format format = {};
  format.struct_size = sizeof format;
  format.name = "parquet";
  format.doc =
      "rows of Parquet files, or of a directory of them, by Apache Arrow. Fields: their columns, leaves of "
      "structs as "
      "struct/leaf";
  format.keys = kTable;
  format.key_count = kKeys;
  format.suffixes = ".parquet .parq .pq";
  format.sniff = sniff_parquet;
  format.open = open_parquet;
  return library.add_format(extensions, &format, error);
}

template <typename Function>
bool find(const dl_plugin& plugin, const char* name, Function& out) {
  out = reinterpret_cast<Function>(plugin.find(name));
  return out != nullptr;
}

}  // namespace
}  // namespace dataline_parquet

extern "C" DL_API dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error);
extern "C" dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error) {
  using namespace dataline_parquet;
  plugin->built_for = DL_ABI_VERSION;
  if (plugin->abi_version != DL_ABI_VERSION) return DL_OK;  // the library says that it does not fit
  const bool found = find(*plugin, "dl_error_set", library.error_set) &&
                     find(*plugin, "dl_file_open", library.file_open) &&
                     find(*plugin, "dl_file_bytes", library.file_bytes) &&
                     find(*plugin, "dl_file_read", library.file_read) &&
                     find(*plugin, "dl_file_destroy", library.file_destroy) &&
                     find(*plugin, "dl_dataset_from_reader", library.from_reader) &&
                     find(*plugin, "dl_extensions_add_format", library.add_format);
  if (!found) return DL_ERR_UNSUPPORTED;
  return add_format(plugin->extensions, error);
}
