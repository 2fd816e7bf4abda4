// A packer written from the rules in core/source/packing, the slow and obvious way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace dataline {

struct ExpectedRow {
  std::vector<uint16_t> x;
  std::vector<int32_t> y, segment, position, borders;

  bool operator==(const ExpectedRow&) const = default;
};
struct PlainPiece {
  size_t document;
  int64_t first, count;
};
using Documents = std::vector<std::vector<uint16_t>>;
using PlainRows = std::vector<std::vector<PlainPiece>>;

inline PlainRows join_plainly(const Documents& documents, int64_t length) {
  PlainRows rows;
  int64_t room = 0;
  for (size_t d = 0; d < documents.size(); ++d) {
    const auto tokens = static_cast<int64_t>(documents[d].size());
    for (int64_t at = 0; at < tokens;) {
      if (room == 0) {
        rows.emplace_back();
        room = length;
      }
      const int64_t count = std::min(room, tokens - at);
      rows.back().push_back({d, at, count});
      at += count;
      room -= count;
    }
  }
  return rows;
}

inline PlainRows fit_plainly(const Documents& documents, int64_t length, size_t window) {
  PlainRows all;
  for (size_t first = 0; first < documents.size(); first += window) {
    const size_t end = std::min(first + window, documents.size());
    PlainRows rows;
    std::vector<PlainPiece> pieces;
    for (size_t d = first; d < end; ++d) {
      const auto tokens = static_cast<int64_t>(documents[d].size());
      int64_t at = 0;
      if (tokens > length) {
        for (; tokens - at >= length; at += length) rows.push_back({{d, at, length}});
      }
      if (at < tokens) pieces.push_back({d, at, tokens - at});
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const PlainPiece& a, const PlainPiece& b) { return a.count > b.count; });
    struct Open {
      int64_t room, since;
      std::vector<PlainPiece> pieces;
    };
    std::vector<Open> open;
    int64_t time = 0;
    for (const PlainPiece& piece : pieces) {
      Open* best = nullptr;
      for (Open& row : open) {
        if (row.room < piece.count) continue;
        if (best == nullptr || row.room < best->room || (row.room == best->room && row.since > best->since))
          best = &row;
      }
      if (best == nullptr) best = &open.emplace_back(Open{length, 0, {}});
      best->room -= piece.count;
      best->since = ++time;
      best->pieces.push_back(piece);
    }
    for (Open& row : open) {
      std::sort(row.pieces.begin(), row.pieces.end(),
                [](const PlainPiece& a, const PlainPiece& b) { return a.document < b.document; });
      rows.push_back(std::move(row.pieces));
    }
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::pair(a[0].document, a[0].first) < std::pair(b[0].document, b[0].first);
    });
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

inline ExpectedRow expected_row(const Documents& documents, const std::vector<PlainPiece>& pieces,
                                int64_t length) {
  ExpectedRow row;
  const auto add = [&](int64_t count, int32_t segment) {
    row.borders.push_back(static_cast<int32_t>(row.segment.size()));
    for (int64_t i = 0; i < count; ++i) {
      row.segment.push_back(segment);
      row.position.push_back(static_cast<int32_t>(i));
    }
  };
  for (const PlainPiece& piece : pieces) {
    const std::vector<uint16_t>& tokens = documents[piece.document];
    add(piece.count, static_cast<int32_t>(row.borders.size()) + 1);
    for (int64_t i = piece.first; i < piece.first + piece.count; ++i) {
      const auto next = static_cast<size_t>(i) + 1;
      row.x.push_back(tokens[next - 1]);
      row.y.push_back(next < tokens.size() ? tokens[next] : -100);
    }
  }
  const auto padding = length - static_cast<int64_t>(row.x.size());
  if (padding > 0) add(padding, 0);
  row.x.resize(static_cast<size_t>(length), 0);
  row.y.resize(static_cast<size_t>(length), -100);
  row.borders.push_back(static_cast<int32_t>(length));
  return row;
}

}  // namespace dataline
