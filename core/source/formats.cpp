// SPDX-License-Identifier: Apache-2.0
#include "core/source/formats.h"

#include "core/source/folder/folder.h"
#include "core/source/idx/idx.h"
#include "core/source/image_sets/image_sets.h"
#include "core/source/npy/npy.h"
#include "core/source/raw/raw.h"
#include "core/source/tar/tar.h"
#include "core/source/tokens/tokens.h"

namespace dataline {
namespace {

// In the order in which messages list them.
constexpr const Format* kFormats[] = {
    &kNpyFormat,       //
    &kIdxFormat,       //
    &kRawFormat,       //
    &kMnistFormat,     //
    &kCifar10Format,   //
    &kCifar100Format,  //
    &kTokensFormat,    //
    &kFolderFormat,    //
    &kTarFormat,       //
};

}  // namespace

std::span<const Format* const> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  for (const Format* format : kFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const Format* format : kFormats) names.push_back(format->name);
  return names;
}

}  // namespace dataline
