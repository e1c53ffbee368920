// SPDX-License-Identifier: Apache-2.0
// A small graph and a small machine, collected by the C functions of build.h.
#ifndef SLUICE_TESTS_IMPORT_BUILDERS_H_
#define SLUICE_TESTS_IMPORT_BUILDERS_H_

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sluice/build.h"
#include "sluice/ops.h"

namespace sluice_test {

using List = std::vector<uint8_t>;

template <typename T>
T Sized() {
  T made;
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.struct_size = sizeof made;
  return made;
}

inline const List& Weights() {
  static const List weights = [] {
    List w(8 * 3 * 3 * 4);
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<uint8_t>(i * 37);
    return w;
  }();
  return weights;
}

inline List Parameters() {
  std::vector<int32_t> rows;
  for (int32_t k = 0; k < 8; ++k) rows.insert(rows.end(), {k * 5, 1 << 30, -8});
  List bytes(rows.size() * 4);
  std::memcpy(bytes.data(), rows.data(), bytes.size());
  return bytes;
}

inline std::vector<int32_t> ConvAttributes() {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = 1;
  for (int i = SLUICE_CONV_PAD_TOP; i <= SLUICE_CONV_PAD_RIGHT; ++i) a[i] = 1;
  a[SLUICE_CONV_ACT_MIN] = -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  return a;
}

inline uint32_t AddTensor(sluice_graph_builder_t* b, const char* name, uint32_t kind,
                          std::vector<int32_t> dims) {
  sluice_tensor_t t = Sized<sluice_tensor_t>();
  t.name = name;
  t.kind = kind;
  t.dtype = SLUICE_DTYPE_INT8;
  t.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), t.dims);
  return sluice_graph_builder_tensor(b, &t);
}

inline uint32_t AddInline(sluice_graph_builder_t* b, const char* name, uint32_t dtype,
                          std::vector<int32_t> dims, const List& bytes) {
  sluice_tensor_t t = Sized<sluice_tensor_t>();
  t.name = name;
  t.kind = SLUICE_TENSOR_CONSTANT;
  t.dtype = dtype;
  t.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), t.dims);
  t.source = SLUICE_SOURCE_INLINE;
  t.bytes = bytes.data();
  t.byte_count = bytes.size();
  return sluice_graph_builder_tensor(b, &t);
}

inline void AddLayer(sluice_graph_builder_t* b, const char* name, uint32_t op,
                     const std::vector<uint32_t>& inputs, uint32_t output,
                     const std::vector<int32_t>& attributes) {
  sluice_layer_t l = Sized<sluice_layer_t>();
  l.name = name;
  l.op = op;
  l.inputs = inputs.data();
  l.input_count = static_cast<uint32_t>(inputs.size());
  l.outputs = &output;
  l.output_count = 1;
  l.attributes = attributes.data();
  l.attribute_count = static_cast<uint32_t>(attributes.size());
  sluice_graph_builder_layer(b, &l);
}

// A convolution and a maximum, in C.
inline sluice_graph_builder_t* SmallGraph() {
  sluice_graph_builder_t* b = sluice_graph_builder_create("small");
  const uint32_t x = AddTensor(b, "x", SLUICE_TENSOR_INPUT, {1, 16, 16, 4});
  const uint32_t w = AddInline(b, "w", SLUICE_DTYPE_INT8, {8, 3, 3, 4}, Weights());
  const uint32_t p = AddInline(b, "p", SLUICE_DTYPE_INT32, {8, 3}, Parameters());
  const uint32_t c = AddTensor(b, "c", SLUICE_TENSOR_INTERMEDIATE, {1, 16, 16, 8});
  const uint32_t z = AddTensor(b, "z", SLUICE_TENSOR_INPUT, {1, 16, 16, 8});
  const uint32_t y = AddTensor(b, "y", SLUICE_TENSOR_OUTPUT, {1, 16, 16, 8});
  AddLayer(b, "conv", SLUICE_OP_CONV, {x, w, p}, c, ConvAttributes());
  AddLayer(b, "max", SLUICE_OP_MAXIMUM, {c, z}, y, {});
  return b;
}

inline sluice_hardware_builder_t* SmallMachine() {
  sluice_machine_t machine = Sized<sluice_machine_t>();
  machine.name = "small";
  machine.scratchpad_level = 0;
  machine.macs_per_cycle = 64;
  machine.vector_ops_per_cycle = 16;
  machine.mac_pj = 0.5;
  sluice_hardware_builder_t* b = sluice_hardware_builder_create(&machine);
  sluice_level_t sram = Sized<sluice_level_t>();
  sram.name = "sram";
  sram.capacity_bytes = 4096;
  sram.read_pj_per_bit = sram.write_pj_per_bit = 0.1;
  sram.alignment_bytes = 16;
  CHECK(sluice_hardware_builder_level(b, &sram) == 0);
  sluice_level_t dram = Sized<sluice_level_t>();
  dram.name = "dram";
  dram.read_pj_per_bit = dram.write_pj_per_bit = 4;
  dram.bytes_per_cycle_numerator = 8;
  CHECK(sluice_hardware_builder_level(b, &dram) == 1);
  sluice_fanout_t array = Sized<sluice_fanout_t>();
  array.name = "array";
  array.extent = 64;
  CHECK(sluice_hardware_builder_fanout(b, &array) == 0);
  sluice_array_t macs = Sized<sluice_array_t>();
  macs.k = 8;
  macs.c = 8;
  macs.p = 4;
  macs.cuts_rows = macs.packs_filter = 1;
  macs.demands = SLUICE_DEMANDS_K;
  macs.fill_cycles = 5;
  macs.drain_cycles = 6;
  sluice_hardware_builder_array(b, &macs);
  return b;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IMPORT_BUILDERS_H_
