// SPDX-License-Identifier: Apache-2.0
// Heat maps side by side: one panel per network, batch and machine.
//
// Input    cells with a value, or with the reason for which they have none; the two axes
// Output   SVG text: the same bytes for the same cells. In each panel the best value is
//          1, the others how many times worse; the colours are on a logarithmic scale.
// Errors   none
// Source   SoMa Fig. 7 (buffer against DRAM bandwidth)
#ifndef SLUICE_CLI_DSE_HEAT_MAP_H_
#define SLUICE_CLI_DSE_HEAT_MAP_H_

#include <string>
#include <vector>

namespace sluice::cli {

struct HeatCell {
  std::string panel, x, y;
  double value = 0;  // > 0, smaller is better; 0 = there is none
  std::string tip;   // shown when pointed at
};

struct HeatMaps {
  std::string title, x_title, y_title;
  std::vector<std::string> x, y;  // in this order, left to right and top to bottom
  std::vector<HeatCell> cells;
};

std::string HeatMapSvg(const HeatMaps& maps);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_DSE_HEAT_MAP_H_
