// Copies the rows of a dataset into memory of the program.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/stored_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "bindings/cli/failure.h"
#include "bindings/cli/system.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

constexpr int64_t kHugePageBytes = int64_t{2} << 20;
constexpr int64_t kBatchBytes = int64_t{1} << 20;  // of the loader that copies the rows
constexpr int64_t kBatchRows = 65536;
constexpr int64_t kRaggedBatch = 8;  // its slots have max_bytes_per_sample per sample

// The rows of a delivered dense field.
struct Look {
  const std::byte* data = nullptr;
  int64_t stride = 0;  // bytes from row to row
  int64_t row_bytes = 0;
  int64_t item_bytes = 0;
};

Look look_at(const dl_view& view) {
  Look look;
  look.item_bytes = dl_dtype_bytes(view.dtype);
  look.row_bytes = look.item_bytes;
  for (int32_t dim = view.rank - 1; dim >= 1; --dim) {
    if (view.shape[dim] > 1 && view.strides[dim] * look.item_bytes != look.row_bytes) {
      throw Failure{.message = std::string("rows of field ") + view.name + " have gaps"};
    }
    look.row_bytes *= view.shape[dim];
  }
  look.stride = view.strides[0] * look.item_bytes;
  look.data = static_cast<const std::byte*>(view.data) + view.byte_offset;
  return look;
}

// Whether y is x shifted by one item, so that every item of y but the last is one of x.
bool is_shifted(const Look& x, const Look& y, int64_t rows) {
  if (x.item_bytes != y.item_bytes || x.row_bytes != y.row_bytes || x.row_bytes <= x.item_bytes) return false;
  for (int64_t i = 0; i < rows; ++i) {
    const std::byte* later = x.data + i * x.stride + x.item_bytes;
    if (std::memcmp(later, y.data + i * y.stride, static_cast<size_t>(x.row_bytes - x.item_bytes)) != 0)
      return false;
  }
  return true;
}

// How a piece is made from a delivered batch.
struct Recipe {
  int32_t field = 0;      // the field that its rows start with
  int32_t shifted = -1;   // the field of one more item at the end, or -1
  int64_t row_bytes = 0;  // 0: ragged
};

Loader taking_loader(dl_dataset* dataset, const dl_options* like, int64_t batch_size,
                     const Interrupts& interrupts) {
  dl_error error = DL_ERROR_INIT;
  dl_options* raw = nullptr;
  check(dl_options_create(&raw, &error), error);
  const Options options(raw);
  for (const char* key : {"io", "memory_budget", "max_bytes_per_sample", "num_workers"}) {
    const char* value = "";
    check(dl_options_get(like, key, &value, &error), error);
    if (std::string_view(value) == "device") value = "auto";  // the rows are copied to the host
    check(dl_options_set(raw, key, value, &error), error);
  }
  check(dl_options_set_i64(raw, "batch_size", batch_size, &error), error);
  check(dl_options_set_i64(raw, "epochs", 1, &error), error);
  check(dl_options_set_cancel_token(raw, interrupts.token(), &error), error);
  dl_loader* loader = nullptr;
  check(dl_loader_create(dataset, raw, &loader, &error), error);
  return Loader(loader);
}

class Taker {
 public:
  Taker(int64_t count, Region::Pages pages, int64_t limit_bytes, bool merge)
      : count_(count), pages_(pages), limit_bytes_(limit_bytes), merge_(merge) {}

  // Copies the rows of a batch. Returns false when full.
  bool add(const Views& views, int64_t rows) {
    if (recipes_.empty()) plan(views, rows);
    rows = std::min(rows, room_ - rows_.samples);
    if (rows <= 0 || !ragged_fit(views)) return false;
    for (size_t i = 0; i < recipes_.size() && !mismatch_; ++i) {
      if (recipes_[i].row_bytes == 0) {
        add_ragged(rows_.pieces[i], views[recipes_[i].field], rows);
      } else {
        add_dense(recipes_[i], rows_.pieces[i], views, rows);
      }
    }
    rows_.samples += rows;
    return !mismatch_ && rows_.samples < room_;
  }

  bool mismatch() const { return mismatch_; }  // fields that looked the same in the first batch were not
  StoredRows take() { return std::move(rows_); }

 private:
  void plan(const Views& views, int64_t rows);
  bool ragged_fit(const Views& views) const;
  void add_ragged(Piece& piece, const dl_view& view, int64_t samples);
  void add_dense(const Recipe& recipe, Piece& piece, const Views& views, int64_t rows);

  const int64_t count_;
  const Region::Pages pages_;
  const int64_t limit_bytes_;
  const bool merge_;
  std::vector<Recipe> recipes_;  // one per piece
  int64_t room_ = 0;             // samples
  StoredRows rows_;
  bool mismatch_ = false;
};

