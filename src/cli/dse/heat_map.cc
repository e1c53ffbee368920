// SPDX-License-Identifier: Apache-2.0
#include "cli/dse/heat_map.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/plot.h"
#include "cli/report.h"

namespace sluice::cli {
namespace {

constexpr double kCellWidth = 58, kCellHeight = 30, kMargin = 24, kHead = 60;
constexpr double kPanelHead = 26, kPanelFoot = 34, kYLabels = 78;
constexpr size_t kPanelsPerRow = 4;
constexpr double kWorst = 16;  // times the best; the darkest colour

struct Panel {
  std::string name;
  double best = 0;
};

std::vector<Panel> PanelsOf(const HeatMaps& maps) {
  std::vector<Panel> panels;
  for (const HeatCell& cell : maps.cells) {
    auto panel = std::find_if(panels.begin(), panels.end(),
                              [&](const Panel& p) { return p.name == cell.panel; });
    if (panel == panels.end()) panel = panels.insert(panels.end(), {cell.panel, 0});
    if (cell.value > 0 && (panel->best == 0 || cell.value < panel->best)) {
      panel->best = cell.value;
    }
  }
  return panels;
}

// Pale yellow (best) over orange to dark red.
std::string ColourOf(double ratio) {
  static const int stops[4][3] = {
      {255, 245, 204}, {253, 187, 99}, {222, 90, 46}, {110, 10, 30}};
  const double share =
      std::min(1.0, std::log(std::max(1.0, ratio)) / std::log(kWorst)) * 3;
  const int low = std::min(2, static_cast<int>(share));
  const double part = share - low;
  int rgb[3];
  for (int i = 0; i < 3; ++i) {
    rgb[i] = static_cast<int>(
        std::lround(stops[low][i] + part * (stops[low + 1][i] - stops[low][i])));
  }
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255,
                rgb[2] & 255);
  return text;
}

std::string Label(double x, double y, const std::string& text,
                  const std::string& style) {
  return "<text x=\"" + Fixed(x, 1) + "\" y=\"" + Fixed(y, 1) + "\" " + style + ">" +
         XmlEscaped(text) + "</text>\n";
}

class Drawing {
 public:
  explicit Drawing(const HeatMaps& maps)
      : maps_(maps),
        panels_(PanelsOf(maps)),
        width_(kYLabels + kCellWidth * static_cast<double>(maps.x.size()) + kMargin),
        height_(kPanelHead + kCellHeight * static_cast<double>(maps.y.size()) +
                kPanelFoot) {}

  std::string Text() {
    for (size_t i = 0; i < panels_.size(); ++i) DrawPanel(i);
    const size_t columns = std::min(panels_.size(), kPanelsPerRow);
    const size_t rows = (panels_.size() + kPanelsPerRow - 1) / kPanelsPerRow;
    const double width =
        std::max(520.0, kMargin + width_ * static_cast<double>(columns));
    const double height = kHead + height_ * static_cast<double>(rows) + 40;
    const std::string size =
        "width=\"" + Fixed(width, 0) + "\" height=\"" + Fixed(height, 0) + "\"";
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " viewBox=\"0 0 " +
           Fixed(width, 0) + " " + Fixed(height, 0) +
           "\" font-family=\"Helvetica,Arial,sans-serif\" font-size=\"11\" "
           "fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
           Label(kMargin, 26, maps_.title, "font-size=\"15\" font-weight=\"bold\"") +
           Label(kMargin, 44,
                 maps_.x_title + " (across) and " + maps_.y_title +
                     " (down); 1 = best of each panel",
                 "fill=\"#555\"") +
           body_ + Scale(height - 26) + "</svg>\n";
  }

 private:
  void DrawPanel(size_t index) {
    const Panel& panel = panels_[index];
    const double left = kMargin + width_ * static_cast<double>(index % kPanelsPerRow);
    const double top = kHead + height_ * static_cast<double>(index / kPanelsPerRow);
    const double cells_left = left + kYLabels, cells_top = top + kPanelHead;
    body_ += "<g class=\"panel\">\n";
    body_ += Label(left, top + 16, panel.name, "font-weight=\"bold\"");
    for (size_t i = 0; i < maps_.y.size(); ++i) {
      body_ += Label(cells_left - 6,
                     cells_top + kCellHeight * (static_cast<double>(i) + 0.5) + 4,
                     maps_.y[i], "text-anchor=\"end\"");
    }
    for (size_t i = 0; i < maps_.x.size(); ++i) {
      body_ += Label(cells_left + kCellWidth * (static_cast<double>(i) + 0.5),
                     cells_top + kCellHeight * static_cast<double>(maps_.y.size()) + 14,
                     maps_.x[i], "text-anchor=\"middle\"");
    }
    for (const HeatCell& cell : maps_.cells) {
      if (cell.panel == panel.name) DrawCell(cell, panel.best, cells_left, cells_top);
    }
    body_ += "</g>\n";
  }

  void DrawCell(const HeatCell& cell, double best, double left, double top) {
    const auto place = [](const std::vector<std::string>& axis, const std::string& at) {
      return static_cast<double>(std::find(axis.begin(), axis.end(), at) -
                                 axis.begin());
    };
    const double x = left + kCellWidth * place(maps_.x, cell.x);
    const double y = top + kCellHeight * place(maps_.y, cell.y);
    const double ratio = cell.value > 0 ? cell.value / best : 0;
    body_ += "<rect x=\"" + Fixed(x, 1) + "\" y=\"" + Fixed(y, 1) + "\" width=\"" +
             Fixed(kCellWidth - 1, 1) + "\" height=\"" + Fixed(kCellHeight - 1, 1) +
             "\" fill=\"" + (ratio > 0 ? ColourOf(ratio) : "#dddddd") + "\"><title>" +
             XmlEscaped(cell.tip) + "</title></rect>\n";
    const std::string text = ratio <= 0    ? "none"
                             : ratio < 100 ? Fixed(ratio, 2)
                                           : Fixed(ratio, 0);
    body_ += Label(x + kCellWidth / 2, y + kCellHeight / 2 + 4, text,
                   std::string("text-anchor=\"middle\" pointer-events=\"none\"") +
                       (ratio > 5 ? " fill=\"#ffffff\"" : ""));
  }

  static std::string Scale(double y) {
    std::string text;
    double x = kMargin;
    for (double ratio = 1; ratio <= kWorst; ratio *= 2) {
      text += "<rect x=\"" + Fixed(x, 1) + "\" y=\"" + Fixed(y, 1) +
              "\" width=\"18\" height=\"12\" fill=\"" + ColourOf(ratio) + "\"/>\n";
      text += Label(x + 24, y + 10, Fixed(ratio, 0) + (ratio == kWorst ? "+" : ""), "");
      x += 58;
    }
    return text + "<rect x=\"" + Fixed(x, 1) + "\" y=\"" + Fixed(y, 1) +
           "\" width=\"18\" height=\"12\" fill=\"#dddddd\"/>\n" +
           Label(x + 24, y + 10, "no plan", "");
  }

  const HeatMaps& maps_;
  std::vector<Panel> panels_;
  double width_, height_;
  std::string body_;
};

}  // namespace

std::string HeatMapSvg(const HeatMaps& maps) { return Drawing(maps).Text(); }

}  // namespace sluice::cli
