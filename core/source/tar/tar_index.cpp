// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar/tar.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/names.h"
#include "core/source/tar/tar_members.h"

namespace dataline {
namespace {

constexpr std::string_view kImageExtensions[] = {"jpg", "jpeg", "png", "webp"};
constexpr std::string_view kOwnNames[] = {"image", "label", "key"};
constexpr int64_t kMembersPerCheck = 1024;  // of the cancel token, and reports of progress
constexpr size_t kMaxExtensionBytes = 255;

bool is_image(std::string_view extension, const TarOptions& options) {
  if (!options.image.empty()) return extension == options.image;
  return std::find(std::begin(kImageExtensions), std::end(kImageExtensions), extension) !=
         std::end(kImageExtensions);
}

std::string_view field_of(std::string_view extension, const TarOptions& options) {
  if (is_image(extension, options)) return "image";
  return extension == "cls" ? "label" : extension;
}

// The order of fields in the schema: image and label first, as in other formats; the rest by name, so that shards agree.
int field_rank(std::string_view name) { return name == "image" ? 0 : name == "label" ? 1 : 2; }

}  // namespace

TarExtent TarExtent::of(int64_t offset, int64_t bytes) {
  const auto at = static_cast<uint64_t>(offset), size = static_cast<uint64_t>(bytes);
  return {static_cast<uint32_t>(at), static_cast<uint32_t>(size), static_cast<uint16_t>(at >> 32),
          static_cast<uint16_t>(size >> 32)};
}

TarName split_tar_name(std::string_view name) {
  const std::string_view top = name.substr(0, name.find('/'));
  if (top.size() >= 4 && top.starts_with("__") && top.ends_with("__")) return {};
  if (is_hidden_path(name)) return {};
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base || dot + 1 == name.size()) return {};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

class TarIndexBuilder {
 public:
  TarIndexBuilder(const MappedFile& file, const TarOptions& options, const OpenContext& context)
      : file_(file),
        options_(options),
        context_(context),
        index_(context.memory),
        seen_(index_.memory_.get()),
        firsts_(index_.memory_.get()) {}

  Result<TarIndex> read() {
    context_.progress->expect_bytes(file_.bytes());
    TarMembers members(file_, options_.end, options_.skip_damage);
    for (TarMember member;;) {
      if (members_++ % kMembersPerCheck == 0 || options_.skip_damage)
        DL_RETURN_IF_ERROR(check_in(members.offset()));
      DL_ASSIGN_OR_RETURN(bool found, members.next(member));
      if (!found) break;
      if (!member.directory) DL_RETURN_IF_ERROR(add(member));
    }
    count_progress(file_.bytes());
    if (members.cut()) {
      index_.notes_.push_back(concat(kDamaged, file_.path(), ": cut: ", file_.bytes() - members.offset(),
                                     " bytes from offset ", members.offset(), " on are left out"));
    }
    note_losses(members.losses());
    if (index_.key_ends_.empty()) {
      // An archive of other members is not one without samples.
      const Code code = nameless_ > 0 ? Code::kUnsupported : without_records(index_.notes_);
      return error(code, file_.path(), ": no samples: no member has a name of the form KEY.EXTENSION",
                   hidden_.count() == 0 ? "" : "; it has ", hidden_.text());
    }
    DL_ASSIGN_OR_RETURN(std::vector<size_t> chosen, choose_fields());
    fill_extents(chosen);
    write_notes();
    return std::move(index_);
  }

 private:
  struct Seen {
    TarExtent extent;
    uint32_t field;
  };
  struct SeenField {
    TarIndex::FieldOf field;
    int64_t samples = 0;
    int64_t last_sample = -1;
    std::string first_member;
  };

  void note_losses(const std::vector<TarLoss>& losses) {
    for (const TarLoss& loss : losses) {
      index_.notes_.push_back(concat(kDamaged, file_.path(), ": ", loss.bytes, " bytes from offset ",
                                     loss.offset, " on are left out: ", loss.cause.text()));
    }
  }

  // Between members: counts what was searched, and looks whether to go on.
  Status check_in(int64_t offset) {
    if (context_.cancelled())
      return error(Code::kCancelled, file_.path(), ": cancelled after ", members_ - 1, " members");
    count_progress(offset);
    context_.report("indexing ", file_.path());
    return Status::ok();
  }

  void count_progress(int64_t offset) {
    context_.progress->add_entries(members_ - 1 - std::exchange(counted_members_, members_ - 1));
    context_.progress->add_bytes(offset - std::exchange(counted_bytes_, offset));
  }

