// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "cli/placement_csv.h"

namespace sluice::cli {
namespace {

constexpr double kWidth = 1200, kHeight = 600, kMargin = 24;

// What the picture shows: moments [begin, end), bytes [0, top).
struct Frame {
  double begin, end, top;

  double X(int64_t time) const {
    return kMargin + (static_cast<double>(time) - begin) / (end - begin) * kWidth;
  }
  double Y(int64_t byte) const {
    return kMargin + (1 - static_cast<double>(byte) / top) * kHeight;
  }
};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

// Bytes [low, high) in moments [begin, end).
struct Area {
  int64_t begin, end, low, high;
};

void Rectangle(const Frame& f, const Area& a, size_t index, const std::string& title,
               std::string* out) {
  if (a.begin >= a.end || a.low >= a.high) return;
  char text[256];
  std::snprintf(text, sizeof text,
                "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' "
                "fill='hsl(%u,55%%,70%%)'><title>",
                f.X(a.begin), f.Y(a.high), f.X(a.end) - f.X(a.begin),
                f.Y(a.low) - f.Y(a.high), static_cast<unsigned>(index * 137 % 360));
  *out += text;
  *out += title + "</title></rect>\n";
}

void Line(const Frame& f, int64_t byte, const char* colour, std::string* out) {
  char text[160];
  std::snprintf(text, sizeof text,
                "<line x1='%.0f' x2='%.0f' y1='%.2f' y2='%.2f' stroke='%s'/>\n",
                kMargin, kMargin + kWidth, f.Y(byte), f.Y(byte), colour);
  *out += text;
}

}  // namespace

std::string PlacementSvg(const PlacementTable& table,
                         const std::vector<int64_t>& offsets, int64_t capacity,
                         int64_t peak) {
  Frame f = {0, 1, static_cast<double>(std::max<int64_t>({capacity, peak, 1}))};
  for (size_t i = 0; i < table.buffers.size(); ++i) {
    const double begin = static_cast<double>(table.buffers[i].begin);
    const double end = static_cast<double>(table.buffers[i].end);
    f.begin = i == 0 ? begin : std::min(f.begin, begin);
    f.end = i == 0 ? end : std::max(f.end, end);
  }
  std::string out =
      "<svg xmlns='http://www.w3.org/2000/svg' width='1248' height='648' "
      "font-family='sans-serif' font-size='12'>\n"
      "<g stroke='#333' stroke-width='0.4'>\n";
  for (size_t i = 0; i < table.buffers.size(); ++i) {
    const sluice_buffer_t& b = table.buffers[i];
    const int64_t at = offsets[i];
    const std::string title = Escaped(table.ids[i]) + ": bytes " + std::to_string(at) +
                              ".." + std::to_string(at + b.bytes) + ", time " +
                              std::to_string(b.begin) + ".." + std::to_string(b.end);
    int64_t from = b.begin;
    for (uint32_t g = 0; g < b.gap_count; ++g) {
      const sluice_buffer_gap_t& gap = table.gaps[b.gap_begin + g];
      const Area before = {from, gap.begin, at, at + b.bytes};
      const Area within = {gap.begin, gap.end, at + gap.first_byte, at + gap.last_byte};
      Rectangle(f, before, i, title, &out);
      Rectangle(f, within, i, title, &out);
      from = gap.end;
    }
    Rectangle(f, {from, b.end, at, at + b.bytes}, i, title, &out);
  }
  out += "</g>\n";
  if (capacity > 0) Line(f, capacity, "#c00", &out);
  Line(f, peak, "#06c", &out);
  out += "<text x='24' y='16'>" + std::to_string(table.buffers.size()) +
         " buffers, peak " + std::to_string(peak) + " bytes" +
         (capacity > 0 ? ", capacity " + std::to_string(capacity) : "") +
         "</text>\n</svg>\n";
  return out;
}

}  // namespace sluice::cli
