// SPDX-License-Identifier: Apache-2.0
#include "core/source/damage.h"

#include <cstddef>
#include <memory>
#include <optional>

#include "core/source/forward_source.h"
#include "core/source/identity.h"
#include "core/source/leaf_source.h"

namespace dataline {
namespace {

// Fails all rows of each run.
class DamagedSource final : public ForwardSource {
 public:
  DamagedSource(SourceRef source, Status damage)
      : ForwardSource(std::move(source)), damage_(std::move(damage)) {}

  void locate(Run& run) const override {
    for (int64_t i = 0; i < run.count; ++i) run.fail(i, schema().columns.size(), damage_);
  }
  Result<const std::byte*> locate_items(const Run&, const ItemRange&, std::byte*) const override {
    return damage_;
  }
  std::optional<uint64_t> stamp(int64_t) const override { return std::nullopt; }

 private:
  const Status damage_;
};

class LostSource final : public LeafSource {
 public:
  LostSource(Schema schema, std::string path, int64_t count, Status loss)
      : schema_(std::move(schema)), path_(std::move(path)), count_(count), loss_(std::move(loss)) {}

  int64_t count() const override { return count_; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {"lost", path_, {}}; }
  void locate(Run& run) const override {
    for (int64_t i = 0; i < run.count; ++i) run.fail(i, schema_.columns.size(), loss_);
  }
  Place place_of(int64_t, size_t) const override { return {path_, {}}; }
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add("lost");
  }

 private:
  const Schema schema_;
  const std::string path_;
  const int64_t count_;
  const Status loss_;
};

class NotedSource final : public ForwardSource {
 public:
  NotedSource(SourceRef source, std::vector<std::string> notes)
      : ForwardSource(std::move(source)), notes_(std::move(notes)) {}

  SourceInfo info() const override {
    SourceInfo info = source_->info();
    info.notes.insert(info.notes.begin(), notes_.begin(), notes_.end());
    return info;
  }

 private:
  const std::vector<std::string> notes_;
};

}  // namespace

bool is_damage(const Status& status) {
  if (is_machine_failure(status)) return false;
  switch (status.code()) {
    case Code::kNotFound:
    case Code::kPermission:
    case Code::kNotAFile:
    case Code::kIo:
    case Code::kTruncated:
    case Code::kCorrupt:
    case Code::kUnsafeType:
    case Code::kUnsupported:
    case Code::kTooLarge:
    case Code::kMismatch:
    case Code::kEmpty:
      return true;
    default:
      return false;
  }
}

SourceRef damaged_source(SourceRef source, Status damage) {
  return std::make_shared<DamagedSource>(std::move(source), std::move(damage));
}

SourceRef with_notes(SourceRef source, std::vector<std::string> notes) {
  if (notes.empty()) return source;
  return std::make_shared<NotedSource>(std::move(source), std::move(notes));
}

void Losses::add(std::string_view kind, const Status& cause) {
  notes_.push_back(concat(kind, cause.text()));
  context_.log(LogLevel::kWarning, notes_.back());
}

void Losses::leave_out(Status cause) {
  add(kLeftOut, cause);
  if (first_.is_ok()) first_ = std::move(cause);
}

void Losses::keep_place(size_t opened, std::string path, int64_t samples, Status cause) {
  add(kDamaged, cause);
  if (first_.is_ok()) first_ = cause;
  lost_.push_back({opened + lost_.size(), std::move(path), samples, std::move(cause)});
}

void Losses::fill_places(std::vector<Part>& parts) {
  for (Lost& each : lost_) {  // each place counts those before it that are put in here
    SourceRef source = std::make_shared<LostSource>(parts.front().source->schema(), each.path, each.samples,
                                                    std::move(each.cause));
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(each.place),
                 {"", std::move(source), std::move(each.path)});
  }
  lost_.clear();
}

}  // namespace dataline