  Status add(const TarMember& member) {
    const TarName name = split_tar_name(member.name);
    if (name.key.empty()) {
      if (is_hidden_path(member.name)) {
        hidden_.add(LeftOut::Kind::kHidden, member.name);
      } else if (!member.name.starts_with("__") && nameless_++ == 0) {
        first_nameless_ = printable(member.name);
      }
      return Status::ok();
    }
    if (firsts_.empty() || name.key != index_.key(index_.count() - 1)) begin_sample(name.key);
    DL_ASSIGN_OR_RETURN(size_t f, field_index(name.extension, member));
    SeenField& field = fields_[f];
    const int64_t sample = index_.count() - 1;
    if (field.last_sample == sample) {
      Status refused = twice(field, name, member);
      if (!options_.skip_damage) return refused;
      index_.notes_.push_back(concat(kDamaged, refused.text(), ": it is left out"));
      return Status::ok();
    }
    field.last_sample = sample;
    ++field.samples;
    field.field.max_bytes = std::max(field.field.max_bytes, member.bytes);
    if (member.data_offset >= TarExtent::kEnd || member.bytes >= TarExtent::kEnd) {
      return refuse(Code::kTooLarge, member, "is beyond 2^48 bytes");
    }
    seen_.push_back({TarExtent::of(member.data_offset, member.bytes), static_cast<uint32_t>(f)});
    last_field_ = f;
    return Status::ok();
  }

  void begin_sample(std::string_view key) {
    firsts_.push_back(seen_.size());
    index_.keys_.insert(index_.keys_.end(), key.begin(), key.end());
    index_.key_ends_.push_back(index_.keys_.size());
    index_.longest_key_ = std::max(index_.longest_key_, static_cast<int64_t>(key.size()));
  }

  // The field of an extension. Samples repeat their extensions in the same order, so the search starts after the last one.
  Result<size_t> field_index(std::string_view extension, const TarMember& member) {
    lower_.assign(extension);
    for (char& c : lower_) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::string_view wanted = field_of(lower_, options_);
    for (size_t i = 1; i <= fields_.size(); ++i) {
      const size_t f = (last_field_ + i) % fields_.size();
      if (fields_[f].field.name == wanted) return f;
    }
    DL_RETURN_IF_ERROR(check_extension(wanted, member));
    SeenField& field = fields_.emplace_back();
    field.field.name = wanted;
    field.field.extension = extension;
    field.first_member = printable(member.name);
    return fields_.size() - 1;
  }

  Status check_extension(std::string_view wanted, const TarMember& member) const {
    const bool text = std::all_of(wanted.begin(), wanted.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!text || wanted.size() > kMaxExtensionBytes) {
      return refuse(Code::kUnsupported, member,
                    "has an extension that cannot name a field (printable ASCII, at most ",
                    kMaxExtensionBytes, " bytes)");
    }
    const bool own = std::find(std::begin(kOwnNames), std::end(kOwnNames), lower_) != std::end(kOwnNames);
    if (own && !(lower_ == options_.image)) {
      return refuse(Code::kUnsupported, member, "has the extension '", lower_,
                    "', which is reserved for a built-in field (image, label, key)");
    }
    if (fields_.size() < kMaxTarFields) return Status::ok();
    return refuse(Code::kTooLarge, member, "has the extension ", printable(lower_), ", one of more than ",
                  kMaxTarFields, " different ones; a sample's key ends at the first dot of the file's name");
  }

  Status twice(const SeenField& field, const TarName& name, const TarMember& member) const {
    std::string advice;
    if (field.field.name == "image") advice = concat("; choose the image: tar:...?image=", lower_);
    return refuse(Code::kCorrupt, member, "is a second member for the field '", field.field.name,
                  "' of the sample ", printable(name.key), advice);
  }

