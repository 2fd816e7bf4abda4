// SPDX-License-Identifier: Apache-2.0
#if DATALINE_HAS_JPEG_HUFFMAN

#include "core/transform/decode/jpeg_huffman.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace dataline {
namespace {

// The two members through which libjpeg calls a decoder; all releases of libjpeg-turbo have them here.
static_assert(offsetof(jpeg_entropy_decoder, start_pass) == 0);
static_assert(offsetof(jpeg_entropy_decoder, decode_mcu) == sizeof(void*));

// A table entry, from bit 0: bits of code and value together (5 bits), from bit 8: bits of the value (4), from bit 16: bits of
// the code (5), from bit 24: zero coefficients before the value (4). An entry without a value ends the block, unless it has one
// of these flags.
constexpr uint32_t kSixteenZeros = 1u << 28, kNoCode = 1u << 29;

// A code and its value have at most 16 + 11 bits, so a refill (at least 56 bits) is enough for two of them.
constexpr int kMaxValueBits = 11;
constexpr int32_t kOverrun = 1 << 20;  // as padding: more than any count, so the block fails

uint32_t make_entry(int symbol, int length, bool dc) {
  const int size = dc ? symbol : symbol & 15, run = dc ? 0 : symbol >> 4;
  uint32_t entry = static_cast<uint32_t>((length + size) | size << 8 | length << 16);
  if (size != 0) return entry | static_cast<uint32_t>(run) << 24;
  if (!dc && run == 15) entry |= 15u << 24 | kSixteenZeros;
  return entry;
}

// Row-major index of the k-th coefficient in zigzag order. 15 more entries, because k is checked after a run of zeros was added.
constexpr uint8_t kZigzag[64 + 15] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                      12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                      35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                      58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
                                      63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

// One byte at a time. 0xFF 0x00 is a data byte of 0xFF; 0xFF before another byte starts a marker, after which zeros are read.
// libjpeg keeps 57 bits, so it sees the end of the data, or fill bytes before a marker, no earlier than this does. `from` is passed
// by value to keep the caller's copy in registers.
[[gnu::noinline]] JpegBits refill_slowly(JpegBits from) {
  constexpr std::byte kFf{0xFF}, kStuffed{0};
  for (;;) {
    const std::byte byte = from.end - from.next > 0 ? from.next[0] : kFf;
    const std::byte after = from.end - from.next > 1 ? from.next[1] : kFf;
    if (from.count <= 56 && byte == kFf && after == kFf) from.padding = kOverrun;
    if (from.count >= 56) return from;
    if (byte == kFf && after != kStuffed) {
      from.padding += 8;
    } else {
      from.bits |= static_cast<uint64_t>(byte) << (56 - from.count);
      from.next += byte == kFf ? 2 : 1;
    }
    from.count += 8;
  }
}

[[gnu::always_inline]] inline void refill(JpegBits& from) {
  if (from.end - from.next >= 8) {
    const uint64_t eight = load_big<uint64_t>(from.next), inverted = ~eight;
    const bool has_ff = ((inverted - 0x0101010101010101u) & eight & 0x8080808080808080u) != 0;
    if (!has_ff) [[likely]] {
      from.bits |= eight >> from.count;
      from.next += (63 - from.count) >> 3;
      from.count |= 56;
      return;
    }
  }
  from = refill_slowly(from);
}

// The value in the top `size` bits; it is negative if its first bit is 0 (EXTEND in T.81, F.2.2.1).
[[gnu::always_inline]] inline int32_t signed_value(uint64_t bits, int size) {
  const int32_t negative = static_cast<int64_t>(bits) >= 0 ? -1 : 0;
  return static_cast<int32_t>(bits >> 1 >> (63 - size)) + (negative & (1 - (1 << size)));
}

[[gnu::always_inline]] inline int32_t read_dc(JpegBits& from, const JpegCodes& codes) {
  refill(from);
  const uint32_t entry = codes.entry(from.bits);
  const int size = entry >> 8 & 15;
  const uint64_t value = from.bits << (entry >> 16 & 31);
  from.bits <<= entry & 31;
  from.count -= static_cast<int32_t>(entry & 31);
  if ((entry & kNoCode) != 0) [[unlikely]]
    from.padding = kOverrun;
  return size == 0 ? 0 : signed_value(value, size);
}

// Decodes the next AC coefficient, the k-th. Returns false after the last one of the block.
template <bool kStored>
[[gnu::always_inline]] inline bool read_ac(JpegBits& from, const JpegCodes& codes, int& k, JCOEF* block) {
  const uint32_t entry = codes.entry(from.bits);
  const int size = entry >> 8 & 15;
  const uint64_t value = from.bits << (entry >> 16 & 31);
  from.bits <<= entry & 31;
  from.count -= static_cast<int32_t>(entry & 31);
  k += entry >> 24 & 15;
  if (size == 0) [[unlikely]] {
    if ((entry & kNoCode) != 0) from.padding = kOverrun;
    if ((entry & kSixteenZeros) == 0) return false;
  } else if constexpr (kStored) {
    block[kZigzag[k]] = static_cast<JCOEF>(signed_value(value, size));
  }
  return ++k < DCTSIZE2;
}

}  // namespace

