// Owning handles of the library's objects, and options from text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/dataline.h"

namespace dataline::tests {

using Settings = std::vector<std::pair<std::string, std::string>>;

// Later settings win.
inline Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

struct Error : dl_error {
  Error() { dl_error_init(this, sizeof(dl_error)); }
};

template <typename Handle, void (*destroy)(Handle*)>
struct Destroy {
  void operator()(Handle* handle) const { destroy(handle); }
};
using Options = std::unique_ptr<dl_options, Destroy<dl_options, dl_options_destroy>>;
using Dataset = std::unique_ptr<dl_dataset, Destroy<dl_dataset, dl_dataset_destroy>>;
using Loader = std::unique_ptr<dl_loader, Destroy<dl_loader, dl_loader_destroy>>;
using Epoch = std::unique_ptr<dl_epoch, Destroy<dl_epoch, dl_epoch_release>>;
using Batch = std::unique_ptr<dl_batch, Destroy<dl_batch, dl_batch_release>>;
using CancelToken = std::unique_ptr<dl_cancel_token, Destroy<dl_cancel_token, dl_cancel_token_destroy>>;

inline Options make_options(const Settings& settings = {}) {
  Error error;
  dl_options* options = nullptr;
  EXPECT_EQ(dl_options_create(&options, &error), DL_OK) << error.message;
  for (const auto& [key, value] : settings) {
    EXPECT_EQ(dl_options_set(options, key.c_str(), value.c_str(), &error), DL_OK) << error.message;
  }
  return Options(options);
}

}  // namespace dataline::tests
