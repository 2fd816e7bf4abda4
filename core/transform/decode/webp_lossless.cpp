// Computes what libwebp will allocate for a lossless WebP stream (VP8L, RFC 9649) besides its pixels. A stream may request
// 65,536 groups of Huffman codes with 2.5 bytes of file each; libwebp allocates 12 to 20 KB for each and takes no limit.
//
// The parts that determine the memory are parsed as libwebp parses them: the transforms, the colour cache, and the image of
// group numbers. Of the latter only the largest literal matters: copies and the colour cache repeat earlier literals or 0.
//
// Cost: the images of transforms and groups are decoded a second time, without being stored. They have at most a sixteenth
// of the pixels, usually a few hundredths of a per cent.
// Threads: any. Memory: 36 KiB of stack.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/image_header.h"

#include <algorithm>
#include <array>

namespace dataline {
namespace {

constexpr int kLiterals = 256, kLengths = 24, kDistances = 40;
constexpr int kMaxCacheBits = 11;
constexpr int kMaxSymbols = kLiterals + kLengths + (1 << kMaxCacheBits);
constexpr int kMaxLength = 15;         // of a code, in bits
constexpr int64_t kMinGroupBits = 20;  // five codes of one symbol each, 4 bits a code
constexpr int64_t kMaxGroups = 1 << 16;

// What libwebp (0.5 to 1.6) allocates for a group: entries of 4 bytes, as many as the worst codes need, and the group itself
// with its table of 64 entries of 8 bytes. The green code has 654 entries or more, by the bits of the colour cache.
constexpr std::array<int64_t, kMaxCacheBits + 1> kGreenEntries = {654, 656, 658, 662,  670,  686,
                                                                  718, 782, 912, 1168, 1680, 2704};
constexpr int64_t kOtherEntries = 3 * 630 + 410, kTableEntryBytes = 4, kGroupBytes = 568;
constexpr int64_t kIndexBytes = 4;  // per group, where libwebp (1.0.3 on) renumbers them

int64_t blocks_of(int64_t pixels, int bits) { return (pixels + (int64_t{1} << bits) - 1) >> bits; }

// The bits of a stream, lowest first. Past its end they are zeros, and ended() is true.
class Bits {
 public:
  explicit Bits(Bytes bytes) : bytes_(bytes) {}
  bool ended() const { return taken_ > 8 * static_cast<int64_t>(bytes_.size()); }
  int64_t left() const { return std::max<int64_t>(0, 8 * static_cast<int64_t>(bytes_.size()) - taken_); }

  uint32_t peek() {  // 32 bits
    if (count_ >= 32) return static_cast<uint32_t>(bits_);
    while (count_ <= 56 && next_ < bytes_.size()) {
      bits_ |= static_cast<uint64_t>(bytes_[next_++]) << count_;
      count_ += 8;
    }
    return static_cast<uint32_t>(bits_);
  }
  void skip(int bits) {
    taken_ += bits;
    bits_ >>= bits;
    count_ = std::max(0, count_ - bits);
  }
  uint32_t read(int bits) {
    const uint32_t value = peek() & ((1u << bits) - 1);
    skip(bits);
    return value;
  }

 private:
  Bytes bytes_;
  size_t next_ = 0;
  uint64_t bits_ = 0;
  int count_ = 0;  // valid in bits_
  int64_t taken_ = 0;
};

// A canonical prefix code. Codes of up to kLookBits are decoded with one lookup.
class PrefixCode {
 public:
  // False if the lengths form no complete code; a code of one symbol is allowed.
  bool build(const uint8_t* lengths, int count) {
    counts_.fill(0);
    for (int i = 0; i < count; ++i) ++counts_[lengths[i]];
    const int used = count - counts_[0];
    counts_[0] = 0;
    if (used == 0) return false;
    std::array<uint16_t, kMaxLength + 2> place = {};
    int32_t open = 1;
    for (size_t length = 1; length <= kMaxLength; ++length) {
      open = 2 * open - counts_[length];
      if (open < 0) return false;
      place[length + 1] = static_cast<uint16_t>(place[length] + counts_[length]);
    }
    for (int i = 0; i < count; ++i) {
      if (lengths[i] != 0) symbols_[place[lengths[i]]++] = static_cast<uint16_t>(i);
    }
    single_ = used == 1;
    if (!single_ && open != 0) return false;
    if (!single_) fill_look();
    return true;
  }

