// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/plot.h"
#include "cli/report.h"

namespace sluice::cli {

std::string XmlEscaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:  // control characters are not XML; other bytes are taken as UTF-8
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

namespace {

constexpr double kLeft = 96, kRight = 24, kTop = 54;
constexpr double kLane = 26, kLaneGap = 3, kRowGap = 14, kBuffer = 240, kAxis = 34;
constexpr double kTextWidth = 6.1;  // of one character at 11 px, about
constexpr size_t kLegendLayers = 40, kLegendName = 64;

// Hue by golden ratio: neighbours in the graph differ most. Integers only.
std::string ColourOf(uint32_t layer, bool pale) {
  if (layer == kPlotNoLayer) return pale ? "#d5d5d5" : "#9a9a9a";
  const uint32_t hue = (210 + layer * 137u + layer / 8 * 13u) % 360;
  const int high = pale ? 236 : layer % 2 == 0 ? 214 : 188;
  const int low = pale ? 196 : layer % 2 == 0 ? 96 : 70;
  const int rest = static_cast<int>(hue % 60);
  const int rising = low + (high - low) * rest / 60;
  const int falling = high - (high - low) * rest / 60;
  const int table[6][3] = {{high, rising, low}, {falling, high, low},
                           {low, high, rising}, {low, falling, high},
                           {rising, low, high}, {high, low, falling}};
  const int* rgb = table[hue / 60];
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
  return text;
}

// 1, 2 or 5 times a power of ten, not below `least`.
uint64_t RoundStep(double least) {
  uint64_t step = 1;
  while (true) {
    for (const uint64_t factor : {1, 2, 5}) {
      if (static_cast<double>(step * factor) >= least) return step * factor;
    }
    step *= 10;
  }
}

// A picture under construction: the plan that is drawn, and the XML elements so far.
struct Drawing {
  Drawing(const Plot& shown, const PlotView& view)
      : plot(shown),
        from(view.from),
        to(view.to == 0 ? std::max<uint64_t>(shown.cycles, 1) : view.to),
        width(view.width),
        scale((width - kLeft - kRight) / static_cast<double>(to - from)) {}

