// SPDX-License-Identifier: Apache-2.0
// What outputs become where a machine makes bytes of some sums in its own way, instead of by
// the multipliers and shifts of ops.h: by one float, or by any function.
//
// Input    a graph, a seed of its inputs as for a run; boxes of layers' outputs
// Output   how many bytes of the graph's outputs differ from the untiled run, and by how much
// Errors   a sentence in error()
// Cost     two untiled runs
#ifndef SLUICE_FIRMWARE_SIM_SCALED_H_
#define SLUICE_FIRMWARE_SIM_SCALED_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice_sim {

struct SimulateOptions;

// Sums of this box plus the biases, times the scale, to the nearest even number; at least 0
// with relu; then the nearest int8. Or what `make` makes of the sum plus the bias.
struct ScaledBox {
  uint32_t layer = 0;
  std::array<int64_t, 4> begin{}, extent{};  // of the layer's output, N H W K
  float scale = 1;
  bool relu = false;
  std::vector<int32_t> biases;  // by channel of the box: all that is added before
  std::function<int32_t(int64_t channel, int32_t sum)> make = nullptr;
};

struct ScaledDifference {
  int64_t compared_bytes = 0, mismatches = 0;
  int64_t most = 0;  // steps between two bytes
};

class ScaledRun {
 public:
  explicit ScaledRun(const SimulateOptions& options);
  ~ScaledRun();
  const std::string& error() const;
  // (bias, multiplier, shift) of the layer's output channels from `channel` on; nullptr: it
  // has none.
  const int32_t (*Parameters(uint32_t layer, int64_t channel) const)[3];
  void Add(ScaledBox box);
  ScaledDifference Compare();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_SCALED_H_