  int read(Bits& bits) const {
    if (single_) return symbols_[0];
    const uint32_t next = bits.peek();
    const uint32_t found = look_[next & ((1 << kLookBits) - 1)];
    if (found != 0) {
      bits.skip(static_cast<int>(found >> 12));
      return static_cast<int>(found & 0xFFF);
    }
    int32_t code = 0, first = 0, place = 0;
    for (size_t length = 1; length <= kMaxLength; ++length) {
      code |= static_cast<int32_t>(next >> (length - 1) & 1);
      const int32_t count = counts_[length];
      if (code - first < count) {
        bits.skip(static_cast<int>(length));
        return symbols_[static_cast<size_t>(place + code - first)];
      }
      place += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return 0;  // not reached: the code is complete
  }

 private:
  static constexpr int kLookBits = 8;
  static_assert(kMaxSymbols <= 1 << 12 && kLookBits < 16);

  void fill_look() {
    look_.fill(0);
    uint32_t code = 0;
    size_t place = 0;
    for (int length = 1; length <= kLookBits; ++length, code <<= 1) {
      for (int i = 0; i < counts_[static_cast<size_t>(length)]; ++i, ++code, ++place) {
        uint32_t reversed = 0;
        for (int b = 0; b < length; ++b) reversed |= (code >> b & 1) << (length - 1 - b);
        const auto entry = static_cast<uint16_t>(length << 12 | symbols_[place]);
        for (uint32_t at = reversed; at < 1u << kLookBits; at += 1u << length) look_[at] = entry;
      }
    }
  }

  std::array<uint16_t, kMaxLength + 1> counts_ = {};
  std::array<uint16_t, kMaxSymbols> symbols_ = {};
  std::array<uint16_t, 1 << kLookBits> look_ = {};  // length in the upper 4 bits; 0: a longer code
  bool single_ = false;
};

class Reader {
 public:
  Reader(Bytes stream, int64_t width, int64_t height) : bits_(stream), width_(width), height_(height) {}

  LosslessNeed run() {
    LosslessNeed need;
    if (!read(need)) {
      need.damaged = true;
      need.truncated = bits_.ended();
      need.groups = std::min(kMaxGroups, 1 + bits_.left() / kMinGroupBits);
      tables_ += 3 * 4 * blocks_of(width_, 2) * blocks_of(height_, 2);
      cache_bits_ = kMaxCacheBits;
    }
    need.pixel_bytes = 4 * packed_width_ * height_;
    need.table_bytes = tables_ + need.groups * group_bytes(cache_bits_);
    return need;
  }

 private:
  static int64_t group_bytes(int cache_bits) {
    return (kGreenEntries[static_cast<size_t>(cache_bits)] + kOtherEntries) * kTableEntryBytes + kGroupBytes +
           kIndexBytes;
  }

  bool read(LosslessNeed& need) {
    packed_width_ = width_;
    uint32_t seen = 0;
    while (bits_.read(1) != 0) {
      const uint32_t type = bits_.read(2);
      if ((seen >> type & 1) != 0 || bits_.ended()) return false;
      seen |= 1u << type;
      if (!read_transform(type)) return false;
    }
    if (!read_cache_bits(&cache_bits_)) return false;
    if (bits_.read(1) != 0) {
      const int bits = 2 + static_cast<int>(bits_.read(3));
      uint32_t largest = 0;
      if (!read_image(blocks_of(packed_width_, bits), blocks_of(height_, bits), &largest)) return false;
      need.groups = int64_t{largest} + 1;
    }
    return !bits_.ended();
  }

  // Predictor and cross-colour have an image of blocks, a palette one of its colours; "subtract green" has nothing.
  bool read_transform(uint32_t type) {
    if (type == 2) return true;
    if (type == 3) {
      const int64_t colours = int64_t{bits_.read(8)} + 1;
      const int bits = colours > 16 ? 0 : colours > 4 ? 1 : colours > 2 ? 2 : 3;
      if (!read_image(colours, 1, nullptr)) return false;
      packed_width_ = blocks_of(packed_width_, bits);
      return true;
    }
    const int bits = 2 + static_cast<int>(bits_.read(3));
    return read_image(blocks_of(packed_width_, bits), blocks_of(height_, bits), nullptr);
  }

