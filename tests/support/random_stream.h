// SPDX-License-Identifier: Apache-2.0
// Small random streams that consist of waits: lists, instances and loops by seed. The
// instructions do nothing, so only readers of lists and waits accept them.
//
// Input   a seed
// Output  a StreamBuilder whose waits form no cycle
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_STREAM_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_STREAM_H_

#include "base/rng.h"
#include "support/stream_builder.h"

namespace sluice_test {

// Two engines each complete some instructions for the other before either of them
// waits. Channels with room for fewer tokens would deadlock.
inline void AppendExchange(sluice::Rng* rng, uint32_t engines, BlockBuilder* b) {
  const uint32_t one = rng->Below(engines),
                 other = (one + 1 + rng->Below(engines - 1)) % engines;
  const uint32_t n = 1 + rng->Below(6), m = 1 + rng->Below(6);
  const auto append = [&](uint32_t engine, Waits waits) {
    return b->Append(engine, SLUICE_OPCODE_COMPUTE, 0, 0, std::move(waits));
  };
  const uint32_t of_one = static_cast<uint32_t>(b->lists[one].size());
  const uint32_t of_other = static_cast<uint32_t>(b->lists[other].size());
  for (uint32_t i = 0; i < n; ++i) append(one, {});
  for (uint32_t i = 0; i < m; ++i) append(other, {});
  for (uint32_t i = 1; i <= n; ++i) append(other, {After(one, of_one + i)});
  for (uint32_t i = 1; i <= m; ++i) append(one, {After(other, of_other + i)});
}

// A random body; with `back`, some of its waits refer to earlier visits.
inline BlockBuilder RandomBody(sluice::Rng* rng, uint32_t engines, bool back) {
  BlockBuilder b;
  b.lists.resize(engines);
  const uint32_t n = 1 + rng->Below(14);
  for (uint32_t i = 0; i < n; ++i) {
    if (rng->Below(12) == 0) AppendExchange(rng, engines, &b);
    Waits waits;
    for (uint32_t w = rng->Below(4); w > 0; --w) {
      const uint32_t e = rng->Below(engines);
      const uint32_t done = static_cast<uint32_t>(b.lists[e].size());
      if (back && rng->Below(4) == 0) {
        waits.push_back(AfterAllBut(rng->Below(6), e));
      } else if (done != 0) {
        waits.push_back(After(e, 1 + rng->Below(done)));
      }
    }
    b.Append(rng->Below(engines), SLUICE_OPCODE_COMPUTE, 0, 0, waits);
  }
  return b;
}

inline StreamBuilder MakeRandomStream(uint64_t seed) {
  sluice::Rng rng(seed ^ 0x746f6b656eu);
  StreamBuilder s;
  const uint32_t engines = 2 + rng.Below(4);
  for (uint32_t e = 0; e < engines; ++e) {
    s.engine_table.push_back({SLUICE_DOES_COMPUTE, 0, SLUICE_NO_QUEUE, 0, 0});
  }
  const uint32_t bodies = 1 + rng.Below(3);
  for (uint32_t b = 0; b < bodies; ++b) {
    s.blocks.push_back(RandomBody(&rng, engines, b != 0));
  }
  const uint32_t instances = bodies + rng.Below(4);
  for (uint32_t i = 0; i < instances; ++i) {
    s.AddInstance(i < bodies ? i : rng.Below(bodies), 0, 0);
  }
  if (rng.Below(2) == 0) {
    // Bodies have neither slots nor kernels, so steps have only the loop's index.
    const uint32_t first = rng.Below(instances);
    s.loops.push_back(
        {first, first + rng.Below(instances - first), 2 + rng.Below(3), SLUICE_NONE});
    s.steps.push_back(0);
    for (uint32_t i = first; i <= s.loops[0].last; ++i) s.instances[i].first_step = 0;
  }
  return s;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_STREAM_H_
