// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "cli/plot.h"

namespace sluice::cli {
namespace {

// Bars at least this wide are drawn by themselves.
constexpr double kOwnPixels = 1.5;
// Gaps up to this wide close between neighbours of one colour.
constexpr double kGapPixels = 0.5;

// Collects the narrow bars of one pixel column.
class Column {
 public:
  bool empty() const { return sum_.count == 0; }
  uint64_t pixel() const { return pixel_; }

  void Add(const PlotBar& bar, uint64_t pixel) {
    if (empty()) {
      pixel_ = pixel;
      sum_.start = bar.start;
    }
    sum_.end = bar.end;
    sum_.busy += bar.busy;
    sum_.count += bar.count;
    sum_.bytes += bar.bytes;
    share_[{bar.layer, bar.pale}] += bar.busy;
  }

  PlotBar Take() {
    const auto most = std::max_element(
        share_.begin(), share_.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    PlotBar bar = sum_;
    bar.layer = most->first.first;
    bar.pale = most->first.second;
    *this = Column();
    return bar;
  }

 private:
  uint64_t pixel_ = 0;
  PlotBar sum_ = {0, 0, kPlotNoLayer, false, 0, 0, 0};
  std::map<std::pair<uint32_t, bool>, uint64_t> share_;
};

// Appends, or joins the last one when both are aggregates of one colour.
void AppendAggregate(const PlotBar& bar, double pixels_per_cycle, bool* joinable,
                     std::vector<PlotBar>* out) {
  if (*joinable && !out->empty()) {
    PlotBar& last = out->back();
    const double gap = static_cast<double>(bar.start - last.end) * pixels_per_cycle;
    if (last.layer == bar.layer && last.pale == bar.pale && gap <= kGapPixels) {
      last.end = bar.end;
      last.busy += bar.busy;
      last.count += bar.count;
      last.bytes += bar.bytes;
      return;
    }
  }
  out->push_back(bar);
  *joinable = true;
}

}  // namespace

std::vector<PlotBar> DrawableBars(const std::vector<PlotBar>& bars, uint64_t from,
                                  uint64_t to, double pixels_per_cycle) {
  std::vector<PlotBar> out;
  Column column;
  bool joinable = false;  // the last of `out` is an aggregate
  for (PlotBar bar : bars) {
    if (bar.end <= from || bar.start >= to) continue;
    bar.start = std::max(bar.start, from);
    bar.end = std::min(bar.end, to);
    bar.busy = std::min(bar.busy, bar.end - bar.start);
    const double width = static_cast<double>(bar.end - bar.start) * pixels_per_cycle;
    const uint64_t pixel =
        static_cast<uint64_t>(static_cast<double>(bar.start - from) * pixels_per_cycle);
    if (!column.empty() && (width >= kOwnPixels || column.pixel() != pixel)) {
      AppendAggregate(column.Take(), pixels_per_cycle, &joinable, &out);
    }
    if (width >= kOwnPixels) {
      out.push_back(bar);
      joinable = false;
    } else {
      column.Add(bar, pixel);
    }
  }
  if (!column.empty()) {
    AppendAggregate(column.Take(), pixels_per_cycle, &joinable, &out);
  }
  return out;
}

std::vector<PlotPiece> DrawablePieces(const std::vector<PlotPiece>& pieces,
                                      uint64_t from, uint64_t to,
                                      double pixels_per_cycle) {
  using Place = std::tuple<uint64_t, uint64_t, uint32_t, bool, bool>;
  std::map<Place, size_t> last;  // index in out
  std::vector<PlotPiece> out;
  for (PlotPiece piece : pieces) {
    if (piece.end <= from || piece.start >= to) continue;
    piece.start = std::max(piece.start, from);
    piece.end = std::min(piece.end, to);
    const Place place = {piece.low, piece.high, piece.layer, piece.pale, piece.loaded};
    const auto [entry, is_new] = last.try_emplace(place, out.size());
    if (!is_new) {
      PlotPiece& before = out[entry->second];
      const double gap =
          piece.start <= before.end
              ? 0
              : static_cast<double>(piece.start - before.end) * pixels_per_cycle;
      const double width =
          static_cast<double>(piece.end - piece.start) * pixels_per_cycle;
      if (gap <= kGapPixels && width < kOwnPixels) {
        before.end = std::max(before.end, piece.end);
        continue;
      }
      entry->second = out.size();
    }
    out.push_back(piece);
  }
  return out;
}

}  // namespace sluice::cli
