// SPDX-License-Identifier: Apache-2.0
#include "core/base/status.h"

namespace dataline {

std::string_view code_name(Code code) {  // NOLINT(readability-function-size): a table
  switch (code) {
    case Code::kOk:
      return "DL_OK";
    case Code::kEndOfEpoch:
      return "DL_END_OF_EPOCH";
    case Code::kEnd:
      return "DL_END";
    case Code::kTimeout:
      return "DL_TIMEOUT";
    case Code::kCancelled:
      return "DL_CANCELLED";
    case Code::kInterrupted:
      return "DL_INTERRUPTED";
    case Code::kInvalidArgument:
      return "DL_ERR_INVALID_ARGUMENT";
    case Code::kUnknownOption:
      return "DL_ERR_UNKNOWN_OPTION";
    case Code::kBadOption:
      return "DL_ERR_BAD_OPTION";
    case Code::kBadUri:
      return "DL_ERR_BAD_URI";
    case Code::kBadTransform:
      return "DL_ERR_BAD_TRANSFORM";
    case Code::kNoSuchField:
      return "DL_ERR_NO_SUCH_FIELD";
    case Code::kUnsupported:
      return "DL_ERR_UNSUPPORTED";
    case Code::kWrongState:
      return "DL_ERR_WRONG_STATE";
    case Code::kForked:
      return "DL_ERR_FORKED";
    case Code::kNoMemory:
      return "DL_ERR_NO_MEMORY";
    case Code::kOverBudget:
      return "DL_ERR_OVER_BUDGET";
    case Code::kLeasesHeld:
      return "DL_ERR_LEASES_HELD";
    case Code::kThread:
      return "DL_ERR_THREAD";
    case Code::kTooManyFiles:
      return "DL_ERR_TOO_MANY_FILES";
    case Code::kNotFound:
      return "DL_ERR_NOT_FOUND";
    case Code::kPermission:
      return "DL_ERR_PERMISSION";
    case Code::kNotAFile:
      return "DL_ERR_NOT_A_FILE";
    case Code::kIo:
      return "DL_ERR_IO";
    case Code::kTruncated:
      return "DL_ERR_TRUNCATED";
    case Code::kCorrupt:
      return "DL_ERR_CORRUPT";
    case Code::kUnsafeType:
      return "DL_ERR_UNSAFE_TYPE";
    case Code::kMismatch:
      return "DL_ERR_MISMATCH";
    case Code::kChanged:
      return "DL_ERR_CHANGED";
    case Code::kBadSample:
      return "DL_ERR_BAD_SAMPLE";
    case Code::kTooManyBad:
      return "DL_ERR_TOO_MANY_BAD";
    case Code::kOutOfRange:
      return "DL_ERR_OUT_OF_RANGE";
    case Code::kReader:
      return "DL_ERR_READER";
    case Code::kTooLarge:
      return "DL_ERR_TOO_LARGE";
    case Code::kEmpty:
      return "DL_ERR_EMPTY";
    case Code::kBadState:
      return "DL_ERR_BAD_STATE";
    case Code::kStateRefused:
      return "DL_ERR_STATE_REFUSED";
    case Code::kNoDevice:
      return "DL_ERR_NO_DEVICE";
    case Code::kDeviceLost:
      return "DL_ERR_DEVICE_LOST";
    case Code::kInternal:
      return "DL_ERR_INTERNAL";
  }
  return "DL_ERR_UNKNOWN";
}

Status&& Status::in(std::string_view context) && {
  message_.insert(0, concat(context, ": "));
  return std::move(*this);
}

}  // namespace dataline