void Taker::plan(const Views& views, int64_t rows) {
  std::vector<bool> done(static_cast<size_t>(views.size()));
  int64_t dense_bytes = 0;
  for (int32_t i = 0; i < views.size(); ++i) {
    if (done[static_cast<size_t>(i)]) continue;
    Recipe recipe{.field = i};
    Piece piece;
    if (views[i].kind == DL_KIND_DENSE) {
      const Look look = look_at(views[i]);
      recipe.row_bytes = look.row_bytes;
      piece.parts = {{0, look.row_bytes}};
      for (int32_t k = i + 1; k < views.size() && merge_ && recipe.shifted < 0; ++k) {
        if (views[k].kind != DL_KIND_DENSE || !is_shifted(look, look_at(views[k]), rows)) continue;
        recipe.shifted = k;
        recipe.row_bytes += look.item_bytes;
        done[static_cast<size_t>(k)] = true;
        // Overlapping views are one tensor of the slot; else each has its own bytes.
        const bool one = (views[i].flags & views[k].flags & DL_VIEW_OVERLAPPING) != 0;
        if (one) piece.parts = {{0, recipe.row_bytes}};
        if (!one) piece.parts.push_back({look.item_bytes, look.row_bytes});
      }
      dense_bytes += recipe.row_bytes;
    }
    recipes_.push_back(recipe);
    rows_.pieces.push_back(std::move(piece));
  }
  room_ = std::min(count_, limit_bytes_ / std::max<int64_t>(1, dense_bytes));
  room_ = std::min<int64_t>(room_, std::numeric_limits<uint32_t>::max());
  const auto pieces = static_cast<int64_t>(recipes_.size());
  for (size_t i = 0; i < recipes_.size(); ++i) {
    const bool ragged = recipes_[i].row_bytes == 0;
    Piece& piece = rows_.pieces[i];
    piece.memory = Region(ragged ? limit_bytes_ / pieces : room_ * recipes_[i].row_bytes, pages_);
    piece.row_bytes = recipes_[i].row_bytes;
    if (ragged) piece.offsets.push_back(0);
  }
}

bool Taker::ragged_fit(const Views& views) const {
  for (size_t i = 0; i < recipes_.size(); ++i) {
    const Piece& piece = rows_.pieces[i];
    if (recipes_[i].row_bytes != 0) continue;
    if (piece.memory.bytes() - piece.offsets.back() < views[recipes_[i].field].bytes) return false;
  }
  return true;
}

void Taker::add_ragged(Piece& piece, const dl_view& view, int64_t samples) {
  const int64_t base = piece.offsets.back();
  const int64_t rows = view.shape[0];  // of the packed data
  const int64_t row_bytes = rows > 0 ? view.bytes / rows : 0;
  std::memcpy(piece.memory.data() + base, static_cast<const std::byte*>(view.data) + view.byte_offset,
              static_cast<size_t>(view.bytes));
  for (int64_t i = 1; i <= samples; ++i) piece.offsets.push_back(base + view.offsets[i] * row_bytes);
}

void Taker::add_dense(const Recipe& recipe, Piece& piece, const Views& views, int64_t rows) {
  const Look look = look_at(views[recipe.field]);
  std::byte* out = piece.memory.data() + rows_.samples * piece.row_bytes;
  for (int64_t i = 0; i < rows; ++i) {
    std::memcpy(out + i * piece.row_bytes, look.data + i * look.stride, static_cast<size_t>(look.row_bytes));
  }
  if (recipe.shifted < 0) return;
  const Look later = look_at(views[recipe.shifted]);
  mismatch_ = !is_shifted(look, later, rows);
  for (int64_t i = 0; i < rows; ++i) {
    std::memcpy(out + i * piece.row_bytes + look.row_bytes,
                later.data + i * later.stride + later.row_bytes - later.item_bytes,
                static_cast<size_t>(later.item_bytes));
  }
}

int64_t batch_size_of(const dl_dataset* dataset) {
  int64_t sample_bytes = 0;
  for (const dl_view& field : Views(dataset)) {
    if (field.bytes < 0) return kRaggedBatch;
    sample_bytes += field.bytes;
  }
  return std::clamp<int64_t>(kBatchBytes / std::max<int64_t>(1, sample_bytes), 1, kBatchRows);
}

}  // namespace

Region::Region(int64_t bytes, Pages pages) : bytes_(bytes) {
  mapping_bytes_ = static_cast<size_t>(bytes + kHugePageBytes);
  mapping_ = reserve_memory(mapping_bytes_, pages == Pages::kHuge);
  if (mapping_ == nullptr) throw std::bad_alloc();
  const auto address = reinterpret_cast<uintptr_t>(mapping_);
  const auto huge = static_cast<uintptr_t>(kHugePageBytes);
  data_ = static_cast<std::byte*>(mapping_) + ((address + huge - 1) / huge * huge - address);
}

Region::~Region() {
  if (mapping_ != nullptr) release_memory(mapping_, mapping_bytes_);
}

void Region::swap(Region& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

int64_t StoredRows::bytes() const {
  int64_t total = 0;
  for (const Piece& piece : pieces)
    total += piece.row_bytes == 0 ? piece.offsets.back() : piece.row_bytes * samples;
  return total;
}

StoredRows take_rows(dl_dataset* dataset, const dl_options* like, Region::Pages pages, int64_t limit_bytes,
                     const Interrupts& interrupts) {
  const int64_t count = dl_dataset_count(dataset);
  if (count < 0) throw Failure{.message = "the number of samples is unknown"};
  const Loader loader = taking_loader(dataset, like, batch_size_of(dataset), interrupts);
  for (const bool merge : {true, false}) {
    Taker taker(count, pages, limit_bytes, merge);
    dl_error error = DL_ERROR_INIT;
    check(dl_loader_seek(loader.get(), 0, 0, &error), error);
    for (;;) {
      dl_batch* raw = nullptr;
      if (check(dl_loader_next(loader.get(), -1, &raw, &error), error) != DL_OK) break;
      const Batch batch(raw);
      auto info = sized<dl_batch_info>();
      check(dl_batch_get_info(raw, &info, &error), error);
      if (!taker.add(Views(raw), info.samples)) break;
    }
    if (taker.mismatch()) continue;
    StoredRows rows = taker.take();
    if (rows.samples == 0) throw Failure{.message = "no row fits into the free memory"};
    return rows;
  }
  throw Failure{.message = "the set changed while it was read"};
}

}  // namespace dataline::cli