bool JpegCodes::build(const JHUFF_TBL& table, bool dc) {
  if (built_ && dc == dc_ && std::equal(counts_.begin() + 1, counts_.end(), table.bits + 1) &&
      std::equal(symbols_.begin(), symbols_.end(), table.huffval)) {
    return true;  // the table of the previous image
  }
  built_ = false;
  dc_ = dc;
  entries_.fill(0);
  std::copy_n(table.huffval, symbols_.size(), symbols_.begin());
  int32_t code = 0, count = 0;
  for (int length = 1; length <= 16; ++length, code *= 2) {
    const auto l = static_cast<size_t>(length);
    counts_[l] = table.bits[length];
    offset_[l] = count - code;
    for (int i = 0; i < counts_[l]; ++i, ++code, ++count) {
      if (count == 256 || code >= 1 << length) return false;
      const int symbol = symbols_[static_cast<size_t>(count)];
      if ((dc ? symbol : symbol & 15) > kMaxValueBits) return false;
      if (length > kLookBits) continue;
      const auto first = entries_.begin() + (code << (kLookBits - length));
      std::fill_n(first, 1 << (kLookBits - length), make_entry(symbol, length, dc));
    }
    end_[l] = code;
  }
  built_ = true;
  return true;
}

uint32_t JpegCodes::long_entry(uint64_t bits) const {
  for (int length = kLookBits + 1; length <= 16; ++length) {
    const auto l = static_cast<size_t>(length);
    const auto code = static_cast<int32_t>(bits >> (64 - length));
    const int32_t place = code + offset_[l];
    if (code < end_[l] && place >= 0) return make_entry(symbols_[static_cast<size_t>(place)], length, dc_);
  }
  return kNoCode;
}

// jpeg_create_decompress() has compared JPEG_LIB_VERSION and the size of jpeg_decompress_struct. The number of messages differs
// between the series 2.0, 2.1 and 3, and the copyright message between the years of the releases.
bool JpegHuffman::is_library_of_header(const jpeg_error_mgr& errors) {
  return errors.last_jpeg_message == JMSG_LASTMSGCODE - 1 &&
         std::strstr(errors.jpeg_message_table[JMSG_COPYRIGHT], DATALINE_LIBJPEG_YEARS) != nullptr;
}

