// SPDX-License-Identifier: Apache-2.0
// Says a graph's products in the form that a machine's units take.
//
// A machine may multiply int8 alone, and without a zero point of what is multiplied by. A
// product that it would leave to its host is rewritten where another form of it, which computes
// the same integers, is taken:
//   uint8 activations   become int8 ones, 128 less, with zero points 128 less
//   weights             less their zero point; where 8 bits do not hold that, as two weights on
//                       an input that is there twice
//   BATCH_MATMUL        of b less its zero point: b, and below it rows that are minus the zero
//                       point, by a twice side by side
//   TRANSPOSED_CONV     a CONV whose channels are those of stride x stride pixels, which then
//                       trade places
//   DEPTHWISE_CONV      of a window as large as its image, and larger than the machine's: the
//                       same pixels in the form that is nearest to a square
// Layers that the machine takes stay as they are.
//
// Input    hardware.fbs bytes; the rows of a whole graph, layers in topological order
// Output   the same graph with other layers; inputs, outputs, states and parameters as they
//          were, every output with the same bytes
// Errors   Error(kBadInput): no hardware descriptor; those of CheckGraph; Error(kTooLarge):
//          constants beyond the limit
// Cost     linear in layers and weights; the graph is there twice for a while
#ifndef SLUICE_IMPORT_MACHINE_FIT_H_
#define SLUICE_IMPORT_MACHINE_FIT_H_

#include "import/graph_writer.h"

namespace sluice::import {

// What a product asks of a machine's `ops` rows (hardware.fbs).
struct UnitNeeds {
  uint16_t op;
  uint32_t dtypes, zero_points;  // as OpSupport has them
  uint32_t kernel_h, kernel_w, stride, dilation;
};

class Units {
 public:
  explicit Units(const Bytes& hardware);
  // Whether the machine names what its units do; else they do everything.
  bool IsPartial() const { return !rows_.empty(); }
  bool Takes(const UnitNeeds& needs) const;

 private:
  struct Row {
    UnitNeeds most;
    bool any_scale;
  };
  std::vector<Row> rows_;
};

bool IsProduct(uint16_t op);
UnitNeeds NeedsOf(const GraphWriter& graph, const LayerRow& layer);
// Rows and columns of a depthwise convolution's window, which reads its whole image at once, in
// the form nearest to a square; zeros where it does not, or where that is no smaller.
struct Folded {
  int32_t rows, columns;
};
Folded FoldedOf(const GraphWriter& graph, const LayerRow& layer);
// What the layer asks once it is rewritten.
UnitNeeds FittedNeeds(const GraphWriter& graph, const LayerRow& layer);
// Whether the machine leaves a product to its host that it takes in the other form.
bool IsToFit(const Units& units, const GraphWriter& graph, const LayerRow& layer);

// Activations of uint8 that products like these multiply become int8 (fit_signed.cc).
void SignActivations(const Units& units, GraphWriter* graph);
// Products of int8 activations get the form that the machine takes (fit_products.cc).
void FitProducts(const Units& units, GraphWriter* graph);

// Both.
void FitMachine(const Bytes& hardware, uint64_t most_constant_bytes, GraphRows* rows);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_MACHINE_FIT_H_
