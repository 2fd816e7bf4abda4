// libjpeg with its callbacks: one image in memory, errors and warnings caught. Every call into libjpeg is made inside
// run(), from code whose locals need no destructors: libjpeg leaves by longjmp.
//
// libjpeg keeps quantization and Huffman tables from image to image in a used object, and a file that forgot its own would
// be decoded with those of the last one. So begin() makes a fresh object: 0.2 us of an image's 1 ms, and the result is
// a function of the file alone.
//
// Warnings of libjpeg that mean lost pixels are counted and, with on_warning=error, errors; these others are passed over:
//   JWRN_EXTRANEOUS_DATA   bytes between segments that belong to none
//   JWRN_NOT_SEQUENTIAL    odd progression numbers in a sequential scan header
//   JWRN_ADOBE_XFORM       unknown colour transform in an Adobe segment
//   JWRN_JFIF_MAJOR        unknown JFIF version
//   JWRN_BOGUS_PROGRESSION scans that refine out of order; what they say is decoded
//
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csetjmp>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>

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

  // A fresh object, its source `encoded`; nothing is read.
  Status begin(Bytes encoded);
  void end();  // frees all that libjpeg holds

  jpeg_decompress_struct& info() { return info_; }
  int64_t warnings() const { return warnings_; }               // since begin(), of lost pixels
  bool ended() const { return message_code_ == kEndOfBytes; }  // run() failed because the bytes ended

  // Calls f(info) and says how that ended. After an error only end() and begin() may follow.
  template <typename Function>
  Status run(const Function& f) {
    if (!enter(f)) return failure();
    return Status::ok();
  }

 private:
  // Ours, beside libjpeg's codes.
  static constexpr int kEndOfBytes = -1, kTooManyScans = -2;

  // Alone in its frame: nothing here may need destroying when libjpeg jumps back.
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
