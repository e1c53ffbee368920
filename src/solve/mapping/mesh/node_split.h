// SPDX-License-Identifier: Apache-2.0
// State of one search for a layer's split over nodes, its list of splits and their
// estimated costs. Private to node_parallel.
//
// Input    a layer, hardware with a mesh, a region, terms
// Output   splits by estimate, the layout of one, the price of words for the mapper of
//          a node
// Errors   kOutOfMemory
// Cost     0.2 us per split listed, 10 us per split placed
// Source   see node_parallel.h
#ifndef SLUICE_SOLVE_MAPPING_MESH_NODE_SPLIT_H_
#define SLUICE_SOLVE_MAPPING_MESH_NODE_SPLIT_H_

#include "solve/mapping/mesh/node_parallel.h"

namespace sluice::node_split {

constexpr uint8_t kSplitDims[] = {kDimN, kDimK, kDimC, kDimP, kDimQ, kDimG};
constexpr int kSplitDimCount = 6;
constexpr double kSlack = 0.005;         // gains below this share are not looked for
constexpr double kEstimateError = 0.03;  // an estimate is trusted within this share
constexpr int64_t kSmallMesh = 16;       // nodes up to which every factor is tried
constexpr double kNever = 1e300;

// Factors along one axis, and the paths they make.
struct AxisWay {
  int32_t factor[kDims];
  AxisPath path[kOperands];
};

enum Stage : uint8_t { kListed = 0, kPlaced };

// Parts of one size.
struct Parts {
  int32_t factor[kDims];    // columns x rows
  uint32_t way[kMeshAxes];  // AxisWay of the best layout, once placed
  double estimate;          // objective
  double dram_pj;           // of one, at least, once placed
  Stage stage;
};

struct Waiting {
  double estimate;
  uint32_t parts;
};

// Ways along one axis, found when first asked for.
struct AxisWays {
  explicit AxisWays(Arena* a) : ways(a) {}
  Vector<AxisWay> ways;
  Span<uint32_t> slots;  // hash of the factors -> way + 1
};

struct Search {
  Search(const MappingProblem& whole_problem, const int64_t pass_counts[kDims],
         const Hardware& h, const NodeRegion& r, const NodeParallelOptions& o, Arena* a)
      : layer(whole_problem),
        problem(PassOf(whole_problem, pass_counts)),
        hardware(h),
        region(r),
        options(o),
        axis{AxisWays(a), AxisWays(a)},
        parts(a),
        heap(a),
        own_table(a, h.leakage_pj_per_cycle),
        table(o.table != nullptr ? o.table : &own_table) {
    for (uint32_t d = 0; d < kDims; ++d) {
      passes[d] = pass_counts[d];
      all_passes *= static_cast<double>(passes[d]);
    }
  }
  const MappingProblem& layer;
  const MappingProblem problem;  // one pass
  int64_t passes[kDims];
  double all_passes = 1;
  uint32_t kept = 0;     // operands that lie whole in the scratchpads
  bool rotates = false;  // others may lie there in parts, handed round
  const Hardware& hardware;
  const NodeRegion& region;
  const NodeParallelOptions& options;
  AxisWays axis[kMeshAxes];
  Vector<Parts> parts;
  Span<double> to_corner;  // links, mean of the nearest nodes: one, two, ...
  bool rows_last = false;  // no halos: rows and columns are cut after the whole batch
  Span<int32_t> factors[kSplitDimCount];  // tried, of every dim
  Vector<Waiting> heap;
  ArrayTable own_table;
  ArrayTable* table;
  uint8_t
      order[kDims];  // of dims along an axis: whose sharers move most are neighbours
  double words[kOperands];     // at least, in and out of DRAM
  double link_pj[kOperands];   // of one word
  double wire_pj_per_bit = 0;  // of the array
  double summing = 1;          // units of a node that may work on the same output
  // Lower bounds on the sum of all nodes, from one unlimited node that does all work.
  double least_array_pj;  // operations, registers, scratchpad with each word in it once
  double least_cycles;
  double best;
  NodeMapping* mapped;
  int64_t least_kept;  // least bytes kept by a part that did not fit
  int fruitless;       // parts placed in a row that are not worth solving
  uint32_t cut;        // parts none of whose tiles holds a whole filter
};

inline const AxisWay& ColumnsOf(const Search& search, const Parts& parts) {
  return search.axis[kColumns].ways[parts.way[kColumns]];
}
inline const AxisWay& RowsOf(const Search& search, const Parts& parts) {
  return search.axis[kRows].ways[parts.way[kRows]];
}

inline int64_t NodesOfParts(const Parts& parts) {
  int64_t nodes = 1;
  for (uint32_t d = 0; d < kDims; ++d) nodes *= parts.factor[d];
  return nodes;
}

inline int64_t SharersOf(const Parts& parts, uint32_t operand) {
  const int32_t* f = parts.factor;
  if (operand == kInput) return f[kDimK];
  if (operand == kOutput) return f[kDimC];
  return int64_t{f[kDimN]} * f[kDimP] * f[kDimQ];
}

MappingProblem PartOf(const MappingProblem& problem, const Parts& parts);

// Dims along an axis: see Search::order. Words, links and wires.
void OrderDims(Search* search);
Status MeasureCorners(Search* search, Arena* arena);
// The cost of the whole layer on one node with an unlimited scratchpad and free DRAM: a
// lower bound, as that node could run the loops of all nodes one after the other.
Status LeastArray(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic);
double BoundOf(const Search& search);

// Factors tried of every dim; all parts of them that keep what must stay, as a heap by
// estimate.
Status ListFactors(Search* search, Arena* arena);
Status ListAllParts(Search* search);
// Takes the least away or moves it down after its estimate has changed.
void Drop(Search* search);
void Sink(Search* search, size_t i);
// The best layout of the parts over columns and rows: of all ways to divide every
// factor between both. *found: whether there is one.
Status FindPlace(Search* search, Arena* arena, Parts* parts, bool* found);
NodeSplit SplitOf(const Search& search, const Parts& parts);

// The hardware of a node as the mapper of its part sees it. Not to be copied: hardware
// points into it.
struct NodeView {
  MemoryLevel levels[kMaxLevels];
  Hardware hardware;
};
void ViewNode(const Search& search, const Parts& parts, const MappingProblem& part,
              NodeView* view);
OuterPrice PriceOf(const Search& search, const Parts& parts);
// Which operands a node may hold only a part of.
Sharing SharingOf(const Search& search, const Parts& parts);
// Do the kept operands of these parts fit? Remembers the least bytes that do not.
bool KeepsFit(Search* search, const Parts& parts);

// The estimated cost of parts of these sizes, nearly a lower bound, wherever they lie.
double EstimateOf(const Search& search, const Parts& parts);
// A better estimate for placed parts: with tiles that fit.
Status EstimatePlaced(Search* search, Parts* parts, bool* fits, Diagnostic* diagnostic);
// The objective that the mapper of a node's part must stay below to be of use.
double UpperOf(const Search& search, const Parts& parts, const Hardware& node);

}  // namespace sluice::node_split

#endif  // SLUICE_SOLVE_MAPPING_MESH_NODE_SPLIT_H_
