// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/jpeg_encoder.h"

#include "core/base/text.h"

#if DATALINE_HAS_LIBJPEG

#include <cerrno>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE

#include <jpeglib.h>

#include <jerror.h>  // after jpeglib.h: the numbers of its messages depend on jconfig.h

namespace dataline {
namespace {

constexpr int kRoomIsFull = -1;  // our own message code, outside libjpeg's range

// libjpeg reports errors by longjmp: no function between enter() and its calls may have an object that needs a destructor.
class JpegWriter {
 public:
  JpegWriter(std::byte* out, int64_t room) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    errors_.output_message = on_text;
    info_.client_data = this;
    target_.next_output_byte = reinterpret_cast<JOCTET*>(out);
    target_.free_in_buffer = static_cast<size_t>(room);
    target_.init_destination = on_begin;
    target_.empty_output_buffer = on_full;
    target_.term_destination = on_begin;
  }
  ~JpegWriter() { jpeg_destroy_compress(&info_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  bool write(const Frame& frame, int quality) {
    if (setjmp(escape_) != 0) return false;
    jpeg_create_compress(&info_);
    info_.client_data = this;
    info_.dest = &target_;
    info_.image_height = static_cast<JDIMENSION>(frame.height);
    info_.image_width = static_cast<JDIMENSION>(frame.width);
    info_.input_components = static_cast<int>(frame.channels);
    info_.in_color_space = frame.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      JSAMPROW line = reinterpret_cast<JSAMPROW>(frame.pixels + info_.next_scanline * frame.line_bytes());
      jpeg_write_scanlines(&info_, &line, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }
  int64_t left() const { return static_cast<int64_t>(target_.free_in_buffer); }
  int message_code() const { return errors_.msg_code; }

 private:
  static void on_error(j_common_ptr info) {
    std::longjmp(static_cast<JpegWriter*>(info->client_data)->escape_, 1);
  }
  static void on_message(j_common_ptr, int) {}
  static void on_text(j_common_ptr) {}
  static void on_begin(j_compress_ptr) {}
  static boolean on_full(j_compress_ptr info) {
    info->err->msg_code = kRoomIsFull;
    on_error(reinterpret_cast<j_common_ptr>(info));
    return FALSE;
  }

  jpeg_compress_struct info_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_destination_mgr target_ = {};
  std::jmp_buf escape_ = {};
};

}  // namespace

bool has_jpeg_encoder() { return true; }

Result<int64_t> encode_jpeg(const Frame& frame, int quality, std::byte* out, int64_t room) {
  const auto too_little = [&] {
    return error(Code::kTooLarge, "image of ", picture_size(frame.height, frame.width), " does not fit ",
                 room, " bytes as JPEG; raise max_bytes_per_sample");
  };
  if (room <= 0) return too_little();
  JpegWriter writer(out, room);
  if (writer.write(frame, quality)) return room - writer.left();
  if (writer.message_code() == JERR_OUT_OF_MEMORY)
    return error(Code::kNoMemory, "JPEG: out of memory").with_os_error(ENOMEM);
  if (writer.message_code() == kRoomIsFull) return too_little();
  return error(Code::kTooLarge, "image of ", picture_size(frame.height, frame.width),
               ": JPEG does not support this size");
}

}  // namespace dataline

#else

namespace dataline {

bool has_jpeg_encoder() { return false; }

Result<int64_t> encode_jpeg(const Frame&, int, std::byte*, int64_t) {
  return error(Code::kUnsupported, "JPEG needs libjpeg, which this build does not have");
}

}  // namespace dataline

#endif
