// Reading a loader's metrics in tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/support/job.h"

namespace dataline::tests {

using Metrics = std::unique_ptr<dl_metrics, Destroy<dl_metrics, dl_metrics_destroy>>;

inline Metrics metrics_of(const Loader& loader) {
  Error error;
  dl_metrics* metrics = nullptr;
  EXPECT_EQ(dl_loader_metrics(loader.get(), &metrics, &error), DL_OK) << error.message;
  return Metrics(metrics);
}

inline std::vector<dl_metric> rows_of(const Metrics& metrics) {
  std::vector<dl_metric> rows;
  for (int64_t i = 0; i < dl_metrics_count(metrics.get()); ++i) {
    dl_metric row = {};
    row.struct_size = sizeof row;
    Error error;
    EXPECT_EQ(dl_metrics_at(metrics.get(), i, &row, &error), DL_OK) << error.message;
    rows.push_back(row);
  }
  return rows;
}

// The row of that name, part and thread; a row without a name where there is none.
inline dl_metric row_of(const Metrics& metrics, const std::string& name, const std::string& part = "",
                        int32_t thread = DL_THREAD_ALL) {
  for (const dl_metric& row : rows_of(metrics)) {
    if (row.name == name && row.part == part && row.thread == thread) return row;
  }
  dl_metric none = {};
  none.name = "";
  return none;
}

inline std::string text_of(const Metrics& metrics, const char* labels = nullptr) {
  Error error;
  size_t bytes = 0;
  EXPECT_EQ(dl_metrics_text(metrics.get(), labels, nullptr, &bytes, &error), DL_OK) << error.message;
  // Numbers may grow meanwhile.
  std::string text(bytes + 1024, '\0');
  bytes = text.size();
  EXPECT_EQ(dl_metrics_text(metrics.get(), labels, text.data(), &bytes, &error), DL_OK) << error.message;
  text.resize(bytes - 1);
  return text;
}

inline std::vector<dl_stall> stalls_of(const Metrics& metrics) {
  std::vector<dl_stall> stalls;
  for (int64_t i = 0; i < dl_metrics_stall_count(metrics.get()); ++i) {
    dl_stall stall = {};
    stall.struct_size = sizeof stall;
    Error error;
    EXPECT_EQ(dl_metrics_stall_at(metrics.get(), i, &stall, &error), DL_OK) << error.message;
    stalls.push_back(stall);
  }
  return stalls;
}

}  // namespace dataline::tests
