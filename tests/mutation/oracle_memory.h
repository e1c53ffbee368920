// SPDX-License-Identifier: Apache-2.0
// Memory that knows of each byte where it comes from, and who touched it last.
//
// Input    graph tensors, their places, a stream without loops.
// Output   the origins of the bytes; a fault for a race, bytes that nobody wrote, or an
//          address out of bounds.
// Cost     one record per byte.
#ifndef SLUICE_TESTS_MUTATION_ORACLE_MEMORY_H_
#define SLUICE_TESTS_MUTATION_ORACLE_MEMORY_H_

#include <string>

#include "support/unroll.h"

namespace sluice_test {

struct Meaning {
  std::string fault;  // empty: none
  uint64_t fingerprint = 0;
};

class OracleMemory {
 protected:
  OracleMemory(const GraphSpec& graph, const std::vector<Place>& places,
               const StreamBuilder& stream)
      : graph_(graph), places_(places), s_(stream) {}

  static constexpr uint64_t kUnwritten = 0;
  struct Cell {
    uint64_t value = kUnwritten;
    int writer = -1;           // event
    std::vector<int> readers;  // since the last write
  };
  struct Access {
    uint32_t region = 0, width = 0;
    uint32_t space = 0;        // a region; then the scratchpads of nodes 1, ...
    std::vector<uint64_t> at;  // address of each element, in logical order
  };
  struct Event {
    uint32_t engine, instance, index;  // index: into the block's list
    uint32_t position;                 // 1-based on its engine, over all instances
  };

  bool Fail(const char* why) {
    if (meaning_.fault.empty()) meaning_.fault = why;
    return false;
  }
  static uint64_t Mix(uint64_t a, uint64_t b) {
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) | 1;  // never kUnwritten
  }

  // Gives inputs, constants and states their bytes.
  bool Fill() {
    const size_t nodes = size_t{s_.node_cols} * s_.node_rows;
    cells_.resize(SLUICE_REGION_COUNT + nodes - 1);
    for (size_t r = 0; r < cells_.size(); ++r) {
      const size_t region = r < SLUICE_REGION_COUNT ? r : size_t{SLUICE_REGION_GBUF};
      if (s_.region_bytes[region] > (1 << 22)) return Fail("region too large");
      cells_[r].resize(s_.region_bytes[region]);
    }
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const uint8_t kind = graph_.tensors[t].kind;
      if (kind != 1 && kind != 3 && kind != 4) continue;
      if (places_[t].region == 255) continue;  // it has no place in memory
      Access a;
      if (!Locate(t, &a)) return false;
      for (size_t i = 0; i < a.at.size(); ++i) {
        for (uint32_t b = 0; b < a.width; ++b) {
          Cell& cell = cells_[a.space][a.at[i] + b];
          if (cell.value != kUnwritten) return Fail("tensors overlap from the start");
          cell.value = Mix(Mix(t + 1, i), b);
        }
      }
    }
    return true;
  }

  bool Locate(size_t t, Access* a) {
    const Place& p = places_[t];
    const TensorSpec& spec = graph_.tensors[t];
    if (p.region >= SLUICE_REGION_COUNT) return Fail("a tensor without a place");
    Four extent = {1, 1, 1, 1};
    for (size_t d = 0; d < spec.dims.size(); ++d) {
      extent[4 - spec.dims.size() + d] = static_cast<uint32_t>(spec.dims[d]);
    }
    return Enumerate(p.region, DtypeSize(spec.dtype), p.offset, extent, p.stride, a);
  }
  bool Enumerate(uint32_t region, uint32_t width, uint64_t base, const Four& extent,
                 const Four& stride, Access* a) {
    a->region = a->space = region;
    a->width = width;
    if (region >= SLUICE_REGION_COUNT || width == 0) return Fail("region or dtype");
    if (uint64_t{extent[0]} * extent[1] > 65536 ||
        uint64_t{extent[2]} * extent[3] > 65536) {
      return Fail("extent");
    }
    for (uint64_t n = 0; n < extent[0]; ++n)
      for (uint64_t h = 0; h < extent[1]; ++h)
        for (uint64_t w = 0; w < extent[2]; ++w)
          for (uint64_t c = 0; c < extent[3]; ++c) {
            const uint64_t at =
                base + n * stride[0] + h * stride[1] + w * stride[2] + c * stride[3];
            if (at > cells_[region].size() || at + width > cells_[region].size()) {
              return Fail("bounds");
            }
            if (at % width != 0) return Fail("alignment");
            a->at.push_back(at);
          }
    return true;
  }
  bool Before(int event) const {  // has it completed when the current one starts?
    const Event& e = events_[static_cast<size_t>(event)];
    return clock_[e.engine] >= e.position;
  }
  bool Read(const Access& a, std::vector<uint64_t>* values) {
    for (uint64_t at : a.at) {
      for (uint32_t b = 0; b < a.width; ++b) {
        Cell& cell = cells_[a.space][at + b];
        if (cell.value == kUnwritten) return Fail("reads unwritten bytes");
        if (cell.writer >= 0 && !Before(cell.writer)) return Fail("read races a write");
        if (cell.readers.empty() || cell.readers.back() != now_) {
          cell.readers.push_back(now_);
        }
        values->push_back(cell.value);
      }
    }
    return true;
  }
  bool Write(const Access& a, const std::vector<uint64_t>& values) {
    if (a.region == SLUICE_REGION_CONST || a.region == SLUICE_REGION_INPUT) {
      return Fail("writes a read-only region");
    }
    size_t i = 0;
    for (uint64_t at : a.at) {
      for (uint32_t b = 0; b < a.width; ++b, ++i) {
        Cell& cell = cells_[a.space][at + b];
        if (cell.writer == now_) return Fail("writes a byte twice");
        if (cell.writer >= 0 && !Before(cell.writer)) return Fail("writes race");
        for (int reader : cell.readers) {
          if (reader != now_ && !Before(reader)) return Fail("overwrites while read");
          if (reader == now_) in_place_ = true;
        }
        cell.readers.clear();
        cell.writer = now_;
        cell.value = values[i];
      }
    }
    return true;
  }

  const GraphSpec& graph_;
  const std::vector<Place>& places_;
  const StreamBuilder& s_;  // the stream without loops
  Meaning meaning_;
  std::vector<std::vector<Cell>> cells_;  // by space
  std::vector<Event> events_;
  std::vector<uint32_t> clock_;  // of the current event: what has completed by engine
  int now_ = 0;                  // the current event
  bool in_place_ = false;        // it has overwritten bytes that it read
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_ORACLE_MEMORY_H_
