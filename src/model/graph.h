// SPDX-License-Identifier: Apache-2.0
// The network: tensors, layers, attributes. Immutable once io has read it.
//
// Input    filled by io/read_graph.cc
// Output   none: plain data
// Errors   none. io checks the invariants: every index is in range, layers are in
//          topological order, each tensor is written at most once, extents are >= 1,
//          byte sizes fit int64.
// Cost     none
#ifndef SLUICE_MODEL_GRAPH_H_
#define SLUICE_MODEL_GRAPH_H_

#include <stdint.h>

#include "base/array.h"
#include "sluice/ops.h"

namespace sluice {

constexpr uint32_t kNone = 0xffffffffu;  // no tensor, no layer, no name
constexpr int kAxes = 4;                 // N H W C

enum class TensorKind : uint8_t {
  kIntermediate = 0,
  kInput = 1,
  kOutput = 2,
  kConstant = 3,
  kState = 4,
};

// What the rows of a layer's parameters say about its requantisation: bits of
// OpSupport.
enum Scales : uint8_t {
  kScalesNone = 1,        // every row has the multiplier and shift of 1
  kScalesPerTensor = 2,   // all rows have the same
  kScalesPerChannel = 4,  // they differ, or are not known
};

struct Tensor {
  int32_t extent[kAxes];  // elements, padded to four axes by leading ones
  uint8_t rank;           // number of axes in the graph file
  uint8_t dtype;          // SLUICE_DTYPE_
  TensorKind kind;
  uint8_t source;          // constants: 1 inline, 2 external, 3 seeded
  Scales scales;           // of [K,3] int32: parameters; else kScalesPerChannel
  uint32_t element_bytes;  // of dtype
  uint32_t name;           // into Graph::names or kNone
  uint32_t file;           // of an external constant, into Graph::names; else kNone
  uint32_t producer;       // layer or kNone
  int64_t bytes;           // dense size
  int64_t encoded_bytes;  // of a constant that is encoded off chip; 0: as many as bytes
  uint64_t source_offset;  // inline: into data; external: into the file; seeded: seed
};

struct Layer {
  uint16_t op;      // SLUICE_OP_
  bool takes_rows;  // moved to the host: a GATHER, which reads rows of its table alone
  uint32_t name;
  Span<const uint32_t> inputs;  // tensors; kNone = optional input absent
  Span<const uint32_t> outputs;
  Span<const int32_t> attributes;

  int32_t attribute(size_t i) const {
    return i < attributes.size() ? attributes[i] : 0;
  }
  uint32_t input(size_t i) const { return i < inputs.size() ? inputs[i] : kNone; }
};

struct Text {  // not NUL-terminated
  const char* data;
  uint32_t size;
};

struct Parameter {  // known only at run time, min <= value <= max
  uint32_t name;
  int32_t min;
  int32_t max;
};

struct Graph {
  Text name;
  Span<const Text> names;
  Span<const Tensor> tensors;
  Span<const Layer> layers;
  Span<const Parameter> parameters;
  uint64_t data_begin;  // offset in the graph file at which inline constants start
  uint64_t hash;        // FNV-1a of the graph file without inline constants
  // Of a graph that was fitted to a machine (model/host.h): the layers as the file has
  // them, and why the host has to execute a layer, SLUICE_WHY_. Empty: `layers` are the
  // file's.
  Span<const Layer> given;
  Span<const uint8_t> why;

  bool is_moved(size_t l) const { return !why.empty() && why[l] != 0; }
};

// Lower-case name of an op or dtype as in ops.h; "unknown" for other codes.
const char* OpName(uint16_t op);
const char* DtypeName(uint8_t dtype);
uint32_t DtypeBytes(uint8_t dtype);  // 0 for other codes

}  // namespace sluice

#endif  // SLUICE_MODEL_GRAPH_H_
