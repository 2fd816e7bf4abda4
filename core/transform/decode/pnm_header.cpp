// Source: Netpbm's pages of PGM, PPM and PAM.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string_view>

#include "core/base/message_text.h"
#include "core/base/text.h"
#include "core/transform/decode/image_header.h"

namespace dataline {
namespace {

constexpr size_t kMaxShown = 24;          // of a word, in messages
constexpr size_t kMaxHeaderBytes = 4096;  // of one with comments; ours have below 100

// The words of a header, between white space and comments.
class PnmWords {
 public:
  explicit PnmWords(Bytes encoded)
      : text_(reinterpret_cast<const char*>(encoded.data()), std::min(encoded.size(), kMaxHeaderBytes)),
        whole_(encoded.size() <= kMaxHeaderBytes) {}

  // Empty: the bytes end.
  std::string_view next() {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#')
        skip_line();
      else
        ++at_;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_.substr(begin, at_ - begin) : std::string_view();
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  // After the one white space that follows the last word.
  int64_t end() const { return static_cast<int64_t>(at_) + 1; }
  Status ended() const {
    if (whole_) return error(Code::kTruncated, "PNM ends at byte ", text_.size(), ", inside its header");
    return error(Code::kCorrupt, "PNM: its header has more than ", kMaxHeaderBytes, " bytes");
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  std::string_view text_;
  bool whole_;
  size_t at_ = 0;
};

constexpr int64_t kMaxMaxval = 65535;

struct PnmHeader {
  int64_t width = 0, height = 0, channels = 0;
  PnmPixels pixels;
};

Status read_number(PnmWords& words, std::string_view what, int64_t& out) {
  const std::string_view word = words.next();
  if (word.empty()) return words.ended();
  const std::optional<int64_t> number = parse_i64(word);
  if (!number || *number < 1 || *number > INT32_MAX)
    return error(Code::kCorrupt, "PNM: its ", what, ": expected a number of at least 1, got ",
                 printable(word, kMaxShown));
  out = *number;
  return Status::ok();
}

// "WIDTH 4", "HEIGHT 3", "DEPTH 3", "MAXVAL 255", in any order; TUPLTYPE is a line of words; ENDHDR.
Status read_pam(PnmWords& words, PnmHeader& out) {
  for (;;) {
    const std::string_view word = words.next();
    if (word.empty()) return words.ended();
    if (word == "ENDHDR") break;
    if (word == "TUPLTYPE")
      words.skip_line();
    else if (word == "WIDTH")
      DL_RETURN_IF_ERROR(read_number(words, "WIDTH", out.width));
    else if (word == "HEIGHT")
      DL_RETURN_IF_ERROR(read_number(words, "HEIGHT", out.height));
    else if (word == "DEPTH")
      DL_RETURN_IF_ERROR(read_number(words, "DEPTH", out.channels));
    else if (word == "MAXVAL")
      DL_RETURN_IF_ERROR(read_number(words, "MAXVAL", out.pixels.maxval));
    else
      return error(Code::kCorrupt,
                   "PNM: its header: expected WIDTH, HEIGHT, DEPTH, MAXVAL, TUPLTYPE or ENDHDR, got ",
                   printable(word, kMaxShown));
  }
  if (out.width == 0 || out.height == 0 || out.channels == 0 || out.pixels.maxval == 0)
    return error(Code::kCorrupt, "PNM: its header lacks WIDTH, HEIGHT, DEPTH or MAXVAL");
  return Status::ok();
}

Result<PnmHeader> read_header(Bytes encoded) {
  PnmWords words(encoded);
  PnmHeader out;
  const std::string_view kind = words.next();
  if (kind.empty()) return words.ended();
  if (kind.size() != 2 || kind[0] != 'P' || kind[1] < '1' || kind[1] > '7')
    return error(Code::kCorrupt, "PNM of kind ", kind.substr(0, kMaxShown), ", expected P1 to P7");
  out.pixels.kind = kind[1] - '0';
  if (out.pixels.kind == 7) {
    out.pixels.maxval = 0;
    DL_RETURN_IF_ERROR(read_pam(words, out));
  } else {
    out.channels = out.pixels.kind % 3 == 0 ? 3 : 1;
    DL_RETURN_IF_ERROR(read_number(words, "width", out.width));
    DL_RETURN_IF_ERROR(read_number(words, "height", out.height));
    if (!out.pixels.bitmap()) DL_RETURN_IF_ERROR(read_number(words, "maxval", out.pixels.maxval));
  }
  if (out.pixels.maxval > kMaxMaxval)
    return error(Code::kCorrupt, "PNM with maxval ", out.pixels.maxval, ", expected 1 to ", kMaxMaxval);
  if (out.channels > 4)
    return error(Code::kCorrupt, "PNM of depth ", out.channels, " is not supported, expected 1 to 4");
  out.pixels.begin = words.end();
  return out;
}

}  // namespace

Result<ImageHeader> read_pnm_header(Bytes encoded) {
  DL_ASSIGN_OR_RETURN(const PnmHeader header, read_header(encoded));
  return ImageHeader{.format = ImageFormat::kPnm,
                     .height = header.height,
                     .width = header.width,
                     .channels = static_cast<int32_t>(header.channels),
                     .bits = header.pixels.maxval > 255 ? 16 : 8};
}

Result<PnmPixels> find_pnm_pixels(Bytes encoded) {
  DL_ASSIGN_OR_RETURN(const PnmHeader header, read_header(encoded));
  return header.pixels;
}

std::string pam_header(int64_t height, int64_t width, int64_t channels) {
  constexpr std::string_view kTypes[] = {"GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
  return concat("P7\nWIDTH ", width, "\nHEIGHT ", height, "\nDEPTH ", channels, "\nMAXVAL 255\nTUPLTYPE ",
                kTypes[static_cast<size_t>(channels) - 1], "\nENDHDR\n");
}

}  // namespace dataline
