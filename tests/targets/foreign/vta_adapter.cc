// SPDX-License-Identifier: Apache-2.0
// The functional simulator of VTA that its makers publish, behind four C functions. Built by
// build.sh, never by the project's own build; the tests open it where SLUICE_FOREIGN_VTA
// names it. DRAM is one range of bytes; the instructions of a run lie above it.
#include "src/sim/sim_driver.cc"  // of the simulator
#include "src/sim/sim_tlpp.cc"

namespace {
constexpr uint64_t kInstructions = 0xf0000000;
struct Foreign {
  uint8_t* dram;
  uint64_t bytes;
  std::vector<uint64_t> run;  // two words an instruction
  vta::sim::Device device;
  std::string error;
};
Foreign* current = nullptr;  // whose addresses these are
}  // namespace

namespace vta {
namespace vmem {
void* VirtualMemoryManager::GetAddr(uint64_t address) {
  if (address == kInstructions) return current->run.data();
  if (address >= current->bytes) foreign::Fatal();
  return current->dram + address;
}
vta_phy_addr_t VirtualMemoryManager::GetPhyAddr(void*) { return 0; }
void* VirtualMemoryManager::Alloc(size_t) { return nullptr; }
void VirtualMemoryManager::Free(void*) {}
VirtualMemoryManager* VirtualMemoryManager::Global() {
  static VirtualMemoryManager one;
  return &one;
}
}  // namespace vmem
}  // namespace vta

extern "C" {
void* foreign_vta_new(uint8_t* dram, uint64_t bytes) {
  auto* f = new Foreign{dram, bytes, {}, {}, {}};
  vta::sim::Profiler::ThreadLocal()->Clear();
  return f;
}
// Runs instructions of 16 bytes, FINISH the last. NULL: done; else why not.
const char* foreign_vta_run(void* self, const uint8_t* instructions, uint32_t count) {
  auto* f = static_cast<Foreign*>(self);
  current = f;
  f->run.resize(size_t{count} * 2);
  memcpy(f->run.data(), instructions, size_t{count} * 16);
  try {
    f->device.Run(static_cast<vta_phy_addr_t>(kInstructions), count, 1);
  } catch (const std::exception& e) {
    f->error = e.what();
    return f->error.c_str();
  }
  return nullptr;
}
// What it counted: bytes of micro-ops, weights, inputs, sums, outputs; micro-ops of GEMM, ALU.
void foreign_vta_counts(const void*, uint64_t counts[7]) {
  const vta::sim::Profiler& p = *vta::sim::Profiler::ThreadLocal();
  const uint64_t all[] = {p.uop_load_nbytes, p.wgt_load_nbytes,  p.inp_load_nbytes,
                          p.acc_load_nbytes, p.out_store_nbytes, p.gemm_counter,
                          p.alu_counter};
  std::copy(all, all + 7, counts);
}
void foreign_vta_free(void* self) { delete static_cast<Foreign*>(self); }
}
