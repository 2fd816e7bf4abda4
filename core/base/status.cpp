// SPDX-License-Identifier: Apache-2.0
#include "core/base/status.h"

namespace dataline {
namespace {

struct CodeName {
  Code code;
  std::string_view name;
};

constexpr CodeName kCodeNames[] = {
    {Code::kOk, "DL_OK"},
    {Code::kEndOfEpoch, "DL_END_OF_EPOCH"},
    {Code::kEnd, "DL_END"},
    {Code::kTimeout, "DL_TIMEOUT"},
    {Code::kCancelled, "DL_CANCELLED"},
    {Code::kInterrupted, "DL_INTERRUPTED"},
    {Code::kInvalidArgument, "DL_ERR_INVALID_ARGUMENT"},
    {Code::kUnknownOption, "DL_ERR_UNKNOWN_OPTION"},
    {Code::kBadOption, "DL_ERR_BAD_OPTION"},
    {Code::kBadUri, "DL_ERR_BAD_URI"},
    {Code::kBadTransform, "DL_ERR_BAD_TRANSFORM"},
    {Code::kNoSuchField, "DL_ERR_NO_SUCH_FIELD"},
    {Code::kUnsupported, "DL_ERR_UNSUPPORTED"},
    {Code::kWrongState, "DL_ERR_WRONG_STATE"},
    {Code::kForked, "DL_ERR_FORKED"},
    {Code::kNoMemory, "DL_ERR_NO_MEMORY"},
    {Code::kOverBudget, "DL_ERR_OVER_BUDGET"},
    {Code::kLeasesHeld, "DL_ERR_LEASES_HELD"},
    {Code::kThread, "DL_ERR_THREAD"},
    {Code::kTooManyFiles, "DL_ERR_TOO_MANY_FILES"},
    {Code::kNotFound, "DL_ERR_NOT_FOUND"},
    {Code::kPermission, "DL_ERR_PERMISSION"},
    {Code::kNotAFile, "DL_ERR_NOT_A_FILE"},
    {Code::kIo, "DL_ERR_IO"},
    {Code::kTruncated, "DL_ERR_TRUNCATED"},
    {Code::kCorrupt, "DL_ERR_CORRUPT"},
    {Code::kUnsafeType, "DL_ERR_UNSAFE_TYPE"},
    {Code::kMismatch, "DL_ERR_MISMATCH"},
    {Code::kChanged, "DL_ERR_CHANGED"},
    {Code::kBadSample, "DL_ERR_BAD_SAMPLE"},
    {Code::kTooManyBad, "DL_ERR_TOO_MANY_BAD"},
    {Code::kOutOfRange, "DL_ERR_OUT_OF_RANGE"},
    {Code::kReader, "DL_ERR_READER"},
    {Code::kTooLarge, "DL_ERR_TOO_LARGE"},
    {Code::kEmpty, "DL_ERR_EMPTY"},
    {Code::kBadState, "DL_ERR_BAD_STATE"},
    {Code::kStateRefused, "DL_ERR_STATE_REFUSED"},
    {Code::kNoDevice, "DL_ERR_NO_DEVICE"},
    {Code::kDeviceLost, "DL_ERR_DEVICE_LOST"},
    {Code::kInternal, "DL_ERR_INTERNAL"},
};

}  // namespace

std::string_view code_name(Code code) {
  for (const CodeName& entry : kCodeNames) {
    if (entry.code == code) return entry.name;
  }
  return "DL_ERR_UNKNOWN";
}

Status::Status(Code code, std::string message) : code_(code) {
  if (!message.empty()) details().message = std::move(message);
}

Status::Status(const Status& other)
    : code_(other.code_), details_(other.details_ ? new Details(*other.details_) : nullptr) {}

void Status::Free::operator()(Details* details) const noexcept { delete details; }

Status::Details& Status::details() {
  if (!details_) details_.reset(new Details);
  return *details_;
}

const char MessagePart::kChar[1] = {}, MessagePart::kSigned[1] = {}, MessagePart::kUnsigned[1] = {};

void MessagePart::append_to(std::string& out) const {
  if (text_ == kChar) {
    out.push_back(static_cast<char>(value_));
  } else if (text_ == kSigned) {
    out.append(std::to_string(static_cast<int64_t>(value_)));
  } else if (text_ == kUnsigned) {
    out.append(std::to_string(value_));
  } else {
    out.append(text_, value_);
  }
}

std::string concat_parts(std::span<const MessagePart> parts) {
  std::string out;
  for (const MessagePart& part : parts) part.append_to(out);
  return out;
}

Status error_of(Code code, std::span<const MessagePart> parts) { return {code, concat_parts(parts)}; }

Status no_value() { return {Code::kInternal, "a result without a value: a defect of this library"}; }

Status&& Status::in(std::string_view context) && {
  details().message.insert(0, concat(context, ": "));
  return std::move(*this);
}

}  // namespace dataline
