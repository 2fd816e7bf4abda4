// A dl_extensions with options, and tables of each kind that work, to be spoiled and added.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/datasets.h"

namespace dataline::tests {

using ::testing::HasSubstr;

class Extensions : public ::testing::Test {
 protected:
  Extensions() {
    EXPECT_EQ(dl_extensions_create(&extensions_, nullptr), DL_OK);
    EXPECT_EQ(dl_options_create(&options_, nullptr), DL_OK);
    format_.struct_size = sizeof format_;
    format_.name = "mine";
    format_.context = &destroyed_;
    format_.destroy = count;
    format_.open = open_numbers;
    operator_.struct_size = sizeof operator_;
    operator_.name = "keep";
    operator_.context = &destroyed_;
    operator_.destroy = count;
    operator_.prepare = [](void*, dl_operator_use*, dl_error*) -> dl_status { return DL_OK; };
    operator_.apply = copy_row;
    storage_.struct_size = sizeof storage_;
    storage_.scheme = "mem";
    storage_.context = &destroyed_;
    storage_.destroy = count;
    storage_.open = [](void*, dl_storage_object* object, dl_error*) -> dl_status {
      object->bytes = 64;
      return DL_OK;
    };
    storage_.read = [](void*, dl_storage_read* request, dl_error*) -> dl_status {
      for (int64_t i = 0; i < request->bytes; ++i)
        static_cast<uint8_t*>(request->out)[i] = static_cast<uint8_t>(request->offset + i);
      return DL_OK;
    };
  }
  ~Extensions() override {
    dl_options_destroy(options_);
    dl_extensions_destroy(extensions_);
  }

  static void count(void* context) { static_cast<std::atomic<int>*>(context)->fetch_add(1); }
  static dl_status copy_row(void*, dl_operator_row* row, dl_error*) {
    std::copy_n(static_cast<const char*>(row->input), row->input_bytes, static_cast<char*>(row->output));
    return DL_OK;
  }
  static dl_status open_numbers(void*, const dl_format_request* request, dl_dataset** out, dl_error* error) {
    static const int64_t kNumbers[] = {5, 6, 7};
    static const std::vector<int64_t> kShape = {3};
    const dl_array array = array_of("x", DL_DTYPE_I64, kShape, kNumbers);
    return dl_dataset_from_arrays(&array, 1, nullptr, nullptr, request->options, out, error);
  }

  std::string refused(dl_status status) const {
    return std::string(dl_status_name(status)) + " " + error_.message;
  }
  std::string add_format() { return refused(dl_extensions_add_format(extensions_, &format_, &error_)); }
  std::string add_operator() { return refused(dl_extensions_add_operator(extensions_, &operator_, &error_)); }
  std::string add_storage() { return refused(dl_extensions_add_storage(extensions_, &storage_, &error_)); }
  void use() { ASSERT_EQ(dl_options_set_extensions(options_, extensions_, &error_), DL_OK); }
  dl_dataset* open(const char* uri) {
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_open(uri, options_, &dataset, &error_), DL_OK) << error_.message;
    return dataset;
  }
  std::string open_error(const char* uri) {
    dl_dataset* dataset = nullptr;
    return refused(dl_dataset_open(uri, options_, &dataset, &error_));
  }

  dl_extensions* extensions_ = nullptr;
  dl_options* options_ = nullptr;
  dl_error error_ = DL_ERROR_INIT;
  std::atomic<int> destroyed_{0};
  dl_format format_ = {};
  dl_operator operator_ = {};
  dl_storage storage_ = {};
};

}  // namespace dataline::tests
