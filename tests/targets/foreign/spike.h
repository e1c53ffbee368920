// SPDX-License-Identifier: Apache-2.0
// As much of Spike as the functional model of Gemmini needs to compile: one processor whose
// memory is a range of bytes. build.sh puts it where the model looks for Spike's headers.
#ifndef SLUICE_TESTS_TARGETS_FOREIGN_SPIKE_H_
#define SLUICE_TESTS_TARGETS_FOREIGN_SPIKE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using reg_t = uint64_t;

struct mmu_t {
  uint8_t* bytes;
  uint64_t size;
  uint8_t& At(reg_t address) {
    if (address >= size) throw std::out_of_range("an address outside of DRAM");
    return bytes[address];
  }
  template <typename T>
  T load(reg_t address) {
    return At(address);
  }
  template <typename T>
  void store(reg_t address, T value) {
    At(address) = static_cast<uint8_t>(value);
  }
};

struct insn_t {
  uint64_t rd() const { return 0; }
  uint64_t rs1() const { return 0; }
  uint64_t rs2() const { return 0; }
};
struct registers_t {
  reg_t operator[](size_t) const { return 0; }
  void write(size_t, reg_t) {}
};
struct written_t {
  uint64_t low, high;
};
struct state_t {
  registers_t XPR;
  std::map<uint64_t, written_t> log_reg_write;
};

struct rocc_insn_t {
  unsigned funct;
  bool xd, xs1, xs2;
};
union rocc_insn_union_t {
  rocc_insn_union_t() : r{} {}
  rocc_insn_t r;
  insn_t i;
};

class extension_t;
struct processor_t {
  mmu_t mmu;
  state_t state;
  mmu_t* get_mmu() { return &mmu; }
  state_t* get_state() { return &state; }
  extension_t* get_extension(const char*) { return nullptr; }
  bool get_log_commits_enabled() const { return false; }
};

struct insn_desc_t {};
struct disasm_insn_t {};
class extension_t {
 public:
  virtual ~extension_t() = default;
  virtual const char* name() const = 0;
  virtual std::vector<insn_desc_t> get_instructions(const processor_t&) = 0;
  virtual std::vector<disasm_insn_t*> get_disasms(const processor_t*) = 0;
};

inline void illegal_instruction(processor_t&) {
  throw std::invalid_argument("an instruction that it does not know");
}

#define REGISTER_EXTENSION(name, maker)
#define push_custom_insn(list, ...) (void)gemmini_custom

#endif  // SLUICE_TESTS_TARGETS_FOREIGN_SPIKE_H_
