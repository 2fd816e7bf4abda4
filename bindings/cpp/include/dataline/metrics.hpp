// Metrics: the measurements of a loader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/calls.hpp>
#include <dataline/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Label names and values. A value may be any text.
using Labels = std::vector<std::pair<std::string, std::string>>;

// A table that outlives its loader and then returns the final numbers. Any number of threads may read it, also
// while the loader ends. In a forked child calls return DL_ERR_FORKED. An unstable part of dataline.h: it may
// still change in a minor release.
//   for (const dl_metric& row : loader.metrics().rows()) ...
class Metrics : public detail::MetricsCalls<Metrics> {
 public:
  Metrics() noexcept = default;
  explicit Metrics(dl_metrics* taken) noexcept : metrics_(taken) {}
  explicit operator bool() const noexcept { return metrics_ != nullptr; }

  // The current rows; dl_metric documents the members. Texts borrow from this object.
  Result<std::vector<dl_metric>> try_rows() const {
    return detail::listed<dl_metric>(dl_metrics_count, dl_metrics_at, metrics_.get());
  }
  std::vector<dl_metric> rows() const { return try_rows().value(); }
  // The table in Prometheus's text format 0.0.4, with `labels` added to each series. DL_ERR_INVALID_ARGUMENT: a
  // label name that Prometheus does not accept, or that the table already uses.
  Result<std::string> try_text(const Labels& labels = {}) const {
    std::string joined;
    for (const auto& [name, value] : labels) {
      if (name.find('=') != std::string::npos)  // else it could be several labels
        return Error(DL_ERR_INVALID_ARGUMENT, "labels: expected a name, got '" + name + "'");
      joined += (joined.empty() ? "" : ",") + name + "=\"" + escaped(value) + "\"";
    }
    std::string text;
    size_t bytes = 0;
    const auto write = [&](char* room) {
      return detail::result_of([&](dl_error* error) {
        return dl_metrics_text(metrics_.get(), joined.c_str(), room, &bytes, error);
      });
    };
    Result<void> done = write(nullptr);
    if (!done) return done.error();
    do {  // repeats if the numbers have grown meanwhile
      text.resize(bytes);
      done = write(text.data());
    } while (!done && bytes > text.size());
    if (!done) return done.error();
    text.resize(bytes - 1);
    return text;
  }
  std::string text(const Labels& labels = {}) const { return try_text(labels).value(); }

  dl_metrics* get() const noexcept { return metrics_.get(); }

 private:
  static std::string escaped(const std::string& value) {
    std::string out;
    for (const char c : value) {
      if (c == '\\' || c == '"') out += '\\';
      if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    return out;
  }

  std::unique_ptr<dl_metrics, detail::Destroyer<dl_metrics, dl_metrics_destroy>> metrics_;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
