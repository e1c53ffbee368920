// SPDX-License-Identifier: Apache-2.0
// The functional model of Gemmini that its makers publish, behind four C functions. Built by
// build.sh, never by the project's own build; the tests open it where
// SLUICE_FOREIGN_GEMMINI names it.
#include <cstdio>

namespace {
[[maybe_unused]] int Quiet(const char*, ...) { return 0; }
}  // namespace
#define printf Quiet
#include "gemmini.cc"  // of the model
#undef printf

namespace {
struct Foreign {
  processor_t processor;
  gemmini_t model;
  std::string error;
};
}  // namespace

extern "C" {
void* foreign_gemmini_new(uint8_t* dram, uint64_t bytes) {
  auto* f = new Foreign();  // all zero: the model reads what it never sets
  f->processor.mmu = {dram, bytes};
  f->model.set_processor(&f->processor);
  f->model.reset();
  return f;
}
// NULL: done; else why not.
const char* foreign_gemmini_command(void* self, uint32_t funct, uint64_t rs1,
                                    uint64_t rs2) {
  auto* f = static_cast<Foreign*>(self);
  rocc_insn_t instruction = {};
  instruction.funct = funct;
  try {
    f->model.custom3(instruction, rs1, rs2);
  } catch (const std::exception& e) {
    f->error = e.what();
    return f->error.c_str();
  }
  return nullptr;
}
void foreign_gemmini_free(void* self) { delete static_cast<Foreign*>(self); }
}
