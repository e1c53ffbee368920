// SPDX-License-Identifier: Apache-2.0
// Steps of a program in full, as they were added: a program keeps what several of them
// have in common once.
#ifndef SLUICE_TESTS_SUPPORT_WHOLE_STEPS_H_
#define SLUICE_TESTS_SUPPORT_WHOLE_STEPS_H_

#include "model/program.h"

namespace sluice {

// Without its nodes, which step() and transfer_form() have, and without the destination
// of a FORWARD.
inline Transfer TransferOf(const Program& program, uint32_t item) {
  const TransferForm& form = program.transfer_form(item);
  Transfer t = {};
  t.dram.tensor = form.tensor;
  t.dram.region = form.region;
  t.dram.offset = program.dram_offset(item);
  t.dram.moves = form.moves != 0;
  t.dram.parameter = form.parameter;
  t.dram.step = form.step;
  for (int a = 0; a < kAxes; ++a) {
    t.dram.extent[a] = form.extent[a];
    t.dram.stride[a] = form.stride[a];
  }
  t.buffer = program.box(form.buffer);
  t.indexed = form.other != kNoBox;
  if (t.indexed) t.index = program.box(form.other);
  t.role = static_cast<uint8_t>(form.role);
  return t;
}

inline TileStep TileOf(const Program& program, uint32_t item) {
  const TilePlace& place = program.tile_place(item);
  const TileForm& form = program.tile_form(item);
  TileStep t = {};
  for (int r = 0; r < kTileRoles; ++r) {
    t.present[r] = form.operand[r] != kNoBox;
    if (t.present[r]) t.operand[r] = program.box(form.operand[r]);
  }
  t.has_accumulator = form.accumulator != kNoBox;
  if (t.has_accumulator) t.accumulator = program.box(form.accumulator);
  t.first = form.first != 0;
  t.last = form.last != 0;
  for (int a = 0; a < kAxes; ++a) t.origin[a] = place.origin[a];
  t.c_begin = place.c_begin;
  t.c_end = place.c_end;
  for (int i = 0; i < 4; ++i) t.pad[i] = form.pad[i];
  t.cycles = form.cycles;
  t.macs = form.macs;
  t.vector_ops = form.vector_ops;
  t.energy_pj = form.energy_pj();
  t.scratchpad_pj = form.scratchpad_pj();
  return t;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SUPPORT_WHOLE_STEPS_H_