  bool read_cache_bits(int* bits) {
    *bits = 0;
    if (bits_.read(1) == 0) return true;
    *bits = static_cast<int>(bits_.read(4));
    return *bits >= 1 && *bits <= kMaxCacheBits;
  }

  // One of the inner images, which have one group of codes. `largest`: of the numbers in red and green.
  bool read_image(int64_t width, int64_t height, uint32_t* largest) {
    tables_ += 4 * width * height;
    int cache_bits = 0;
    if (!read_cache_bits(&cache_bits)) return false;
    const int greens = kLiterals + kLengths + (cache_bits > 0 ? 1 << cache_bits : 0);
    for (size_t i = 0; i < codes_.size(); ++i) {
      if (!read_code(i == 0 ? greens : i == 4 ? kDistances : kLiterals, codes_[i])) return false;
    }
    for (int64_t left = width * height; left > 0;) {
      const int symbol = codes_[0].read(bits_);
      if (symbol < kLiterals) {
        const int red = codes_[1].read(bits_);
        codes_[2].read(bits_);
        codes_[3].read(bits_);
        if (largest != nullptr) *largest = std::max(*largest, static_cast<uint32_t>(red << 8 | symbol));
        --left;
      } else if (symbol < kLiterals + kLengths) {
        const int64_t length = read_count(symbol - kLiterals);
        read_count(codes_[4].read(bits_));
        if (length > left) return false;
        left -= length;
      } else {
        --left;
      }
      if (bits_.ended()) return false;
    }
    return true;
  }

  // A length or a distance: a prefix and its extra bits.
  int64_t read_count(int prefix) {
    if (prefix < 4) return prefix + 1;
    const int extra = (prefix - 2) >> 1;
    return (int64_t{2 + (prefix & 1)} << extra) + bits_.read(extra) + 1;
  }

  bool read_code(int symbols, PrefixCode& code) {
    std::array<uint8_t, kMaxSymbols> lengths = {};
    if (bits_.read(1) != 0) {
      const bool two = bits_.read(1) != 0;
      lengths[bits_.read(bits_.read(1) != 0 ? 8 : 1)] = 1;
      if (two) lengths[bits_.read(8)] = 1;
    } else if (!read_lengths(symbols, lengths)) {
      return false;
    }
    return !bits_.ended() && code.build(lengths.data(), symbols);
  }

  bool read_lengths(int symbols, std::array<uint8_t, kMaxSymbols>& lengths) {
    constexpr size_t kOrder[19] = {17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    std::array<uint8_t, 19> inner = {};
    const size_t count = 4 + bits_.read(4);
    for (size_t i = 0; i < count; ++i) inner[kOrder[i]] = static_cast<uint8_t>(bits_.read(3));
    if (!lengths_code_.build(inner.data(), 19)) return false;
    int64_t reads = symbols;
    if (bits_.read(1) != 0) {
      const int bits = 2 + 2 * static_cast<int>(bits_.read(3));
      reads = 2 + int64_t{bits_.read(bits)};
      if (reads > symbols) return false;
    }
    uint8_t last = 8;
    for (int i = 0; i < symbols && reads > 0; --reads) {
      const int symbol = lengths_code_.read(bits_);
      if (symbol < 16) {
        lengths[static_cast<size_t>(i++)] = static_cast<uint8_t>(symbol);
        if (symbol != 0) last = static_cast<uint8_t>(symbol);
        continue;
      }
      const int extra = symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
      const int repeat = static_cast<int>(bits_.read(extra)) + (symbol == 18 ? 11 : 3);
      if (i + repeat > symbols || bits_.ended()) return false;
      std::fill_n(lengths.begin() + i, repeat, symbol == 16 ? last : uint8_t{0});
      i += repeat;
    }
    return true;
  }

  Bits bits_;
  int64_t width_, height_, packed_width_ = 0;
  int64_t tables_ = 0;
  int cache_bits_ = 0;
  PrefixCode lengths_code_;
  std::array<PrefixCode, 5> codes_;  // green, red, blue, alpha, distance
};

}  // namespace

LosslessNeed measure_lossless(Bytes stream, int64_t width, int64_t height) {
  return Reader(stream, width, height).run();
}

}  // namespace dataline
