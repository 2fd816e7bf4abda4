// .npz archives as datasets: each member NAME.npy is a field NAME (core/source/arrays/arrays.h).
//
// Read: what npy: reads, stored or deflated. Stored members are mapped in place; their CRC-32 is compared with checksums=files alone,
// as that reads them. Deflated ones are inflated into memory when the file is opened, and checked.
// Refused by name: encrypted members, other methods, objects (kUnsafeType), text, dates, structured types.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/arrays/arrays.h"
#include "core/source/crc32.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/gzip.h"
#include "core/source/npy/npy_header.h"
#include "core/source/npz/zip_directory.h"

namespace dataline {
namespace {

constexpr std::string_view kArraySuffix = ".npy";
constexpr uint32_t kStored = 0, kDeflated = 8;
constexpr int64_t kPieceOfMember = 8 << 20;  // read between two looks at the cancel token
constexpr int64_t kPageBlockBytes =
    2 << 20;  // smaller blocks would waste pages of their own (MemoryKind::kData)

struct NpzOptions {
  ArrayOptions arrays;
  bool bf16 = false;
};

// The members that are arrays, and the names of those that are not.
struct NpzMembers {
  std::vector<const ZipMember*> arrays;
  std::vector<std::string_view> names;  // of their fields
  std::vector<std::string> notes;
};

Result<NpzMembers> array_members(const MappedFile& file, const ZipDirectory& directory) {
  NpzMembers out;
  LeftOut left_out;
  for (const ZipMember& member : directory.members) {
    std::string_view name = member.name;
    if (is_hidden_path(name) && name != kArraySuffix) {
      left_out.add(LeftOut::Kind::kHidden, name);
      continue;
    }
    if (!has_suffix(name, kArraySuffix)) {
      left_out.add(LeftOut::Kind::kOther, name);
      continue;
    }
    name.remove_suffix(kArraySuffix.size());
    if (!is_array_name(name)) {
      return error(Code::kUnsupported, zip_member_text(file, member), ": the name is ",
                   name.empty() ? "empty" : "not plain UTF-8", ", so it cannot name a field");
    }
    out.arrays.push_back(&member);
    out.names.push_back(name);
  }
  if (left_out.count() > 0) out.notes.push_back(concat(file.path(), ": left out: ", left_out.text()));
  std::vector<std::string_view> sorted = out.names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return out;
  return error(Code::kCorrupt, file.path(), ": two members of the archive are called '", *twice, ".npy'");
}

Status check_method(const MappedFile& file, const ZipMember& member) {
  constexpr uint32_t kEncrypted = 1 | 1 << 6 | 1 << 13;  // flags
  if ((member.flags & kEncrypted) != 0)
    return error(Code::kUnsupported, zip_member_text(file, member), ": is encrypted, which is not supported");
  if (member.method != kStored && member.method != kDeflated) {
    return error(Code::kUnsupported, zip_member_text(file, member), ": is compressed by method ",
                 member.method, "; stored (0) and deflated (8) members are supported");
  }
  if (member.method == kStored && member.stored_bytes != member.bytes) {
    return error(Code::kCorrupt, zip_member_text(file, member), ": is stored in ", member.stored_bytes,
                 " bytes, but its size is stated as ", member.bytes);
  }
  const int64_t most = max_inflated_bytes(member.stored_bytes);
  if (member.method == kStored || member.bytes <= most) return Status::ok();
  return error(Code::kCorrupt, zip_member_text(file, member), ": states ", member.bytes, " bytes, ",
               member.stored_bytes, " deflated bytes can hold at most ", most);
}

Result<Block> allocate_for(const std::string& what, int64_t bytes, const OpenContext& context) {
  const MemoryKind kind = bytes < kPageBlockBytes ? MemoryKind::kMetadata : MemoryKind::kData;
  return context.memory->allocate(bytes, 64, kind, what.c_str());
}

Result<WatchedFileRef> inflate_member(const MappedFile& file, const ZipMember& member, int64_t data_offset,
                                      const OpenContext& context) {
  const std::string at = zip_member_text(file, member);
  // A copy, because a file that is truncated while the decoder reads its mapping would raise SIGBUS.
  DL_ASSIGN_OR_RETURN(const Block packed, allocate_for(at, member.stored_bytes, context));
  for (int64_t done = 0; done < member.stored_bytes; done += kPieceOfMember) {
    if (context.cancelled())
      return error(Code::kCancelled, at, ": cancelled after ", done, " of ", member.stored_bytes, " bytes");
    context.report("decompressing ", file.path());
    DL_RETURN_IF_ERROR(file.read(data_offset + done, std::min(kPieceOfMember, member.stored_bytes - done),
                                 packed.data() + done));
  }
  DL_ASSIGN_OR_RETURN(Block plain, allocate_for(at, member.bytes, context));
  DL_RETURN_IF_ERROR(inflate_stream(at, Bytes(packed.data(), static_cast<size_t>(member.stored_bytes)),
                                    {plain.data(), static_cast<size_t>(member.bytes)}, member.crc32));
  context.progress->add_bytes(member.bytes);
  DL_ASSIGN_OR_RETURN(MappedFile inflated,
                      MappedFile::from_block(file.origin(), std::move(plain), member.bytes));
  return WatchedFileRef(std::make_shared<const WatchedFile>(std::move(inflated)));
}

// That header and data are all of the member.
Status check_member_bytes(const NpyExtent& extent, const NpyHeader& header) {
  const std::optional<int64_t> items = checked_product(header.shape);
  const std::optional<int64_t> bytes =
      items ? checked_multiply(*items, dtype_bytes(header.dtype)) : std::nullopt;
  const std::string array = concat("npy array ", shape_text(header.shape), " ", dtype_name(header.dtype));
  const std::string at = concat(extent.name, ": offset ", header.data_offset, ": ", array);
  if (!bytes) return error(Code::kCorrupt, at, " has more than 2^63 bytes");
  const int64_t present = extent.end - header.data_offset;
  if (*bytes == present) return Status::ok();
  return error(*bytes > present ? Code::kTruncated : Code::kCorrupt, at, " needs ", *bytes,
               " bytes, the member has ", present);
}

Result<NamedArray> read_member(const MappedFile& file, const ZipMember& member, std::string_view name,
                               const NpzOptions& options, const OpenContext& context) {
  DL_RETURN_IF_ERROR(check_method(file, member));
  DL_ASSIGN_OR_RETURN(const int64_t data_offset, find_zip_data(file, member));
  NamedArray array;
  array.name = name;
  std::string text = concat(file.path(), ": array ", printable(name));
  if (member.method == kDeflated) {
    DL_ASSIGN_OR_RETURN(array.own_file, inflate_member(file, member, data_offset, context));
    text += ", inflated";
  }
  const NpyExtent extent =
      array.own_file != nullptr
          ? NpyExtent{array.own_file->file(), 0, member.bytes, std::move(text), "member"}
          : NpyExtent{file, data_offset, data_offset + member.bytes, std::move(text), "member"};
  const NpyRules rules{options.bf16 ? NpyRules::Void2::kBf16 : NpyRules::Void2::kRefuse, true};
  DL_ASSIGN_OR_RETURN(NpyHeader header, read_npy_header(extent, rules));
  DL_RETURN_IF_ERROR(check_member_bytes(extent, header));
  array.dtype = header.dtype;
  array.offset = header.data_offset;
  array.swapped = header.swapped;
  array.fortran = !orders_agree(header);
  array.shape = std::move(header.shape);
  DL_RETURN_IF_ERROR(check_array(file.path(), array, options.arrays));
  return array;
}

void add_notes(const std::vector<NamedArray>& arrays, std::vector<std::string>& notes) {
  int64_t inflated = 0, bytes = 0;
  for (const NamedArray& array : arrays) {
    if (array.swapped)
      notes.push_back(concat("array ", printable(array.name), ": bytes are swapped when read"));
    if (array.fortran) {
      notes.push_back(concat("array ", printable(array.name),
                             ": Fortran order: gathered element by element, slower than C order"));
    }
    if (array.own_file == nullptr) continue;
    ++inflated;
    bytes += array.own_file->file().bytes();
  }
  if (inflated > 0) {
    notes.push_back(concat(inflated, " of ", arrays.size(), " arrays are compressed: decompressed into ",
                           bytes, " bytes of memory"));
  }
}

Result<SourceRef> open_npz(const NpzOptions& options, const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  DL_ASSIGN_OR_RETURN(const ZipDirectory directory, read_zip_directory(file, context));
  DL_ASSIGN_OR_RETURN(NpzMembers members, array_members(file, directory));
  DL_ASSIGN_OR_RETURN(const std::vector<size_t> chosen, choose_arrays(path, members.names, options.arrays));
  for (const size_t which : chosen) {
    const ZipMember& member = *members.arrays[which];
    if (member.method == kDeflated) context.progress->expect_bytes(member.bytes);
  }
  std::vector<NamedArray> arrays;
  for (const size_t which : chosen) {
    Result<NamedArray> array =
        read_member(file, *members.arrays[which], members.names[which], options, context);
    if (!array.is_ok())
      return with_cure(array.take_status(), members.names[which], members.names, options.arrays);
    arrays.push_back(array.take());
  }
  add_notes(arrays, members.notes);
  return open_arrays({"npz", std::move(file), std::move(arrays), std::move(members.notes)}, options.arrays,
                     context);
}

Status check_stored_sum(const MappedFile& file, const ZipMember& member, const OpenContext& context) {
  DL_RETURN_IF_ERROR(check_method(file, member));
  DL_ASSIGN_OR_RETURN(const int64_t begin, find_zip_data(file, member));
  std::vector<std::byte> piece(static_cast<size_t>(std::min(kPieceOfMember, member.bytes)));
  uint32_t crc = 0;
  for (int64_t done = 0; done < member.bytes;) {
    if (context.cancelled())
      return error(Code::kCancelled, zip_member_text(file, member), ": cancelled after ", done, " of ",
                   member.bytes, " bytes");
    context.report("comparing checksums of ", file.path());
    const int64_t bytes = std::min(kPieceOfMember, member.bytes - done);
    DL_RETURN_IF_ERROR(file.read(begin + done, bytes, piece.data()));
    crc = extend_crc32(crc, Bytes(piece).first(static_cast<size_t>(bytes)));
    done += bytes;
    context.progress->add_bytes(bytes);
  }
  if (crc == member.crc32) return Status::ok();
  return error(Code::kCorrupt, zip_member_text(file, member), ": CRC-32: expected ", member.crc32, ", got ",
               crc, ": restore the file from a copy");
}

// Of stored members, also of those that are no arrays; deflated ones are checked where they are inflated.
Status check_npz_sums(const std::string& path, const OpenContext& given) {
  OpenContext context = given;
  context.io = IoMode::kPread;
  DL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open_unloaded(path, context));
  DL_ASSIGN_OR_RETURN(const ZipDirectory directory, read_zip_directory(file, context));
  for (const ZipMember& member : directory.members) {
    if (member.method != kStored) continue;
    context.progress->expect_bytes(member.bytes);
    DL_RETURN_IF_ERROR(check_stored_sum(file, member, context));
  }
  return Status::ok();
}

constexpr KeySpec kNpzKeys[] = {
    kRowsKey,
    kArrayFieldsKey,
    {"dtype", "bf16", "", "reads arrays of 2-byte void as bf16; default: the file's own dtypes"},
    kAxesKey};
constexpr std::string_view kNpzSuffixes[] = {".npz"};

Result<OpenOne> configure_npz(const Uri& uri) {
  NpzOptions options;
  DL_ASSIGN_OR_RETURN(options.arrays, array_options(uri));
  DL_ASSIGN_OR_RETURN(const std::optional<DType> dtype, uri_dtype(uri, "dtype"));
  if (dtype && *dtype != DType::kBf16) {
    return uri_error(
        uri.find("dtype")->value_column,
        "npz files state their dtypes; only dtype=bf16 is accepted, to read 2-byte void as bf16");
  }
  options.bf16 = dtype.has_value();
  return OpenOne(std::bind_front(open_npz, std::move(options)));
}

// A zip archive is one of arrays if its first member is, or if its name says so.
Sniff sniff_npz(const FirstBytes& file) {
  const std::string_view text = file.text();
  const bool archive = text.starts_with("PK\x03\x04");
  constexpr size_t kNameLengthAt = 26, kNameAt = 30;
  if (archive && text.size() > kNameAt) {
    const size_t name_bytes = load_little<uint16_t>(file.bytes().data() + kNameLengthAt);
    if (text.substr(kNameAt).size() >= name_bytes &&
        has_suffix(text.substr(kNameAt, name_bytes), kArraySuffix))
      return Sniff::kCertain;
  }
  return (archive || text.starts_with("PK\x05\x06")) && has_suffix(file.path, kNpzSuffixes) ? Sniff::kLikely
                                                                                            : Sniff::kNo;
}

}  // namespace

constinit const Format kNpzFormat{
    .name = "npz",
    .doc =
        "NumPy archives, one sample per index of the arrays' first axes, or one per file. Fields: one per "
        "array",
    .keys = kNpzKeys,
    .configure = configure_npz,
    .ranges = true,
    .check_sums = check_npz_sums,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kNpzSuffixes); },
    .members = "*.npz",
    .sniff = sniff_npz,
    .suffixes = kNpzSuffixes,
};

}  // namespace dataline