  const Plot& plot;
  const uint64_t from, to;    // cycles
  const double width, scale;  // pixels; pixels of a cycle
  double y = kTop;            // upper edge of the next element
  double chart_bottom = 0;
  std::string body;
};

double XOf(const Drawing& d, uint64_t cycle) {
  return kLeft + static_cast<double>(cycle - d.from) * d.scale;
}

std::string Label(double x, double y, const std::string& text,
                  const std::string& style) {
  return "<text x=\"" + Fixed(x, 2) + "\" y=\"" + Fixed(y, 2) + "\"" +
         (style.empty() ? "" : " ") + style + ">" + XmlEscaped(text) + "</text>\n";
}

std::string LayerName(const Drawing& d, uint32_t layer) {
  if (layer == kPlotNoLayer) return "no layer";
  const std::string number = "L" + std::to_string(layer);
  return layer < d.plot.layer_names.size() ? number + " " + d.plot.layer_names[layer]
                                           : number;
}

// As much of "L3 name (op)" as fits: all, "L3 op", "L3" or nothing.
std::string FittingName(const Drawing& d, uint32_t layer, double width) {
  if (layer == kPlotNoLayer) return {};
  const std::string name = LayerName(d, layer);
  const std::string number = name.substr(0, name.find(' '));
  const size_t op = name.rfind('(');
  const std::string brief =
      op == std::string::npos
          ? number
          : number + " " + name.substr(op + 1, name.size() - op - 2);
  for (const std::string& text : {name, brief, number}) {
    if (static_cast<double>(text.size()) * kTextWidth + 6 <= width) return text;
  }
  return {};
}

struct Box {
  double x, y, width, height;  // from the upper left corner
};

// Writes the layer's name in the middle of a filled box, in a contrasting colour.
void Inscribe(Drawing* d, const Box& box, uint32_t layer, const std::string& fill) {
  const std::string text = FittingName(*d, layer, box.width);
  if (text.empty()) return;
  const unsigned long rgb = std::stoul(fill.substr(1), nullptr, 16);
  const unsigned long light =
      (rgb >> 16) * 3 + (rgb >> 8 & 255) * 6 + (rgb & 255);  // of 2550
  d->body += Label(box.x + box.width / 2, box.y + box.height / 2 + 4, text,
                   std::string("text-anchor=\"middle\" pointer-events=\"none\"") +
                       (light < 1150 ? " fill=\"#ffffff\"" : ""));
}

std::string Interval(uint64_t start, uint64_t end) {
  return "cycles " + Grouped(start) + " to " + Grouped(end);
}

// `more`: further attributes of the rectangle; `tip`: the text shown under the pointer.
void DrawBox(Drawing* d, const Box& box, const std::string& fill,
             const std::string& more, const std::string& tip) {
  d->body += "<rect x=\"" + Fixed(box.x, 2) + "\" y=\"" + Fixed(box.y, 2) +
             "\" width=\"" + Fixed(box.width, 2) + "\" height=\"" +
             Fixed(box.height, 2) + "\" fill=\"" + fill + "\"" + more + "><title>" +
             XmlEscaped(tip) + "</title></rect>\n";
}

void DrawBars(Drawing* d, const std::string& row, const PlotLane& lane) {
  d->body += "<g class=\"lane\">\n";
  for (const PlotBar& bar : DrawableBars(lane.bars, d->from, d->to, d->scale)) {
    const double width = static_cast<double>(bar.end - bar.start) * d->scale;
    const Box box = {XOf(*d, bar.start), d->y, width, kLane};
    std::string tip = row + (lane.name.empty() ? "" : " " + lane.name) + ": " +
                      LayerName(*d, bar.layer) + "\n";
    tip += bar.count == 1
               ? Interval(bar.start, bar.end)
               : Grouped(bar.count) + " instructions, " + Interval(bar.start, bar.end);
    if (bar.bytes != 0) tip += ", " + Grouped(bar.bytes) + " bytes";
    if (bar.pale) tip += " of constants";
    std::string more;
    const double share =
        static_cast<double>(bar.busy) / static_cast<double>(bar.end - bar.start);
    if (bar.count > 1) {
      tip += ", busy " + Fixed(100 * share, 0) + " %";
      more = " fill-opacity=\"" + Fixed(0.35 + 0.65 * share, 2) + "\"";
    } else if (width >= 4) {
      more = " stroke=\"#ffffff\" stroke-width=\"0.6\"";
    }
    const std::string fill = ColourOf(bar.layer, bar.pale);
    DrawBox(d, box, fill, more, tip);
    Inscribe(d, box, bar.layer, bar.count > 1 && share < 0.7 ? "#ffffff" : fill);
  }
  d->body += "</g>\n";
}

void DrawRows(Drawing* d) {
  for (const PlotRow& row : d->plot.rows) {
    d->body += Label(8, d->y + 17, row.name, "font-weight=\"bold\"");
    for (const PlotLane& lane : row.lanes) {
      d->body +=
          Label(kLeft - 8, d->y + 17, lane.name, "text-anchor=\"end\" fill=\"#555\"");
      d->body += "<rect x=\"" + Fixed(kLeft, 2) + "\" y=\"" + Fixed(d->y, 2) +
                 "\" width=\"" + Fixed(d->width - kLeft - kRight, 2) + "\" height=\"" +
                 Fixed(kLane, 2) + "\" fill=\"#f4f4f4\" fill-opacity=\"0.6\"/>\n";
      DrawBars(d, row.name, lane);
      d->y += kLane + kLaneGap;
    }
    d->y += kRowGap;
  }
}

void DrawAddressTicks(Drawing* d, uint64_t top_byte) {
  uint64_t step = 1;
  while (static_cast<double>(top_byte) / static_cast<double>(step) > 6) step *= 2;
  for (uint64_t byte = 0; byte <= top_byte; byte += step) {
    const double y = d->y + kBuffer * (1 - static_cast<double>(byte) /
                                               static_cast<double>(top_byte));
    d->body += "<line x1=\"" + Fixed(kLeft - 4, 2) + "\" x2=\"" +
               Fixed(d->width - kRight, 2) + "\" y1=\"" + Fixed(y, 2) + "\" y2=\"" +
               Fixed(y, 2) + "\" stroke=\"#cccccc\" stroke-width=\"0.5\"/>\n";
    if (y < d->y + 22) continue;  // would cover the row's name
    d->body +=
        Label(kLeft - 8, y + 4, BytesText(byte), "text-anchor=\"end\" fill=\"#555\"");
  }
}

void DrawPieces(Drawing* d, const PlotBuffer& buffer, uint64_t top_byte) {
  const double per_byte = kBuffer / static_cast<double>(top_byte);
  d->body += "<g class=\"buffer\">\n";
  for (const PlotPiece& p : DrawablePieces(buffer.pieces, d->from, d->to, d->scale)) {
    const double width = std::max(static_cast<double>(p.end - p.start) * d->scale, 0.3);
    const double height = static_cast<double>(p.high - p.low) * per_byte;
    const double y = d->y + kBuffer - static_cast<double>(p.high) * per_byte;
    const Box box = {XOf(*d, p.start), y, width, height};
    const std::string tip = buffer.name + ": " +
                            (p.pale     ? "constants for "
                             : p.loaded ? "loaded for "
                                        : "written by ") +
                            LayerName(*d, p.layer) + "\nbytes " + Grouped(p.low) +
                            " to " + Grouped(p.high) + " (" +
                            BytesText(p.high - p.low) + "), " +
                            Interval(p.start, p.end);
    std::string more;
    if (width >= 4 && height >= 3) more = " stroke=\"#ffffff\" stroke-width=\"0.6\"";
    if (p.loaded && !p.pale) more += " fill-opacity=\"0.55\"";
    // Loaded bytes are drawn half transparent, as light as constants.
    const std::string fill = ColourOf(p.layer, p.pale);
    DrawBox(d, box, fill, more, tip);
    if (height >= 13) Inscribe(d, box, p.layer, p.loaded ? "#ffffff" : fill);
  }
  d->body += "</g>\n";
}

void DrawBuffers(Drawing* d) {
  for (const PlotBuffer& buffer : d->plot.buffers) {
    uint64_t peak = 1;
    for (const PlotPiece& piece : buffer.pieces) peak = std::max(peak, piece.high);
    // A scratchpad that is less than a quarter full is drawn up to its peak only.
    const uint64_t top_byte = buffer.capacity >= peak && buffer.capacity / 4 < peak
                                  ? buffer.capacity
                                  : peak + peak / 16;
    d->body += Label(8, d->y + 12, buffer.name, "font-weight=\"bold\"");
    DrawAddressTicks(d, top_byte);
    DrawPieces(d, buffer, top_byte);
    const double y = d->y + kBuffer * (1 - static_cast<double>(peak) /
                                               static_cast<double>(top_byte));
    d->body += "<line x1=\"" + Fixed(kLeft, 2) + "\" x2=\"" +
               Fixed(d->width - kRight, 2) + "\" y1=\"" + Fixed(y, 2) + "\" y2=\"" +
               Fixed(y, 2) + "\" stroke=\"#b00020\" stroke-dasharray=\"5 3\"><title>" +
               XmlEscaped("highest byte in use: " + Grouped(peak) + " of " +
                          Grouped(buffer.capacity)) +
               "</title></line>\n";
    d->body += Label(d->width - kRight, y - 4,
                     "peak " + BytesText(peak) + " of " + BytesText(buffer.capacity),
                     "text-anchor=\"end\" fill=\"#b00020\"");
    d->y += kBuffer + kRowGap;
  }
  d->y -= kRowGap;
  d->chart_bottom = d->y;
  d->y += kAxis;
}

// Lines and numbers of the time axis; drawn below all bars.
std::string GridText(const Drawing& d) {
  std::string out;
  const uint64_t step = RoundStep(90 / d.scale);
  for (uint64_t t = (d.from + step - 1) / step * step; t <= d.to; t += step) {
    out += "<line x1=\"" + Fixed(XOf(d, t), 2) + "\" x2=\"" + Fixed(XOf(d, t), 2) +
           "\" y1=\"" + Fixed(kTop, 2) + "\" y2=\"" + Fixed(d.chart_bottom + 5, 2) +
           "\" stroke=\"#dddddd\" stroke-width=\"0.8\"/>\n";
    const std::string number = Grouped(t);
    const double half = static_cast<double>(number.size()) * kTextWidth / 2;
    out += Label(std::min(XOf(d, t), d.width - 4 - half), d.chart_bottom + 18, number,
                 "text-anchor=\"middle\" fill=\"#555\"");
    if (UINT64_MAX - t < step) break;
  }
  out += Label(8, d.chart_bottom + 4, "cycles", "fill=\"#555\"");
  return out;
}

// Layers that are visible in the drawn range, in the order of the graph.
std::vector<uint32_t> ShownLayers(const Drawing& d) {
  std::map<uint32_t, bool> seen;
  for (const PlotRow& row : d.plot.rows) {
    for (const PlotLane& lane : row.lanes) {
      for (const PlotBar& bar : lane.bars) {
        if (bar.end > d.from && bar.start < d.to) seen[bar.layer] = true;
      }
    }
  }
  std::vector<uint32_t> layers;
  for (const auto& [layer, shown] : seen) layers.push_back(layer);
  return layers;
}

// Draws the legend of shades.
void DrawKey(Drawing* d) {
  struct Shade {
    const char* text;
    bool pale;
    const char* more;
  };
  const Shade shades[] = {
      {"written by the layer", false, ""},
      {"loaded for the layer (BUFFER)", false, " fill-opacity=\"0.55\""},
      {"constants: weights, parameters, tables", true, ""}};
  double x = kLeft;
  for (const Shade& shade : shades) {
    DrawBox(d, {x, d->y, 12, 12}, ColourOf(0, shade.pale), shade.more, shade.text);
    d->body += Label(x + 17, d->y + 10, shade.text, "fill=\"#555\"");
    x += static_cast<double>(std::string(shade.text).size()) * kTextWidth + 40;
  }
  d->body += "<line x1=\"" + Fixed(x, 2) + "\" x2=\"" + Fixed(x + 24, 2) + "\" y1=\"" +
             Fixed(d->y + 6, 2) + "\" y2=\"" + Fixed(d->y + 6, 2) +
             "\" stroke=\"#b00020\" stroke-dasharray=\"5 3\"/>\n";
  d->body += Label(x + 30, d->y + 10, "highest byte in use", "fill=\"#555\"");
  d->y += 24;
}

void DrawLegend(Drawing* d) {
  DrawKey(d);
  const std::vector<uint32_t> layers = ShownLayers(*d);
  const size_t shown = std::min(layers.size(), kLegendLayers);
  size_t longest = 0;
  for (size_t i = 0; i < shown; ++i) {
    longest = std::max(longest,
                       std::min<size_t>(LayerName(*d, layers[i]).size(), kLegendName));
  }
  const double cell = static_cast<double>(longest) * kTextWidth + 34;
  const size_t columns =
      std::max<size_t>(1, static_cast<size_t>((d->width - kLeft - kRight) / cell));
  for (size_t i = 0; i < shown; ++i) {
    const double x = kLeft + static_cast<double>(i % columns) * cell;
    const double y = d->y + static_cast<double>(i / columns) * 18;
    std::string name = LayerName(*d, layers[i]);
    if (name.size() > kLegendName) {
      name = name.substr(0, 5) + "..." + name.substr(name.size() - kLegendName + 8);
    }
    DrawBox(d, {x, y, 12, 12}, ColourOf(layers[i], false), "",
            LayerName(*d, layers[i]));
    d->body += Label(x + 17, y + 10, name, "");
  }
  d->y += static_cast<double>((shown + columns - 1) / columns) * 18 + 6;
  if (shown < layers.size()) {
    d->body += Label(kLeft, d->y + 6,
                     "and " + std::to_string(layers.size() - shown) + " layers more",
                     "fill=\"#555\"");
    d->y += 16;
  }
  d->y += 8;
}

std::string SvgOf(Drawing* d) {
  DrawRows(d);
  DrawBuffers(d);
  DrawLegend(d);
  std::string head = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                     Fixed(d->width, 0) + "\" height=\"" + Fixed(d->y, 0) +
                     "\" viewBox=\"0 0 " + Fixed(d->width, 0) + " " + Fixed(d->y, 0) +
                     "\" font-family=\"Helvetica,Arial,sans-serif\" "
                     "font-size=\"11\" fill=\"#222\">\n";
  head += "<title>" + XmlEscaped(d->plot.title) + "</title>\n";
  head += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  head += Label(kLeft, 22, d->plot.title, "font-size=\"15\" font-weight=\"bold\"");
  head += Label(kLeft, 40, d->plot.subtitle, "fill=\"#555\"");
  return head + GridText(*d) + d->body + "</svg>\n";
}

}  // namespace

std::string PlotSvg(const Plot& plot, const PlotView& view) {
  Drawing drawing(plot, view);
  return SvgOf(&drawing);
}

std::string PlotHtml(const Plot& plot, const PlotView& view) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>" +
         XmlEscaped(plot.title) +
         "</title></head>\n<body style=\"margin:0;overflow-x:auto\">\n" +
         PlotSvg(plot, view) + "</body>\n</html>\n";
}

}  // namespace sluice::cli
