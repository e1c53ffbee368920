// SPDX-License-Identifier: Apache-2.0
// What a stream means, told byte by byte: where every output byte comes from.
//
// Input    graph tensors, places, a stream, values of the parameters.
// Output   a fingerprint of the origins of all bytes of outputs and states, valid for
//          every timing, or the reason why there is none (race, unwritten bytes,
//          bounds, deadlock).
// Cost     slow and simple: one vector clock per instruction, one record per byte. A
//          different fingerprint does not prove different bytes, an equal one proves
//          equal bytes. Neither judge's code is used.
#ifndef SLUICE_TESTS_MUTATION_ORACLE_H_
#define SLUICE_TESTS_MUTATION_ORACLE_H_

#include "mutation/oracle_instructions.h"

namespace sluice_test {

// The order of the instructions: each runs when its waits hold.
class Oracle : public OracleInstructions {
 public:
  Oracle(const GraphSpec& graph, const std::vector<Place>& places,
         const Unroller& unrolled, const std::vector<int32_t>& parameters)
      : OracleInstructions(graph, places, unrolled.to, parameters) {
    if (!unrolled.fault.empty()) Fail("loops");
  }

  Meaning Follow() {
    if (meaning_.fault.empty() && Fill() && Count() && Run()) Finish();
    return meaning_;
  }

 private:
  // Counts what each engine has done before each instance.
  bool Count() {
    // before_[i][e]: instructions of engine e in all instances before i.
    before_.assign(s_.instances.size() + 1, std::vector<uint32_t>(s_.engines(), 0));
    for (size_t i = 0; i < s_.instances.size(); ++i) {
      if (s_.instances[i].block >= s_.blocks.size()) return Fail("block");
      const BlockBuilder& b = s_.blocks[s_.instances[i].block];
      for (uint32_t e = 0; e < s_.engines(); ++e) {
        before_[i + 1][e] =
            before_[i][e] +
            static_cast<uint32_t>(e < b.lists.size() ? b.lists[e].size() : 0);
      }
    }
    return true;
  }

  // The position on an engine that a wait asks for, 0 for none; false if the wait is
  // invalid.
  bool Target(const Event& e, const sluice_wait_t& w, uint32_t* engine,
              uint32_t* position) {
    if (w.engine >= s_.engines() || w.before > 1) return Fail("wait");
    const uint32_t before = before_[e.instance][w.engine];
    *engine = w.engine;
    if (w.before == 1) {
      *position = before > w.count ? before - w.count : 0;
      return true;
    }
    if (w.count == 0) return Fail("wait");
    *position = before + w.count;
    return *position <= before_[e.instance + 1][w.engine] || Fail("wait");
  }

  bool Run() {
    const uint32_t engines = s_.engines();
    std::vector<uint32_t> done(engines, 0), instance(engines, 0), index(engines, 0);
    // The vector clock after each position of each engine.
    std::vector<std::vector<std::vector<uint32_t>>> clocks(engines);
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t e = 0; e < engines; ++e) {
        while (instance[e] < s_.instances.size() &&
               done[e] == before_[instance[e] + 1][e]) {
          ++instance[e];
          index[e] = 0;
        }
        if (instance[e] == s_.instances.size()) continue;
        const Event event = {e, instance[e], index[e], done[e] + 1};
        const BlockBuilder& b = s_.blocks[s_.instances[event.instance].block];
        const ListedInstruction& entry = b.lists[e][event.index];
        clock_.assign(engines, 0);
        if (done[e] != 0) clock_ = clocks[e].back();
        bool holds = true;
        for (const sluice_wait_t& w : entry.waits) {
          uint32_t engine, position;
          if (!Target(event, w, &engine, &position)) return false;
          if (done[engine] < position) {
            holds = false;
            break;
          }
          for (uint32_t x = 0; position != 0 && x < engines; ++x) {
            clock_[x] = std::max(clock_[x], clocks[engine][position - 1][x]);
          }
        }
        if (!holds) continue;
        now_ = static_cast<int>(events_.size());
        events_.push_back(event);
        if (!Execute(event, b, entry)) return false;
        clock_[e] = event.position;
        clocks[e].push_back(clock_);
        ++done[e];
        ++index[e];
        moved = true;
      }
    }
    for (uint32_t e = 0; e < engines; ++e) {
      if (done[e] != before_.back()[e]) return Fail("deadlock");
    }
    return true;
  }

  void Finish() {
    uint64_t sum = 11;
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const uint8_t kind = graph_.tensors[t].kind;
      if (kind != 2 && kind != 4) continue;
      Access a;
      if (places_[t].region !=
          (kind == 2 ? SLUICE_REGION_OUTPUT : SLUICE_REGION_STATE)) {
        Fail("an output elsewhere");
        return;
      }
      if (!Locate(t, &a)) return;
      for (uint64_t at : a.at) {
        for (uint32_t b = 0; b < a.width; ++b) {
          const uint64_t v = cells_[a.space][at + b].value;
          if (v == kUnwritten) Fail("an output byte is not written");
          sum = Mix(sum, v);
        }
      }
    }
    meaning_.fingerprint = sum;
  }

  std::vector<std::vector<uint32_t>> before_;
};

// Values of the parameters in run 0, 1, ...: each parameter goes through its range.
inline std::vector<int32_t> ParametersOf(const GraphSpec& graph, int run) {
  std::vector<int32_t> values;
  for (const ParameterSpec& p : graph.parameters) {
    values.push_back(p.min + run % (p.max - p.min + 1));
  }
  return values;
}
// The number of runs after which every parameter has had every value.
inline int RunsOf(const GraphSpec& graph) {
  int runs = 1;
  for (const ParameterSpec& p : graph.parameters) {
    runs = std::max(runs, p.max - p.min + 1);
  }
  return runs;
}

// The combined meaning of all these runs.
inline Meaning MeaningOf(const GraphSpec& graph, const std::vector<Place>& places,
                         const StreamBuilder& stream) {
  Meaning all;
  const Unroller unrolled(stream);
  for (int run = 0; run < RunsOf(graph) && all.fault.empty(); ++run) {
    const std::vector<int32_t> values = ParametersOf(graph, run);
    const Meaning one = Oracle(graph, places, unrolled, values).Follow();
    all.fault = one.fault;
    all.fingerprint = all.fingerprint * 0x9e3779b97f4a7c15u + one.fingerprint;
  }
  return all;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_ORACLE_H_
