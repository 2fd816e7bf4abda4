// One JPEG image in memory, decoded by libjpeg; errors and warnings become a Status. libjpeg reports errors by longjmp, so call
// it only through run(), in code without objects that need destructors.
//
// begin() makes a new decompress object for each image (0.2 us). A reused one keeps the quantization and Huffman tables of the
// previous image, and a file without tables would be decoded with those.
//
// Warnings that mean lost pixels are counted, or are errors with on_warning=error. These others are ignored:
//   JWRN_EXTRANEOUS_DATA   bytes between segments
//   JWRN_NOT_SEQUENTIAL    invalid progression parameters in a sequential scan header
//   JWRN_ADOBE_XFORM       unknown colour transform in an Adobe segment
//   JWRN_JFIF_MAJOR        unknown JFIF version
//   JWRN_BOGUS_PROGRESSION refinement scans out of order; they are decoded
//
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csetjmp>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs FILE

#include <jpeglib.h>

#include <jerror.h>  // after jpeglib.h: the numbers of its messages depend on jconfig.h

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/transform/decode/decoder.h"

namespace dataline {

class JpegSession {
 public:
  explicit JpegSession(const DecodeLimits& limits) : limits_(limits) {}
  ~JpegSession() { end(); }
  JpegSession(const JpegSession&) = delete;
  JpegSession& operator=(const JpegSession&) = delete;

  // Makes a decompress object for `encoded`, and reads nothing yet.
  Status begin(Bytes encoded);
  void end();  // frees the memory that libjpeg holds

  jpeg_decompress_struct& info() { return info_; }
  int64_t warnings() const { return warnings_; }               // about lost pixels, since begin()
  bool ended() const { return message_code_ == kEndOfBytes; }  // run() failed at the end of the data

  // Calls f(info). After an error only end() and begin() may be called.
  template <typename Function>
  Status run(const Function& f) {
    if (!enter(f)) return failure();
    return Status::ok();
  }

 private:
  // Our own message codes, outside libjpeg's range.
  static constexpr int kEndOfBytes = -1, kTooManyScans = -2;

  // longjmp() returns here: no object in this frame may need a destructor.
  template <typename Function>
  bool enter(const Function& f) {
    if (setjmp(escape_) != 0) return false;
    f(info_);
    return true;
  }
  static JpegSession& of(j_common_ptr info) { return *static_cast<JpegSession*>(info->client_data); }
  static JpegSession& of(j_decompress_ptr info) { return *static_cast<JpegSession*>(info->client_data); }

  static void on_error(j_common_ptr info);
  static void on_message(j_common_ptr info, int level);
  static void on_text(j_common_ptr) {}
  static void on_start(j_decompress_ptr) {}
  static boolean on_empty(j_decompress_ptr info);
  static void on_skip(j_decompress_ptr info, long bytes);
  static void on_progress(j_common_ptr info);

  [[noreturn]] void leave(int message_code);
  Status failure() const;
  int64_t offset() const;

  DecodeLimits limits_;
  Bytes encoded_;
  bool open_ = false;
  jpeg_decompress_struct info_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
  jmp_buf escape_;
  int message_code_ = 0;
  int64_t warnings_ = 0;
  char text_[JMSG_LENGTH_MAX] = {};
};

}  // namespace dataline
