// Megatron-LM's indexed datasets: PREFIX.bin holds tokens, PREFIX.idx says where sequences and documents begin. The samples
// are documents, each made of one or more sequences.
//
// PREFIX.idx, little-endian, numbers unaligned:
//   0   "MMIDIDX\0\0"
//   9   u64 version: 1
//   17  u8 dtype: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 6 f64, 7 f32, 8 u16
//   18  u64 S, sequences
//   26  u64 D, documents and one
//   34  i32 lengths[S], in tokens
//       i64 pointers[S]: the byte of PREFIX.bin at which the sequence begins; sequences follow each other without gaps
//       i64 documents[D]: the sequence with which document i begins; the first is 0, the last is S
//       i8 modes[S], of multimodal sets only
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/documents/documents.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/number_reader.h"
#include "core/source/packing/packing.h"

namespace dataline {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "MMIDIDX\0\0"sv, kOldMagic = "TNTIDX\0\0"sv;
constexpr int64_t kHeaderBytes = 34, kSequencesAt = 18, kDocumentsAt = 26;
constexpr int64_t kSequencesPerLook = 1 << 20;  // sequences between two looks at the cancel token
constexpr std::string_view kIdx = ".idx", kBin = ".bin";

std::optional<DType> dtype_of_code(int code) {
  constexpr std::array kDtypes = {DType::kU8,  DType::kI8,  DType::kI16, DType::kI32,
                                  DType::kI64, DType::kF64, DType::kF32, DType::kU16};
  if (code < 1 || code > static_cast<int>(kDtypes.size())) return std::nullopt;
  return kDtypes[static_cast<size_t>(code - 1)];
}

template <typename... Parts>
Status at(Code code, const MappedFile& file, int64_t offset, const Parts&... parts) {
  return error(code, file.path(), ": offset ", offset, ": ", parts...);
}

struct IndexHeader {
  DType dtype = DType::kU8;
  int64_t sequences = 0, documents = 0;  // documents: as counted in the file, one more than there are
  bool modes = false;

  int64_t lengths_at() const { return kHeaderBytes; }
  int64_t pointers_at() const { return lengths_at() + sequences * 4; }
  int64_t documents_at() const { return pointers_at() + sequences * 8; }
};

Status check_magic(const MappedFile& file, Bytes first) {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text.starts_with(kOldMagic)) {
    return at(Code::kUnsupported, file, 0,
              "an index of the old kind (TNTIDX), which only fairseq and early releases of Megatron write; ",
              "write the set again with --dataset-impl mmap");
  }
  const size_t count = std::min(text.size(), kMagic.size());
  if (text.substr(0, count) != kMagic.substr(0, count)) {
    return at(Code::kCorrupt, file, 0, "expected a Megatron index ('MMIDIDX'), got ",
              describe_first_bytes(first));
  }
  if (file.bytes() >= kHeaderBytes) return Status::ok();
  return at(Code::kTruncated, file, 0, "a Megatron index has a header of ", kHeaderBytes,
            " bytes, the file has ", file.bytes());
}

Result<int64_t> read_count(const MappedFile& file, Bytes header, int64_t offset, std::string_view what,
                           int64_t entry_bytes) {
  const std::optional<int64_t> count = to_i64(load_little<uint64_t>(header.data() + offset));
  if (count && *count <= file.bytes() / entry_bytes) return *count;
  const std::string text = std::to_string(load_little<uint64_t>(header.data() + offset));
  return at(Code::kTruncated, file, offset, "the header states ", text, " ", what, " of ", entry_bytes,
            " bytes, the file has ", file.bytes());
}

// Neither count can make this wrap: read_count() has compared both with the size of the file.
Status check_size(const MappedFile& file, IndexHeader& header) {
  const int64_t expected = header.documents_at() + header.documents * 8;
  if (file.bytes() == expected) return Status::ok();
  header.modes = true;
  if (file.bytes() == expected + header.sequences) return Status::ok();
  return at(file.bytes() < expected ? Code::kTruncated : Code::kCorrupt, file, kSequencesAt,
            "the header states ", header.sequences, " sequences and ", header.documents - 1, " documents, ",
            expected, " bytes, the file has ", file.bytes());
}

