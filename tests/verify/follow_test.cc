// SPDX-License-Identifier: Apache-2.0
// Places of tensors, operands, and what must lie at which place at the end.
#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

TEST_CASE("follow: addresses beyond a region or the scratchpad are caught") {
  Case c = ConvCase();
  c.stream.region_bytes[SLUICE_REGION_GBUF] -= 1;
  CheckRejected(c, "bounds");
  c = ConvCase();
  c.stream.region_bytes[SLUICE_REGION_OUTPUT] -= 1;
  CheckRejected(c, "bounds");
  c = ConvCase();
  c.hardware.scratchpad_bytes = 1040;
  CheckRejected(c, "bounds");
  c = ConvCase();
  c.stream.gbuf_bytes = 1040;
  CheckRejected(c, "bounds");
  c = ConvCase();
  Operand(&c, Tile(&c, 0).input0).offset_hi = 0xffffffff;
  CheckRejected(c, "bounds");
  c = ConvCase();
  Shape(&c, Tile(&c, 0).input0).stride[1] = 0xffffffff;
  CheckRejected(c, "bounds");
}

TEST_CASE("follow: a lost or misplaced store is caught") {
  Case c = ConvCase();
  Drop(&c, kDma, 10);
  c.report.dram_write_bytes -= 64;
  CheckRejected(c, "output");
  c = ConvCase();
  Operand(&c, Transfer(&c, 9).dst).offset_lo = 0;  // tile 3 stored over tile 0
  CheckRejected(c, "output");
  c = ConcatCase();
  std::swap(Transfer(&c, 3).dst, Transfer(&c, 4).dst);  // halves of the concat swapped
  CheckRejected(c, "content");
}

TEST_CASE("follow: an operand's refusal says which one, and how many bytes it lacks") {
  Case c = ConvCase();
  c.stream.region_bytes[SLUICE_REGION_OUTPUT] -= 1;
  // The judge checks the tensor's own place first.
  CheckRejected(c, "bounds", "tensor 3 ends beyond its region");
  c = ConvCase();
  Operand(&c, Transfer(&c, 0).dst).offset_lo = 1;
  CheckRejected(c, "content");  // the weight, one byte too far
  c = ConvCase();
  const uint32_t parameters = Transfer(&c, 1).dst;
  Operand(&c, parameters).offset_lo = 578;
  CheckRejected(c, "alignment",
                "instance 0, instruction 1: operand " + std::to_string(parameters) +
                    " is not aligned to its element size");
  c = ConvCase();
  Operand(&c, parameters).offset_lo = 1056 - 92;
  CheckRejected(c, "bounds",
                "instance 0, instruction 1: operand " + std::to_string(parameters) +
                    " ends beyond region 0");
}

TEST_CASE("follow: tensors lie in regions of their kind, apart and aligned") {
  Case c = ConvCase();
  c.places[0].region = SLUICE_REGION_GBUF;
  CheckRejected(c, "structure", "a tensor's place has no region");
  c = ConvCase();
  c.places[0].region = SLUICE_REGION_COUNT;
  CheckRejected(c, "structure", "a tensor's place has no region");
  c = ConvCase();
  c.places[0].region = SLUICE_REGION_CONST;
  CheckRejected(c, "structure", "tensor 0 lies in a region of another kind");
  c = ConvCase();
  c.places[2].offset += 2;
  c.stream.region_bytes[SLUICE_REGION_CONST] += 2;
  CheckRejected(c, "alignment", "tensor 2 is not aligned to its element size");
  c = ConvCase();
  c.places[2].offset -= 4;  // overlaps the weight
  CheckRejected(c, "content",
                "the place of tensor 2 overlaps itself or another tensor that is there "
                "from the start");
}

TEST_CASE("follow: steps of an operand keep to its elements, where it takes a step") {
  // The parameters, int32 [1,1,8,3], two bytes too far apart from row to row.
  Case c = ConvCase();
  const uint32_t parameters = Transfer(&c, 1).dst;
  const std::string name = std::to_string(parameters);
  c.stream.region_bytes[SLUICE_REGION_GBUF] += 14;
  Shape(&c, parameters).stride[2] += 2;
  CheckRejected(c, "alignment",
                "instance 0, instruction 1: operand " + name +
                    " is not aligned to its element size");
  c = ConvCase();
  Shape(&c, parameters).stride[0] = 2;  // there is one along this axis
  CheckAccepted(c);
}

TEST_CASE("follow: a state that nobody appends to needs no place") {
  Case c = AppendCase();
  c.graph.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 4, 0, 0});
  c.places.push_back({});
  c.places.back().region = 255;
  CheckAccepted(c);
}

TEST_CASE("follow: outputs have a place, and are all there at the end") {
  Case c = ConvCase();
  c.places[3].region = 255;
  CheckRejected(c, "output", "an output or state has no place in DRAM");
  c = AppendCase();
  Drop(&c, kDma, 2);  // both stores of rows
  Drop(&c, kDma, 2);
  c.places[0].region = 255;
  CheckRejected(c, "output", "an output or state has no place in DRAM");
  c = ConvCase();
  c.places[3].stride[1] += 1;  // not as the stores write it
  c.stream.region_bytes[SLUICE_REGION_OUTPUT] += 7;
  CheckRejected(c, "output", "tensor 3 is not complete at its place at the end");
}

TEST_CASE("follow: a graph of very many inputs is judged to its end") {
  Case c = ConvCase();
  for (int i = 0; i < 130; ++i) {
    c.graph.tensors.push_back({{1, 8}, SLUICE_DTYPE_INT8, 1, 0, 0});
    c.places.push_back({});
  }
  CheckAccepted(c);
}

}  // namespace
}  // namespace sluice_test
