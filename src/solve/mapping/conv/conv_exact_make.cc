// SPDX-License-Identifier: Apache-2.0
// Makes the space of the exact search from the problem and the hardware.
#include "solve/mapping/conv/conv_exact_space.h"

namespace sluice::conv_exact {

namespace {

void SetEnergies(ConvSpace* space) {
  const Hardware& hw = *space->hardware;
  const MappingProblem& problem = space->problem;
  double wire = 0;
  const Fanout* fanout = FanoutAt(hw, 1, 0);
  if (fanout != nullptr) wire = fanout->transfer_pj_per_bit;
  for (uint32_t v = 0; v < kOperands; ++v) {
    const int64_t bytes = InnerBytes(problem, v);
    const double bits = static_cast<double>(8 * bytes);
    space->word.mac_read[v] = ReadPj(hw.levels[0], bytes);
    space->word.fill0[v] = WritePj(hw.levels[0], bytes);
    space->word.read1[v] = ReadPj(hw.levels[1], bytes) + wire * bits;
    space->word.write1[v] = WritePj(hw.levels[1], bytes) + wire * bits;
    space->word.fill1[v] = space->dram ? WritePj(hw.levels[1], bytes) : 0;
    space->word.read2[v] = space->dram ? ReadPj(hw.levels[2], bytes) : 0;
  }
  if (!space->dram) return;
  space->word.write2_partial = WritePj(hw.levels[2], problem.partial_bytes);
  space->word.write2_final = WritePj(hw.levels[2], problem.element_bytes[kOutput]);
}

// Several nodes share DRAM.
void SetOuterPrice(ConvSpace* space) {
  const OuterPrice* outer = space->constraints.outer;
  for (uint32_t v = 0; v < kOperands; ++v) space->outer_share[v] = 1;
  if (outer == nullptr || !space->dram) return;
  for (uint32_t v = 0; v < kOperands; ++v) {
    space->word.read2[v] = outer->read_pj[v];
    space->outer_share[v] = outer->byte_share[v];
  }
  space->word.write2_partial = outer->write_partial_pj;
  space->word.write2_final = outer->write_final_pj;
  space->cycles_per_byte[1] = outer->cycles_per_byte;
}

bool SetArray(ConvSpace* space) {
  const Hardware& hw = *space->hardware;
  bool forwarding = true, multicast = true;
  space->reduction = true;
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    const Fanout* fanout = FanoutAt(hw, 1, a);
    if (fanout == nullptr) break;
    multicast &= fanout->multicast;
    forwarding &= fanout->forwarding;
    space->reduction &= fanout->reduction;
    if (fanout->forward_pj_per_bit > 0) space->loose = true;
  }
  space->multicast = multicast || forwarding;
  return space->multicast && space->reduction;
}

// True when rows and columns are interchangeable.
bool IsSquare(const ConvSpace& space) {
  const MappingProblem& problem = space.problem;
  const int64_t* top = space.constraints.top_tile;
  bool same = problem.extent[kDimP] == problem.extent[kDimQ] &&
              problem.extent[kDimR] == problem.extent[kDimS] &&
              problem.stride[0] == problem.stride[1] &&
              problem.dilation[0] == problem.dilation[1] && top[kDimP] == top[kDimQ] &&
              top[kDimR] == top[kDimS];
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    const Fanout* fanout = FanoutAt(*space.hardware, 1, a);
    if (fanout == nullptr) break;
    same &= MayUnroll(*fanout, kDimP) == MayUnroll(*fanout, kDimQ);
    same &= MayUnroll(*fanout, kDimR) == MayUnroll(*fanout, kDimS);
  }
  return same;
}

// Refuses what the exact search does not support.
Status CheckConvSpace(const NestRequest& request, Diagnostic* diagnostic) {
  const Hardware& hardware = request.hardware;
  if (hardware.levels.size() > 3) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the exact mapper takes 2 or 3 levels, not ")
        .Number(static_cast<int64_t>(hardware.levels.size()));
  }
  if (hardware.levels.size() == 3 &&
      (request.problem.operands & ~hardware.levels[1].may_hold) != 0) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the exact mapper needs all operands in the scratchpad");
  }
  return Status::kOk;
}

// Sets what lies outside the space, and the bandwidths above the registers.
void SetLevels(const Hardware& hardware, ConvSpace* space) {
  for (const MemoryLevel& level : hardware.levels) space->loose |= level.sliding;
  space->loose |= hardware.levels[0].bandwidth.numerator > 0;
  space->loose |= FanoutAt(hardware, 0, 0) != nullptr;
  for (size_t l = 1; l < hardware.levels.size(); ++l) {
    const Rational& rate = hardware.levels[l].bandwidth;
    if (rate.numerator == 0) continue;
    space->cycles_per_byte[l - 1] =
        static_cast<double>(rate.denominator) / static_cast<double>(rate.numerator);
  }
}

// Sets the costs of every nest, and the words of the operands.
void SetFixedCosts(const Hardware& hardware, uint32_t registers, ConvSpace* space) {
  const MappingProblem& problem = space->problem;
  space->operations = OperationCount(problem);
  space->peak = PeakOperations(problem, hardware);
  const double ops = static_cast<double>(space->operations);
  space->fixed_pj = ops * (problem.vector ? hardware.vector_op_pj : hardware.mac_pj);
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    space->words[v] = static_cast<double>(TileWords(problem, v, problem.extent));
    space->held[v] = (hardware.levels[0].may_hold & registers) >> v & 1;
    if (!space->held[v]) continue;
    // Each operation reads its operands and updates its sum.
    space->fixed_pj += ops * space->word.mac_read[v];
    if (v == kOutput) space->fixed_pj += ops * space->word.fill0[v];
  }
  if (!space->dram) {  // finished outputs have their final width in the outermost level
    space->fixed_pj += space->words[kOutput] *
                       (WritePj(hardware.levels[1], problem.element_bytes[kOutput]) -
                        WritePj(hardware.levels[1], problem.partial_bytes));
  }
}

}  // namespace

Status MakeConvSpace(const NestRequest& request, uint32_t registers, ConvSpace* space,
                     Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const MapConstraints& constraints = request.constraints;
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  SLUICE_TRY(CheckConvSpace(request, diagnostic));
  *space = ConvSpace{};
  space->problem = problem;
  space->hardware = &hardware;
  space->constraints = constraints;
  space->dram = hardware.levels.size() == 3;
  if (!SetArray(space)) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the exact mapper needs an array that multicasts and reduces");
  }
  SetEnergies(space);
  for (uint32_t d = 0; d < kDims; ++d) {
    if (constraints.top_tile[d] < 0) {
      return Fail(diagnostic, Status::kBadInput, "mapping")
          .Text("a fixed tile of ")
          .Number(constraints.top_tile[d]);
    }
  }
  space->square = IsSquare(*space);
  SetLevels(hardware, space);
  SetOuterPrice(space);
  SetFixedCosts(hardware, registers, space);
  return Status::kOk;
}

}  // namespace sluice::conv_exact
