// SPDX-License-Identifier: Apache-2.0
#if DATALINE_HAS_LIBJPEG

#include "core/transform/decode/jpeg_session.h"

#include <algorithm>
#include <cerrno>

namespace dataline {
namespace {

bool harmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_NOT_SEQUENTIAL || warning == JWRN_ADOBE_XFORM ||
         warning == JWRN_JFIF_MAJOR || warning == JWRN_BOGUS_PROGRESSION;
}

}  // namespace

Status JpegSession::begin(Bytes encoded) {
  end();
  encoded_ = encoded;
  message_code_ = 0;
  warnings_ = 0;
  info_ = {};
  info_.err = jpeg_std_error(&errors_);
  errors_.error_exit = on_error;
  errors_.emit_message = on_message;
  errors_.output_message = on_text;
  info_.client_data = this;
  source_.init_source = on_start;
  source_.fill_input_buffer = on_empty;
  source_.skip_input_data = on_skip;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = on_start;
  source_.next_input_byte = reinterpret_cast<const JOCTET*>(encoded.data());
  source_.bytes_in_buffer = encoded.size();
  progress_.progress_monitor = on_progress;
  open_ = true;
  return run([this](jpeg_decompress_struct& info) {
    jpeg_create_decompress(&info);
    info.src = &source_;
    info.progress = &progress_;
    info.mem->max_memory_to_use = static_cast<long>(limits_.max_decoded_bytes);
  });
}

void JpegSession::end() {
  if (!open_) return;
  open_ = false;
  jpeg_destroy_decompress(&info_);
}

void JpegSession::leave(int message_code) {
  message_code_ = message_code;
  std::longjmp(escape_, 1);
}

void JpegSession::on_error(j_common_ptr info) {
  (*info->err->format_message)(info, of(info).text_);
  of(info).leave(info->err->msg_code);
}

void JpegSession::on_message(j_common_ptr info, int level) {
  if (level >= 0 || harmless(info->err->msg_code)) return;
  ++of(info).warnings_;
  if (!of(info).limits_.accept_warnings) on_error(info);
}

boolean JpegSession::on_empty(j_decompress_ptr info) { of(info).leave(kEndOfBytes); }

void JpegSession::on_skip(j_decompress_ptr info, long bytes) {
  if (bytes <= 0) return;
  if (static_cast<size_t>(bytes) > info->src->bytes_in_buffer) of(info).leave(kEndOfBytes);
  info->src->next_input_byte += bytes;
  info->src->bytes_in_buffer -= static_cast<size_t>(bytes);
}

// jpeg.cpp has counted the scans already; this holds even if libjpeg finds more of them.
void JpegSession::on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > of(info).limits_.max_scans) {
    of(info).leave(kTooManyScans);
  }
}

int64_t JpegSession::offset() const {
  return static_cast<int64_t>(encoded_.size() - std::min(encoded_.size(), source_.bytes_in_buffer));
}

Status JpegSession::failure() const {
  switch (message_code_) {
    case kEndOfBytes:
      return error(Code::kTruncated, "JPEG ends at byte ", encoded_.size(), ", inside the image");
    case kTooManyScans:
      return error(Code::kTooLarge, "JPEG has more than max_scans=", limits_.max_scans, " scans");
    case JERR_OUT_OF_MEMORY:
      return error(Code::kNoMemory, "JPEG: out of memory").with_os_error(ENOMEM);
    case JERR_NO_BACKING_STORE:
      return error(Code::kTooLarge, "JPEG needs more than max_decoded_bytes=", limits_.max_decoded_bytes);
    case JERR_CONVERSION_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
    case JERR_NOT_COMPILED:
#if JPEG_LIB_VERSION < 70
    case JERR_ARITH_NOTIMPL:
#endif
      return error(Code::kUnsupported, "JPEG: ", text_);
    default:
      return error(Code::kCorrupt, "JPEG, near byte ", offset(), ": ", text_);
  }
}

}  // namespace dataline

#endif  // DATALINE_HAS_LIBJPEG
