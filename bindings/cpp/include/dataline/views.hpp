// Views: the fields of a batch or a schema.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/error.hpp>
#include <dataline/view.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// The fields of a batch or schema, in order. Borrows as View does: `for (dataline::View view : batch.views())`.
class Views {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = View;
    using difference_type = std::ptrdiff_t;
    using pointer = const View*;
    using reference = View;
    Iterator() noexcept = default;
    Iterator(const dl_view* first, int32_t index, const dl_batch* batch) noexcept
        : first_(first), index_(index), batch_(batch) {}
    View operator*() const noexcept { return View(dl_view_at(first_, index_), batch_); }
    Iterator& operator++() noexcept { return ++index_, *this; }
    Iterator operator++(int) noexcept { return {first_, index_++, batch_}; }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.index_ == b.index_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) noexcept { return a.index_ != b.index_; }

   private:
    const dl_view* first_ = nullptr;
    int32_t index_ = 0;
    const dl_batch* batch_ = nullptr;
  };

  Views() noexcept = default;
  Views(const dl_view* views, int32_t count, const dl_batch* batch = nullptr) noexcept
      : views_(views), count_(count), batch_(batch) {}

  int32_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  Iterator begin() const noexcept { return {views_, 0, batch_}; }
  Iterator end() const noexcept { return {views_, count_, batch_}; }

  // Returns an empty View if there is no such field.
  View find(std::string_view name) const noexcept {
    for (int32_t i = 0; i < count_; ++i) {
      if (name == dl_view_at(views_, i)->name) return View(dl_view_at(views_, i), batch_);
    }
    return View();
  }
  // DL_ERR_NO_SUCH_FIELD lists the existing fields.
  Result<View> try_view(std::string_view name) const {
    if (View found = find(name)) return found;
    return no_field(name);
  }
  Result<View> try_view(int32_t index) const {
    if (index >= 0 && index < count_) return View(dl_view_at(views_, index), batch_);
    return no_field(std::to_string(index));
  }
  View operator[](std::string_view name) const {
    if (View found = find(name)) return found;
    detail::fail(no_field(name));
  }
  View operator[](int32_t index) const {
    if (index >= 0 && index < count_) return View(dl_view_at(views_, index), batch_);
    detail::fail(no_field(std::to_string(index)));
  }

 private:
  DATALINE_CPP_COLD Error no_field(std::string_view name) const {
    std::string text = "no field '" + std::string(name) + "'; the fields are:";
    for (int32_t i = 0; i < count_; ++i)
      text += std::string(i > 0 ? ", " : " ") + dl_view_at(views_, i)->name;
    return Error(DL_ERR_NO_SUCH_FIELD, count_ > 0 ? text : text + " none");
  }

  const dl_view* views_ = nullptr;
  int32_t count_ = 0;
  const dl_batch* batch_ = nullptr;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