bool JpegHuffman::attach(jpeg_decompress_struct& info) {
  failed_ = false;
  if (!is_library_of_header(*info.err)) return false;
  if (info.progressive_mode || info.arith_code || info.data_precision != 8 ||
      jpeg_has_multiple_scans(&info)) {
    return false;
  }
  for (int i = 0; i < info.comps_in_scan; ++i) {
    const jpeg_component_info& component = *info.cur_comp_info[i];
    const auto dc = static_cast<size_t>(component.dc_tbl_no), ac = static_cast<size_t>(component.ac_tbl_no);
    if (dc >= NUM_HUFF_TBLS || ac >= NUM_HUFF_TBLS) return false;
    const JHUFF_TBL *dc_table = info.dc_huff_tbl_ptrs[dc], *ac_table = info.ac_huff_tbl_ptrs[ac];
    if (dc_table == nullptr || ac_table == nullptr) return false;
    if (!dc_codes_[dc].build(*dc_table, true) || !ac_codes_[ac].build(*ac_table, false)) return false;
    parts_[static_cast<size_t>(i)] = {&dc_codes_[dc], &ac_codes_[ac], 0};
  }
  const auto* begin = reinterpret_cast<const std::byte*>(info.src->next_input_byte);
  bits_ = {begin, begin + info.src->bytes_in_buffer};
  mcus_until_restart_ = info.restart_interval;
  next_restart_ = 0;
  start_pass = [](j_decompress_ptr) {};  // not called: the scan has started
  decode_mcu = decode;
  info.entropy = this;
  return true;
}

void JpegHuffman::hand_back(jpeg_decompress_struct& info) const {
  if (info.entropy != this) return;
  info.src->next_input_byte = reinterpret_cast<const JOCTET*>(bits_.next);
  info.src->bytes_in_buffer = static_cast<size_t>(bits_.end - bits_.next);
}

// Called within libjpeg, which error_exit leaves by longjmp.
void JpegHuffman::give_up(j_decompress_ptr info) {
  failed_ = true;
  info->err->msg_code = JWRN_HUFF_BAD_CODE;
  info->err->error_exit(reinterpret_cast<j_common_ptr>(info));
  __builtin_unreachable();
}

// Reads the RSTn marker that must follow, after fewer than 8 bits of padding.
void JpegHuffman::restart(j_decompress_ptr info) {
  const int32_t left = bits_.count - bits_.padding;
  const auto marker = static_cast<std::byte>(JPEG_RST0 + next_restart_);
  if (left < 0 || left >= 8 || bits_.end - bits_.next < 2 || bits_.next[0] != std::byte{0xFF} ||
      bits_.next[1] != marker) {
    give_up(info);
  }
  bits_ = {bits_.next + 2, bits_.end};
  next_restart_ = (next_restart_ + 1) % 8;
  mcus_until_restart_ = info->restart_interval;
  for (Part& part : parts_) part.last_dc = 0;
}

// libjpeg has zeroed `blocks`; they are null where it skips lines.
template <bool kStored>
void JpegHuffman::decode_blocks(j_decompress_ptr info, JBLOCKROW* blocks) {
  JpegBits from = bits_;
  for (int i = 0; i < info->blocks_in_MCU; ++i) {
    Part& part = parts_[static_cast<size_t>(info->MCU_membership[i])];
    JCOEF* const block = kStored ? **(blocks + i) : nullptr;
    part.last_dc += read_dc(from, *part.dc);
    if (part.last_dc != static_cast<JCOEF>(part.last_dc)) give_up(info);
    if constexpr (kStored) block[0] = static_cast<JCOEF>(part.last_dc);
    int k = 1;
    do {
      refill(from);
    } while (read_ac<kStored>(from, *part.ac, k, block) && read_ac<kStored>(from, *part.ac, k, block));
    if (k > DCTSIZE2 || from.count < from.padding) give_up(info);
  }
  refill(from);  // libjpeg may have read this far, and then seen the end of the data
  if (from.padding >= kOverrun) give_up(info);
  bits_ = from;
}

boolean JpegHuffman::decode(j_decompress_ptr info, JBLOCKROW* blocks) {
  JpegHuffman& self = *static_cast<JpegHuffman*>(info->entropy);
  if (info->restart_interval != 0 && self.mcus_until_restart_-- == 0) {
    self.restart(info);
    --self.mcus_until_restart_;
  }
  if (blocks != nullptr) {
    self.decode_blocks<true>(info, blocks);
  } else {
    self.decode_blocks<false>(info, blocks);
  }
  return TRUE;
}

}  // namespace dataline

#endif  // DATALINE_HAS_JPEG_HUFFMAN