  // Returns indices into fields_, in the order of the schema.
  Result<std::vector<size_t>> choose_fields() const {
    std::vector<size_t> chosen;
    for (const std::string& wanted : options_.fields) {
      if (wanted == "key") continue;  // every sample has one
      auto found = std::find_if(fields_.begin(), fields_.end(),
                                [&](const SeenField& f) { return f.field.name == wanted; });
      if (found == fields_.end()) return no_such_field(wanted);
      chosen.push_back(static_cast<size_t>(found - fields_.begin()));
    }
    if (!options_.fields.empty()) return chosen;
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (fields_[f].samples * 2 > index_.count()) chosen.push_back(f);
    }
    if (chosen.empty()) return no_common_field();
    std::sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) {
      const std::string &x = fields_[a].field.name, &y = fields_[b].field.name;
      return std::pair(field_rank(x), std::string_view(x)) < std::pair(field_rank(y), std::string_view(y));
    });
    return chosen;
  }

  Status no_common_field() const {
    if (const std::optional<std::string_view> key = parted_key()) {
      return error(Code::kMismatch, file_.path(), ": the members of the sample ", printable(*key),
                   " are not adjacent: a sample is a run of members with one key; store the members of a "
                   "sample together (tar --sort=name)");
    }
    const std::string& first = fields_.front().field.name;
    return error(Code::kMismatch, file_.path(), ": none of its fields is in more than half of its ",
                 index_.count(), " samples; tar:...?fields=", first,
                 " reads one of them, and samples without it are bad samples (on_error)");
  }

  // A key of two samples: other members lie between its members. For messages only: it sorts all keys.
  std::optional<std::string_view> parted_key() const {
    std::vector<std::string_view> keys;
    for (int64_t i = 0; i < index_.count(); ++i) keys.push_back(index_.key(i));
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    return twice == keys.end() ? std::nullopt : std::optional(*twice);
  }

  Status no_such_field(const std::string& wanted) const {
    std::vector<std::string_view> names;
    std::string list;
    for (const SeenField& field : fields_) {
      names.push_back(field.field.name);
      list += concat(field.field.name, ", ");
    }
    return error(Code::kNoSuchField, file_.path(), ": no sample has the field '", wanted, "'",
                 did_you_mean(wanted, names), " (fields: ", list, "key)");
  }

  void fill_extents(const std::vector<size_t>& chosen) {
    std::vector<size_t> position(fields_.size(), chosen.size());
    for (size_t i = 0; i < chosen.size(); ++i) {
      position[chosen[i]] = i;
      index_.fields_.push_back(fields_[chosen[i]].field);
    }
    index_.extents_.assign(firsts_.size() * chosen.size(), TarExtent{});
    for (size_t sample = 0; sample < firsts_.size(); ++sample) {
      const size_t end = sample + 1 < firsts_.size() ? firsts_[sample + 1] : seen_.size();
      for (size_t m = firsts_[sample]; m < end; ++m) {
        const size_t at = position[seen_[m].field];
        if (at < chosen.size()) index_.extents_[sample * chosen.size() + at] = seen_[m].extent;
      }
    }
  }

  void write_notes() {
    if (hidden_.count() > 0) index_.notes_.push_back(concat(file_.path(), ": left out: ", hidden_.text()));
    if (nameless_ > 0) {
      index_.notes_.push_back(concat(file_.path(), ": ", nameless_,
                                     " members without an extension are skipped, the first ",
                                     first_nameless_));
    }
    if (!options_.fields.empty()) return;
    for (const SeenField& field : fields_) {
      const bool kept = std::any_of(index_.fields_.begin(), index_.fields_.end(),
                                    [&](const TarIndex::FieldOf& f) { return f.name == field.field.name; });
      if (kept) continue;
      index_.notes_.push_back(concat(file_.path(), ": only ", field.samples, " of ", index_.count(),
                                     " samples have a field '", field.field.name,
                                     "', it is skipped, the first ", field.first_member));
    }
  }

  template <typename... Parts>
  Status refuse(Code code, const TarMember& member, const Parts&... parts) const {
    return error(code, file_.path(), ": offset ", member.header_offset, ": member ", printable(member.name),
                 " ", parts...);
  }

  const MappedFile& file_;
  const TarOptions& options_;
  const OpenContext& context_;
  TarIndex index_;
  std::pmr::vector<Seen> seen_;        // members, in the order of the archive
  std::pmr::vector<uint64_t> firsts_;  // [samples], into seen_
  std::vector<SeenField> fields_;
  size_t last_field_ = 0;
  std::string lower_;
  int64_t nameless_ = 0;  // members without an extension, skipped
  std::string first_nameless_;
  LeftOut hidden_;
  int64_t members_ = 0;
  int64_t counted_members_ = 0, counted_bytes_ = 0;  // in context_.progress
};

Result<TarIndex> TarIndex::read(const MappedFile& file, const TarOptions& options,
                                const OpenContext& context) {
  return TarIndexBuilder(file, options, context).read();
}

}  // namespace dataline