Result<IndexHeader> read_header(const MappedFile& file) {
  std::array<std::byte, kHeaderBytes> bytes{};
  const int64_t count = std::min(kHeaderBytes, file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, count, bytes.data()));
  DL_RETURN_IF_ERROR(check_magic(file, Bytes(bytes).first(static_cast<size_t>(count))));
  const auto version = load_little<uint64_t>(bytes.data() + kMagic.size());
  if (version != 1)
    return at(Code::kUnsupported, file, 9, "version ", version, " of a Megatron index, expected 1");
  const int code = byte_at(bytes, 17);
  const std::optional<DType> dtype = dtype_of_code(code);
  if (!dtype) return at(Code::kCorrupt, file, 17, "dtype code ", code, ", expected 1 to 8");
  if (!dtype_is_integer(*dtype)) {
    return at(Code::kUnsupported, file, 17, "dtype code ", code, " is ", dtype_name(*dtype),
              "; tokens are integers");
  }
  IndexHeader header{.dtype = *dtype};
  DL_ASSIGN_OR_RETURN(header.sequences, read_count(file, bytes, kSequencesAt, "sequences", 12));
  DL_ASSIGN_OR_RETURN(header.documents, read_count(file, bytes, kDocumentsAt, "document entries", 8));
  if (header.documents == 0) {
    return at(Code::kCorrupt, file, kDocumentsAt,
              "0 document entries, expected at least the first, which is 0");
  }
  DL_RETURN_IF_ERROR(check_size(file, header));
  return header;
}

// Walks the three arrays side by side.
class IndexReader {
 public:
  IndexReader(const MappedFile& file, const IndexHeader& header, int64_t data_bytes)
      : file_(file),
        header_(header),
        token_bytes_(dtype_bytes(header.dtype)),
        data_bytes_(data_bytes),
        lengths_(file, header.lengths_at(), header.sequences),
        pointers_(file, header.pointers_at(), header.sequences),
        documents_(file, header.documents_at(), header.documents) {}

  Result<SortedTable> read(const OpenContext& context) {
    SortedTable ends(context.memory);
    ends.reserve(header_.documents - 1);
    DL_RETURN_IF_ERROR(next_document(0, 0));
    for (int64_t d = 1; d < header_.documents; ++d) {
      DL_RETURN_IF_ERROR(next_document(d, header_.sequences));
      DL_RETURN_IF_ERROR(read_sequences_to(begin_, context));
      ends.add(tokens_);
    }
    if (begin_ != header_.sequences) {
      return at(Code::kCorrupt, file_, document_at(header_.documents - 1), "documents[",
                header_.documents - 1, "] is ", begin_, ", expected ", header_.sequences,
                ": the documents must hold all sequences");
    }
    return ends;
  }
  int64_t tokens() const { return tokens_; }

 private:
  int64_t document_at(int64_t d) const { return header_.documents_at() + d * 8; }

  Status next_document(int64_t d, int64_t most) {
    DL_ASSIGN_OR_RETURN(const uint64_t word, documents_.next());
    const auto sequence = static_cast<int64_t>(word);
    if (sequence < begin_ || sequence > most) {
      return at(Code::kCorrupt, file_, document_at(d), "documents[", d, "] is ", sequence, ", expected ",
                begin_, " to ", most);
    }
    begin_ = sequence;
    return Status::ok();
  }

  Status read_sequences_to(int64_t end, const OpenContext& context) {
    for (; sequence_ < end; ++sequence_) {
      if (sequence_ % kSequencesPerLook == 0) {
        if (context.cancelled())
          return error(Code::kCancelled, file_.path(), ": cancelled after ", sequence_, " sequences");
        context.report("reading ", file_.path());
      }
      DL_ASSIGN_OR_RETURN(const uint32_t length_word, lengths_.next());
      DL_ASSIGN_OR_RETURN(const uint64_t pointer_word, pointers_.next());
      const auto length = static_cast<int32_t>(length_word);
      const auto pointer = static_cast<int64_t>(pointer_word);
      if (length < 0) {
        return at(Code::kCorrupt, file_, header_.lengths_at() + sequence_ * 4, "lengths[", sequence_, "] is ",
                  length);
      }
      // At most 2^31 sequences of a file's size in bytes / 12, each below 2^31 tokens of 8 bytes: checked against the data.
      if (pointer != tokens_ * token_bytes_) {
        return at(Code::kCorrupt, file_, header_.pointers_at() + sequence_ * 8, "pointers[", sequence_,
                  "] is ", pointer, ", expected ", tokens_ * token_bytes_,
                  ", the end of the sequence before it");
      }
      if (length > (data_bytes_ - pointer) / token_bytes_) {
        return at(Code::kTruncated, file_, header_.lengths_at() + sequence_ * 4, "lengths[", sequence_,
                  "] is ", length, " at byte ", pointer, " of the data, which has ", data_bytes_, " bytes");
      }
      tokens_ += length;
    }
    return Status::ok();
  }

