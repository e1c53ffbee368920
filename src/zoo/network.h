// SPDX-License-Identifier: Apache-2.0
// Layers with seeded weights, and the multipliers that keep their outputs in range.
//
// Input    activations with the root mean square that they are expected to have, in
//          steps of their int8 numbers (zero point 0)
// Output   layers added to the writer; the output with its expected root mean square
// Errors   none
// Source   a sum of n products with independent random int8 weights (root mean square
//          74) has a spread of sqrt(n) * 74 * rms; multipliers bring it to kSpread
#ifndef SLUICE_ZOO_NETWORK_H_
#define SLUICE_ZOO_NETWORK_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/graph_writer.h"
#include "import/quantisation.h"

namespace sluice::zoo {

using import::Affine;
using import::Bytes;
using import::Dims;
using import::Extents;
using import::Factor;
using import::GraphWriter;
using import::Kind;
using import::kNoTensor;
using import::LookupTable;
using import::Normalised;
using import::QuantiseFactor;

struct Fmap {
  uint32_t tensor;
  Dims dims;
  double rms;
  bool positive = false;  // nothing below 0
};

// Same: outputs are ceil(in / stride), as TensorFlow pads. Valid: no padding.
enum class Padding { kSame, kValid };

struct Window {
  int32_t size, stride;
  Padding padding = Padding::kSame;
  int32_t width = size;
};

// factor times the sum over C of a [B,G,M,C] and b [B,G,C,K], or [B,G,K,C] transposed.
struct Product {
  Fmap a, b;
  bool transpose_b;
  int32_t a_zero;
  double factor;
};

class Network {
 public:
  static constexpr double kSpread = 32;        // of outputs, in steps
  static constexpr double kWeightSpread = 74;  // of uniform int8 numbers

  explicit Network(const std::string& name) : writer_(name) {}
  GraphWriter& writer() { return writer_; }

  Fmap Input(const std::string& name, Dims dims);
  uint32_t Weight(const std::string& name, Dims dims);
  Fmap Layer(const std::string& name, uint16_t op, std::vector<uint32_t> inputs,
             std::vector<int32_t> attributes, Dims dims, double rms);

  // int32 [channels, 3]: multipliers of about factor, biases up to bias_spread.
  uint32_t Parameters(int32_t channels, double factor, double bias_spread,
                      double gain_spread);

  // Makes `output` the graph's output and returns the graph's bytes.
  Bytes Finish(const Fmap& output);

 private:
  GraphWriter writer_;
  // Equal parameters are one tensor.
  std::map<std::pair<std::vector<int32_t>, int32_t>, uint32_t> parameters_;
};

Fmap Convolution(Network* net, const std::string& name, const Fmap& in,
                 int32_t channels, Window w, bool relu);
Fmap Depthwise(Network* net, const std::string& name, const Fmap& in, Window w,
               bool relu);
Fmap FullyConnected(Network* net, const std::string& name, const Fmap& in,
                    int32_t channels, bool relu);
Fmap FullyConnectedBy(Network* net, const std::string& name, const Fmap& in,
                      int32_t channels, uint32_t weight, bool relu);
// Padded as the window says.
Fmap PaddedMaxPool(Network* net, const std::string& name, const Fmap& in, Window w);
Fmap GlobalAveragePool(Network* net, const std::string& name, const Fmap& in);
// share: the part of the output's variance that comes from a.
Fmap Add(Network* net, const std::string& name, const Fmap& a, const Fmap& b,
         double share, bool relu);
// Concatenates along channels.
Fmap Concat(Network* net, const std::string& name, const std::vector<Fmap>& parts);
Fmap Matmul(Network* net, const std::string& name, const Product& product, Dims dims,
            double rms);
Fmap LayerNorm(Network* net, const std::string& name, const Fmap& in);
Fmap Reshape(Network* net, const std::string& name, const Fmap& in, Dims dims);

}  // namespace sluice::zoo

#endif  // SLUICE_ZOO_NETWORK_H_
