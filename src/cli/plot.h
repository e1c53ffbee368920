// SPDX-License-Identifier: Apache-2.0
// A plan over time as a picture: engines as rows of bars, scratchpads as address maps.
//
// Input    bars of one lane ascending and disjoint in time; cycles half-open, bytes
// Output   SVG text: the same bytes for the same plot
// Errors   none
// Cost     bars and pieces; the text grows with the width in pixels, not with the plan
// Source   SoMa Fig. 4 and 8 (DRAM, COMPUTE and BUFFER rows); the aggregation is ours
#ifndef SLUICE_CLI_PLOT_H_
#define SLUICE_CLI_PLOT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::cli {

constexpr uint32_t kPlotNoLayer = 0xffffffffu;

// Some instructions of one engine. `pale`: moves constants (weights, tables).
struct PlotBar {
  uint64_t start = 0, end = 0;
  uint32_t layer = kPlotNoLayer;
  bool pale = false;
  uint64_t busy = 0;   // cycles of [start, end) in which the engine works
  uint64_t count = 1;  // instructions
  uint64_t bytes = 0;  // moved
};

struct PlotLane {
  std::string name;  // "load"
  std::vector<PlotBar> bars;
};

struct PlotRow {
  std::string name;  // "DRAM"
  std::vector<PlotLane> lanes;
};

// Bytes [low, high) of a scratchpad hold something from its first write to its last
// use.
struct PlotPiece {
  uint64_t low = 0, high = 0;
  uint64_t start = 0, end = 0;
  uint32_t layer = kPlotNoLayer;  // that wrote the bytes or needs them
  bool pale = false;
  bool loaded = false;
  // For loaded bytes: SLUICE_REGION_ and the first byte there.
  uint32_t source_region = 0;
  uint64_t source = 0;
};

struct PlotBuffer {
  std::string name;  // "BUFFER"
  uint64_t capacity = 0;
  std::vector<PlotPiece> pieces;
};

struct Plot {
  std::string title, subtitle;
  uint64_t cycles = 0;
  std::vector<PlotRow> rows;
  std::vector<PlotBuffer> buffers;
  std::vector<std::string> layer_names;
};

struct PlotView {
  uint64_t from = 0, to = 0;  // cycles shown; to 0 = the end
  uint32_t width = 1400;      // pixels
};

// Bars of [from, to) as they can be drawn: those narrower than a pixel together with
// their neighbours, in the colour of the layer that works longest. Ascending, disjoint.
std::vector<PlotBar> DrawableBars(const std::vector<PlotBar>& bars, uint64_t from,
                                  uint64_t to, double pixels_per_cycle);

// As DrawableBars, for pieces: pieces of one layer at one address are merged where the
// gap between them is below a pixel.
std::vector<PlotPiece> DrawablePieces(const std::vector<PlotPiece>& pieces,
                                      uint64_t from, uint64_t to,
                                      double pixels_per_cycle);

// Escapes text for an element or a quoted attribute.
std::string XmlEscaped(const std::string& text);

std::string PlotSvg(const Plot& plot, const PlotView& view);
// The SVG in an HTML page that scrolls.
std::string PlotHtml(const Plot& plot, const PlotView& view);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLOT_H_
