// SPDX-License-Identifier: Apache-2.0
// A state of the lowering with a scratchpad that lies in DRAM in one piece; its loads are
// kept, not run.
#ifndef SLUICE_TESTS_TARGETS_VTA_RECORDED_H_
#define SLUICE_TESTS_TARGETS_VTA_RECORDED_H_

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "targets/vta/vta_model.h"

extern "C" {
#include "bindings/targets/vta/sluice_vta_internal.h"
}

namespace vta_test {

// A dense operand of the scratchpad.
inline sluice_walk_operand_t Dense(uint64_t offset,
                                   const std::array<uint32_t, 4>& extent,
                                   uint32_t bytes) {
  sluice_walk_operand_t o{};
  o.region = SLUICE_REGION_GBUF;
  o.dtype = bytes == 4 ? SLUICE_DTYPE_INT32 : SLUICE_DTYPE_INT8;
  o.offset = offset;
  o.bytes = bytes;
  for (size_t a = 4; a-- > 0;) {
    o.extent[a] = extent[a];
    o.stride[a] = static_cast<uint32_t>(o.bytes);
    o.bytes *= extent[a];
  }
  o.span = o.bytes;
  return o;
}

constexpr uint32_t kInputChannels = 5;  // of the layer, whatever a tile has of them

class Recorded {
 public:
  // Bytes of the scratchpad, a multiple of 256: in DRAM from kAt on; in front of it others.
  // `apart`: what the host makes of sums lies behind all of them, not from 0 on.
  explicit Recorded(uint32_t home = 32768, bool apart = false)
      : dram_(kAt + home + SLUICE_VTA_STAGING + (apart ? home : 0)), home_(home) {
    if (apart) input_.region[SLUICE_REGION_GBUF] = kAt + home + SLUICE_VTA_STAGING;
    for (size_t i = 0; i < kAt + home; ++i)
      dram_[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
    for (uint32_t i = 0; i < home; ++i) home_[i] = kAt + i;
    input_.staging = kAt + home;
    input_.home = home_.data();
    input_.home_count = home;
    input_.layers = &layer_;
    input_.layer_count = 1;
    port_.user = this;
    port_.instruction = [](void* user, const unsigned char* bytes) {
      Instruction i;
      std::memcpy(i.data(), bytes, i.size());
      static_cast<Recorded*>(user)->Note(i);
      return 0;
    };
    port_.run = [](void*) { return 0; };
    port_.read = [](void* user, uint32_t address, void* to, uint32_t bytes) {
      std::memcpy(to, static_cast<Recorded*>(user)->dram_.data() + address, bytes);
      return 0;
    };
    port_.write = [](void* user, uint32_t address, const void* from, uint32_t bytes) {
      std::memcpy(static_cast<Recorded*>(user)->dram_.data() + address, from, bytes);
      return 0;
    };
    state_->input = &input_;
    state_->port = &port_;
    state_->counts = &counts_;
    state_->staged = ZERO_ROWS;
    const uint32_t ends[] = {SLUICE_VTA_UOPS, SLUICE_VTA_WGT, SLUICE_VTA_INP,
                             SPARE_FIRST};
    for (size_t m = 0; m < 4; ++m) state_->buffer[m].end = ends[m];
    state_->buffer[SLUICE_VTA_OF_ACC].first = BIAS_FIRST;
    state_->buffer[SLUICE_VTA_OF_ACC].next = BIAS_FIRST;
  }

  // Of each reset and GEMM that has run: the entries of ACC that it writes.
  const std::vector<std::pair<bool, std::vector<uint32_t>>>& sums() const {
    return sums_;
  }
  const sluice_vta_counts& counts() const { return counts_; }
  state_t& state() { return *state_; }
  sluice_vta_port& port() { return port_; }
  uint64_t moved() const {
    uint64_t sum = 0;
    for (const uint64_t m : counts_.moved) sum += m;
    return sum;
  }
  // From here on a byte of the scratchpad lies somewhere else.
  void Move(uint64_t at) { home_[at] = kAt - 32768 + static_cast<uint32_t>(at); }
  uint8_t Scratchpad(uint64_t at) const { return dram_[home_[at]]; }
  bool LiesElsewhere(uint64_t at) const {
    return home_[at] != kAt + static_cast<uint32_t>(at);
  }
  // The host writes bytes of DRAM where the scratchpad has lain from the start.
  void Write(uint64_t at, uint32_t bytes) {
    sluice_walk_operand_t o = Dense(kAt + at, {1, 1, 1, bytes}, 1);
    o.region = SLUICE_REGION_CONST;
    input_.region[SLUICE_REGION_GBUF] = kAt - 32768;
    vta_change(state_.get(), &o);
    std::memset(dram_.data() + kAt + at, 0, bytes);
  }
  // The host writes a byte of DRAM in which a byte of the scratchpad lies.
  void Change(uint64_t at) {
    Write(at, 1);
    home_[at] = kAt + static_cast<uint32_t>(at);
  }
  // What the queued LOADs bring into a memory of 16-byte entries.
  std::vector<uint8_t> Loaded(uint32_t memory) const {
    std::vector<uint8_t> to(65536);
    for (uint32_t q = 0; q < state_->queued; ++q) {
      Instruction i;
      std::memcpy(i.data(), state_->queue[q], i.size());
      if (Field(i, 0, 3) != SLUICE_VTA_LOAD || Field(i, 7, 3) != memory) continue;
      const size_t row = Field(i, 80, 16) * 16;
      for (size_t y = 0; y < Field(i, 64, 16); ++y)
        std::memcpy(to.data() + Field(i, 10, 16) * 16 + y * row,
                    dram_.data() + (Field(i, 26, 32) + y * Field(i, 96, 16)) * 16, row);
    }
    return to;
  }

 private:
  void Note(const Instruction& i) {
    if (Field(i, 0, 3) != SLUICE_VTA_GEMM) return;
    std::vector<uint32_t> written;
    for (uint64_t u = Field(i, 8, 13); u < Field(i, 21, 14); ++u)
      for (uint64_t a = 0; a < Field(i, 35, 14); ++a)
        for (uint64_t b = 0; b < Field(i, 49, 14); ++b)
          written.push_back(static_cast<uint32_t>(
              (state_->uop[u] & 2047) + a * Field(i, 64, 11) + b * Field(i, 75, 11)));
    sums_.emplace_back(Field(i, 7, 1) != 0, written);
  }

  static constexpr uint32_t kAt = 65536;
  std::vector<uint8_t> dram_;
  std::vector<uint32_t> home_;
  std::vector<std::pair<bool, std::vector<uint32_t>>> sums_;
  sluice_vta_layer layer_{kInputChannels, 0};
  sluice_vta_input input_{};
  sluice_vta_port port_{};
  sluice_vta_counts counts_{};
  std::unique_ptr<state_t> state_ = std::make_unique<state_t>();
};

}  // namespace vta_test

#endif  // SLUICE_TESTS_TARGETS_VTA_RECORDED_H_
