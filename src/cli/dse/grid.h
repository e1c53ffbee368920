// SPDX-License-Identifier: Apache-2.0
// A grid of (network, batch, machine) points: what a sweep visits.
//
// Input    JSON text; see kGridHelp. Sizes as "8M", bandwidths in bytes per cycle as
//          numbers or "25/2".
// Output   the points in the order of the text: networks outermost, then batch,
//          hardware, `set`, buffer, bandwidth; each with its descriptor's bytes
// Errors   Failure(kBadInput) naming the key, the network, the field or the value
#ifndef SLUICE_CLI_DSE_GRID_H_
#define SLUICE_CLI_DSE_GRID_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/files.h"

namespace sluice::cli {

extern const char kGridHelp[];

// One column of the table: its name, and the value of a row.
struct GridValue {
  std::string column, value;
};

struct GridPoint {
  std::vector<GridValue> key;  // the same columns, in the same order, in all points
  std::string network;         // of the zoo, or a graph file
  int32_t batch;
  size_t hardware;          // index in Grid::hardware
  std::string panel, x, y;  // of the heat maps
};

struct Grid {
  std::vector<GridPoint> points;
  std::vector<Bytes> hardware;    // descriptors
  std::vector<std::string> x, y;  // axes of a heat map, as they are written
  std::string x_title, y_title;
  int32_t seq = 0, context = 0, blocks = 0;
  uint32_t solver = 0;  // SLUICE_SOLVER_
  uint32_t energy_exponent = 1, delay_exponent = 1;
  uint64_t iterations = 0, deadline_ns = 0, seed = 0;
};

// version: of the library; results of another version are not reused.
Grid ParseGrid(const std::string& text, const std::string& version);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_DSE_GRID_H_
