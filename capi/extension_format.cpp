// A dl_format as core's HostFormat, and the files that formats and storages of the host's read.
// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "capi/extensions.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/host_struct.h"
#include "core/base/text.h"

using namespace dataline;
using namespace dataline::capi;

struct dl_file {
  MappedFile core;
};

namespace {

// The caller's options while it opens something: callbacks may use them until they return.
dl_options borrowed_options(const OpenContext& context) {
  return {context.options == nullptr ? Options() : *context.options, {}};
}

// What `open` is given, and what its reports go to.
struct Asked {
  dl_format_request request;  // first: `report` gets a pointer to it
  const OpenContext* context;
  int64_t files = 1, total_files = 1;  // as told so far; of the path itself, the library tells

  static void report(const dl_format_request* request, int64_t files, int64_t total_files) {
    // Of open() below, which made it, and lent it as a const one.
    auto& self = *reinterpret_cast<Asked*>(const_cast<dl_format_request*>(request));
    OpenProgress& progress = *self.context->progress;
    if (total_files > self.total_files) progress.expect_files(total_files - self.total_files);
    self.total_files = std::max(self.total_files, total_files);
    for (; self.files < std::min(files, self.total_files); ++self.files) progress.add_file();
    self.context->report("opening ", request->path);
  }
};

class CallbackFormat final : public HostFormat {
 public:
  explicit CallbackFormat(const dl_format& table)
      : table_(table),
        context(table.context, table.destroy),
        name_(table.name),
        doc_(text_or_empty(table.doc)),
        suffix_text_(text_or_empty(table.suffixes)) {
    for (std::string_view suffix : split(suffix_text_, ' ')) {
      if (!suffix.empty()) suffixes_.push_back(suffix);
    }
    format_.name = name_;
    format_.doc = doc_;
    format_.suffixes = suffixes_;
  }

  Status add_key(const dl_format_key& key) {
    DL_RETURN_IF_ERROR(check_reserved<dl_format_key>("reserved", key.reserved == 0));
    DL_RETURN_IF_ERROR(check_name("dl_format_key.name", key.name, 1));
    if (key.values == nullptr) return null_argument("dl_format_key.values");
    KeySpec spec{keep(key.name), keep(key.values), {}, keep(key.doc)};
    if (key.default_value != nullptr) spec.fallback = keep(key.default_value);
    for (const KeySpec& known : keys_) {
      if (known.name == spec.name)
        return error(Code::kInvalidArgument, "dl_format '", name_, "': key '", spec.name, "' appears twice");
    }
    keys_.push_back(spec);
    format_.keys = keys_;
    return Status::ok();
  }

  Sniff sniff(const FirstBytes& file) const override {
    if (table_.sniff == nullptr) return Sniff::kNo;
    const int32_t sure =
        table_.sniff(context.get(), file.path.c_str(), file.buffer.data(), file.count, file.file_bytes);
    return static_cast<Sniff>(std::clamp(sure, DL_SNIFF_NO, DL_SNIFF_CERTAIN));
  }

  Result<SourceRef> open(const std::string& path, const Values& values,
                         const OpenContext& open_context) const override {
    std::vector<const char*> texts;
    for (const auto& value : values) texts.push_back(value ? value->c_str() : nullptr);
    const dl_options options = borrowed_options(open_context);
    const CancelFlag& flag = open_context.cancel == nullptr ? kNeverCancelled : open_context.cancel->flag();
    Asked asked = {{.struct_size = sizeof(dl_format_request),
                    .key_count = static_cast<int32_t>(texts.size()),
                    .path = path.c_str(),
                    .values = texts.data(),
                    .options = &options,
                    .cancelled = word_of(flag),
                    .report = &Asked::report},
                   &open_context};
    CallbackError failure;
    dl_dataset* made = nullptr;
    const dl_status code = table_.open(context.get(), &asked.request, &made, failure.get());
    const std::unique_ptr<dl_dataset> dataset(made);
    if (code != DL_OK)
      return failure.status(code, concat("format '", name_, "': open"), open_context.cancelled()).in(path);
    if (dataset == nullptr) return error(Code::kReader, path, ": ", name_, ": open created no dataset");
    return dataset->core->source();
  }

 private:
  // Strings that views point to; ended by NUL, for the tables.
  std::string_view keep(const char* text) { return kept_.emplace_back(text_or_empty(text)); }

  const dl_format table_;

 public:
  HostContext context;

 private:
  const std::string name_, doc_, suffix_text_;
  std::vector<std::string_view> suffixes_;
  std::deque<std::string> kept_;
  std::vector<KeySpec> keys_;
};

}  // namespace

namespace dataline::capi {

Result<Made<const HostFormat>> make_format(const dl_format& table) {
  DL_RETURN_IF_ERROR(check_name("dl_format.name", table.name));
  if (table.open == nullptr) return null_argument("dl_format.open");
  DL_RETURN_IF_ERROR(check_array(table.keys, table.key_count, "dl_format.keys"));
  auto format = std::make_shared<CallbackFormat>(table);
  for (int32_t i = 0; i < table.key_count; ++i) {
    DL_ASSIGN_OR_RETURN(const dl_format_key key, read_element(table.keys, i));
    DL_RETURN_IF_ERROR(format->add_key(key));
  }
  return Made<const HostFormat>(std::move(format));
}

}  // namespace dataline::capi

extern "C" {

dl_status dl_file_open(const char* path, const dl_options* options, dl_file** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(path);
    DL_REQUIRE(out);
    *out = nullptr;
    const Options none;
    const OpenContext context = file_context(options_or_default(options, none));
    DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, context));
    *out = new dl_file{std::move(file)};
    return Status::ok();
  });
}

int64_t dl_file_bytes(const dl_file* file) { return file == nullptr ? 0 : file->core.bytes(); }

dl_status dl_file_read(const dl_file* file, int64_t offset, int64_t bytes, void* out,
                       const int32_t* cancelled, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(file);
    DL_RETURN_IF_ERROR(check_array(out, bytes, "out"));
    DL_RETURN_IF_ERROR(file->core.read(offset, bytes, static_cast<std::byte*>(out),
                                       reinterpret_cast<const CancelFlag*>(cancelled)));
    return file->core.change_since_open().status;
  });
}

void dl_file_destroy(dl_file* file) { delete file; }

}  // extern "C"
