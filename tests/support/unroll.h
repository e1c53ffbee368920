// SPDX-License-Identifier: Apache-2.0
// A stream without loops: for each visit an instance with its own bindings and body.
//
// Input    a stream, right or wrong
// Output   one that means the same, or a fault: what its loops and steps lack
// Cost     linear in the visits' bodies
#ifndef SLUICE_TESTS_SUPPORT_UNROLL_H_
#define SLUICE_TESTS_SUPPORT_UNROLL_H_

#include <algorithm>
#include <string>

#include "support/stream_builder.h"

namespace sluice_test {

struct Unroller {
  const StreamBuilder& from;
  StreamBuilder to;
  std::string fault;
  uint32_t visits = 0;

  explicit Unroller(const StreamBuilder& stream) : from(stream), to(stream) {
    to.instances.clear();
    to.loops.clear();
    to.steps.clear();
    Visit(0, static_cast<uint32_t>(from.instances.size()), SLUICE_NONE, {});
  }

 private:
  struct Open {
    uint32_t loop, index;
  };
  // Unrolls the instances [begin, end) inside the open loops; all other loops lie
  // within.
  void Visit(uint32_t begin, uint32_t end, uint32_t parent, std::vector<Open> open) {
    for (uint32_t i = begin; i < end && fault.empty();) {
      uint32_t inner = SLUICE_NONE;
      for (uint32_t l = 0; l < from.loops.size() && inner == SLUICE_NONE; ++l) {
        const bool opened =
            std::any_of(open.begin(), open.end(), [&](Open o) { return o.loop == l; });
        if (!opened && from.loops[l].first == i && l > Last(open)) inner = l;
      }
      if (inner == SLUICE_NONE) {
        Emit(i++, open);
        continue;
      }
      const sluice_loop_t& loop = from.loops[inner];
      if (loop.parent != parent || loop.last < loop.first || loop.last >= end ||
          loop.count < 2 || open.size() == SLUICE_MAX_LOOPS) {
        fault = "loop";
        return;
      }
      for (uint32_t n = 0; n < loop.count && fault.empty(); ++n) {
        std::vector<Open> inside = open;
        inside.push_back({inner, n});
        Visit(i, loop.last + 1, inner, inside);
      }
      used_ = std::max(used_, inner + 1);
      i = loop.last + 1;
    }
    if (open.empty() && used_ != from.loops.size()) fault = "loop";
  }
  // Loops up to this one in the table are open, or were unrolled before.
  static int64_t Last(const std::vector<Open>& open) {
    return open.empty() ? -1 : int64_t{open.back().loop};
  }
  void Emit(uint32_t i, const std::vector<Open>& open) {
    sluice_instance_t instance = from.instances[i];
    if (++visits > 1u << 16 || instance.block >= from.blocks.size()) fault = "instance";
    if ((instance.first_step != SLUICE_NONE) != !open.empty()) fault = "steps";
    if (!fault.empty()) return;
    if (!open.empty()) {
      BlockBuilder body = from.blocks[instance.block];
      const size_t words = 2 * size_t{body.slot_count} + 5 * size_t{body.kernel_count};
      const size_t first = size_t{instance.first_step} + 1;
      if (first + words * open.size() > from.steps.size() ||
          static_cast<uint32_t>(from.steps[first - 1]) != open.back().loop ||
          size_t{instance.first_binding} + body.slot_count > from.bindings.size()) {
        fault = "steps";
        return;
      }
      const uint32_t bindings = static_cast<uint32_t>(to.bindings.size());
      for (uint32_t s = 0; s < body.slot_count; ++s) {
        sluice_binding_t b = from.bindings[instance.first_binding + s];
        uint64_t base = b.base_lo | uint64_t{b.base_hi} << 32, move = 0;
        for (size_t d = 0; d < open.size(); ++d) {
          const size_t at = first + d * words + 2 * size_t{s};
          const uint64_t step = static_cast<uint32_t>(from.steps[at]) |
                                uint64_t{static_cast<uint32_t>(from.steps[at + 1])}
                                    << 32;
          const bool patched = std::any_of(
              from.patches.begin(), from.patches.end(), [&](const sluice_patch_t& p) {
                return p.binding == instance.first_binding + s;
              });
          if (step != 0 && (b.region == SLUICE_REGION_GBUF || patched)) fault = "steps";
          move += step * open[d].index;
        }
        base += move;
        b.base_lo = static_cast<uint32_t>(base);
        b.base_hi = static_cast<uint32_t>(base >> 32);
        to.bindings.push_back(b);
        for (const sluice_patch_t& p : from.patches) {
          if (p.binding != instance.first_binding + s) continue;
          sluice_patch_t copy = p;
          copy.binding = static_cast<uint32_t>(to.bindings.size() - 1);
          to.patches.push_back(copy);
        }
      }
      for (sluice_tile_t& t : body.tiles) {
        if (t.kernel >= body.kernel_count) continue;
        for (size_t d = 0; d < open.size(); ++d) {
          const size_t at =
              first + d * words + 2 * size_t{body.slot_count} + 5 * size_t{t.kernel};
          for (size_t a = 0; a < 4; ++a) {
            t.origin[a] += open[d].index * static_cast<uint32_t>(from.steps[at + a]);
          }
          t.c_begin += open[d].index * static_cast<uint32_t>(from.steps[at + 4]);
          t.c_end += open[d].index * static_cast<uint32_t>(from.steps[at + 4]);
        }
      }
      to.blocks.push_back(body);
      instance.block = static_cast<uint32_t>(to.blocks.size() - 1);
      instance.first_binding = bindings;
      instance.first_step = SLUICE_NONE;
    }
    to.instances.push_back(instance);
  }

  uint32_t used_ = 0;  // loops of the table
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_UNROLL_H_