  const MappedFile& file_;
  const IndexHeader& header_;
  const int64_t token_bytes_, data_bytes_;
  NumberReader<uint32_t> lengths_;
  NumberReader<uint64_t> pointers_, documents_;
  int64_t begin_ = 0;     // the sequence with which the last document read begins
  int64_t sequence_ = 0;  // the next to be read
  int64_t tokens_ = 0;    // of the sequences read
};

std::string prefix_of(const std::string& path) {
  for (const std::string_view suffix : {kIdx, kBin}) {
    if (has_suffix(path, suffix)) return std::string(without_suffix(path, suffix));
  }
  return path;
}

// PREFIX.idx or PREFIX.bin: the path itself if it has the suffix, else what is there, also in capitals.
std::string with_suffix(const std::string& path, std::string_view suffix) {
  if (has_suffix(path, suffix)) return path;
  std::string plain = concat(prefix_of(path), suffix);
  if (path_exists(plain)) return plain;
  const std::string capitals = concat(prefix_of(path), suffix == kIdx ? ".IDX" : ".BIN");
  return path_exists(capitals) ? capitals : plain;
}

// One dataset, of PREFIX, PREFIX.idx or PREFIX.bin. kTruncated, kCorrupt, kUnsupported, kCancelled; std::bad_alloc.
Result<SourceRef> open_megatron(const std::string& path, const OpenContext& context) {
  OpenContext on_demand = context;  // the index is read once, from its start to its end
  on_demand.io = IoMode::kPread;
  DL_ASSIGN_OR_RETURN(const MappedFile index, MappedFile::open(with_suffix(path, kIdx), on_demand));
  DL_ASSIGN_OR_RETURN(const IndexHeader header, read_header(index));
  DL_ASSIGN_OR_RETURN(MappedFile data, MappedFile::open_unloaded(with_suffix(path, kBin), context));
  IndexReader reader(index, header, data.bytes());
  DL_ASSIGN_OR_RETURN(SortedTable ends, reader.read(context));
  const int64_t expected = reader.tokens() * dtype_bytes(header.dtype);
  if (data.bytes() != expected) {
    return error(Code::kCorrupt, index.path(), ": its ", header.sequences, " sequences end at byte ",
                 expected, " of ", data.path(), ", which has ", data.bytes(), " bytes");
  }
  DL_RETURN_IF_ERROR(data.load(context));
  SourceInfo info{"megatron", path, {}};
  if (header.modes)
    info.notes.push_back(concat(index.path(), ": the modes of its sequences are not delivered"));
  const TokenSpan tokens{header.dtype, std::endian::native == std::endian::big, 0, reader.tokens(), {}};
  return DocumentFile::create(std::move(data), tokens, std::move(ends), std::move(info));
}

bool starts_index(std::string_view text) { return text.starts_with(kMagic) || text.starts_with(kOldMagic); }

// By the magic of an index; of data by the index beside it, or else the .bin would be taken for bare tokens.
Sniff sniff_megatron(const FirstBytes& file) {
  if (starts_index(file.text())) return Sniff::kCertain;
  if (!has_suffix(file.path, kBin)) return Sniff::kNo;
  const std::string beside = with_suffix(file.path, kIdx);
  if (!path_exists(beside)) return Sniff::kNo;
  OpenContext context;
  context.memory = HostMemory::create({});
  const Result<FirstBytes> index = read_first_bytes(beside, context);
  return index.is_ok() && starts_index(index.value().text()) ? Sniff::kCertain : Sniff::kNo;
}

}  // namespace

constinit const Format kMegatronFormat{
    .name = "megatron",
    .doc = "documents of Megatron-LM indexed datasets: PREFIX.idx and PREFIX.bin. Field: tokens",
    .keys = kPackingKeys,
    .configure = [](const Uri& uri) -> Result<OpenOne> {
      DL_RETURN_IF_ERROR(check_packing_words(uri));
      return OpenOne(open_megatron);
    },
    .prefix = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kIdx); },
    .members = "*.idx",
    .is_companion =
        [](const std::string& directory, std::string_view name) {
          return has_suffix(name, kBin) && path_exists(with_suffix(join_path(directory, name), kIdx));
        },
    .sniff = sniff_megatron,
};

}  // namespace dataline
