// Reads the library's tables.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/handles.h"

#include "bindings/cli/failure.h"

namespace dataline::cli {

std::vector<dl_option_info> option_table() {
  std::vector<dl_option_info> table;
  for (int32_t i = 0; i < dl_option_count(); ++i) {
    dl_error error = DL_ERROR_INIT;
    auto& row = table.emplace_back(sized<dl_option_info>());
    check(dl_option_at(i, &row, &error), error);
  }
  return table;
}

std::vector<TransformRow> transform_table(const dl_extensions* extensions) {
  std::vector<TransformRow> table;
  for (int32_t i = 0; i < dl_transform_count(extensions); ++i) {
    dl_error error = DL_ERROR_INIT;
    auto& row = table.emplace_back();
    row.info = sized<dl_transform_info>();
    check(dl_transform_at(extensions, i, &row.info, &error), error);
    for (int32_t k = 0; k < row.info.argument_count; ++k) {
      auto& argument = row.arguments.emplace_back(sized<dl_argument_info>());
      check(dl_transform_argument_at(extensions, i, k, &argument, &error), error);
    }
  }
  return table;
}

std::vector<FormatRow> format_table(const dl_extensions* extensions) {
  std::vector<FormatRow> table;
  for (int32_t i = 0; i < dl_format_count(extensions); ++i) {
    dl_error error = DL_ERROR_INIT;
    auto& row = table.emplace_back();
    row.info = sized<dl_format_info>();
    check(dl_format_at(extensions, i, &row.info, &error), error);
    for (int32_t k = 0; k < row.info.key_count; ++k) {
      auto& key = row.keys.emplace_back(sized<dl_format_key>());
      check(dl_format_key_at(extensions, i, k, &key, &error), error);
    }
  }
  return table;
}

std::vector<dl_storage> storage_table(const dl_extensions* extensions) {
  std::vector<dl_storage> table;
  for (int32_t i = 0; i < dl_storage_count(extensions); ++i) {
    dl_error error = DL_ERROR_INIT;
    check(dl_storage_at(extensions, i, &table.emplace_back(sized<dl_storage>()), &error), error);
  }
  return table;
}

Extensions load_plugins(const std::vector<std::string>& plugins) {
  if (plugins.empty()) return nullptr;
  dl_error error = DL_ERROR_INIT;
  dl_extensions* raw = nullptr;
  check(dl_extensions_create(&raw, &error), error);
  Extensions extensions(raw);
  for (const std::string& plugin : plugins) check(dl_extensions_load(raw, plugin.c_str(), &error), error);
  return extensions;
}

const char* option_type(const dl_option_info& option) {
  switch (option.type) {
    case DL_OPTION_BOOL:
      return "bool";
    case DL_OPTION_INT:
      return "int";
    case DL_OPTION_SIZE:
      return "size";
    case DL_OPTION_WORD:
      return option.choices[0] != '\0' ? option.choices : "word";
    case DL_OPTION_TEXT:
      return "text";
    case DL_OPTION_INDICES:
      return "indices";
    case DL_OPTION_WEIGHTS:
      return "weights";
    case DL_OPTION_LENGTHS:
      return "lengths";
    default:
      return "?";
  }
}

bool is_loss(std::string_view note) {
  return note.starts_with("left out: ") || note.starts_with("damaged: ");
}

std::vector<std::string> losses_of(const dl_dataset* dataset) {
  std::vector<std::string> out;
  for (int32_t i = 0; i < dl_dataset_note_count(dataset); ++i) {
    const std::string_view note = dl_dataset_note(dataset, i);
    if (is_loss(note)) out.emplace_back(note);
  }
  return out;
}

bool is_array_option(const dl_option_info& option) {
  return option.type == DL_OPTION_INDICES || option.type == DL_OPTION_WEIGHTS ||
         option.type == DL_OPTION_LENGTHS;
}

const char* option_scope(const dl_option_info& option) {
  switch (option.scope) {
    case DL_SCOPE_DATASET:
      return "dataset";
    case DL_SCOPE_LOADER:
      return "loader";
    default:
      return "both";
  }
}

}  // namespace dataline::cli
