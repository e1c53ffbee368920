// SPDX-License-Identifier: Apache-2.0
// STATE_APPEND from graph to simulation: old and new readers, every value, forged
// patches.
#include "import/graph_writer.h"
#include "planned.h"
#include "support/wire_builder.h"

namespace sluice_test {
namespace {

using sluice::import::Dims;
using sluice::import::GraphWriter;
using sluice::import::Kind;

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
const std::vector<int32_t> kPlusOne = {-1, 1 << 30, 1, 0, -128, 127};

uint32_t PlusOne(GraphWriter* g, const std::string& name, uint32_t in,
                 const Dims& dims) {
  const uint32_t out = g->AddTensor(name, kInt8, Kind::kOutput, dims);
  g->AddLayer(name, SLUICE_OP_REQUANTIZE, {in}, {out}, kPlusOne);
  return out;
}

// Two states that share one position. Layers read the first state before and after the
// append; slices taken on either side are read after it.
Bytes AppendGraph() {
  GraphWriter g("append");
  const Dims dims = {1, 2, 8, 4}, row = {1, 2, 2, 4}, part = {1, 2, 3, 4};
  const int32_t position = static_cast<int32_t>(g.AddParameter("position", 1, 6));
  const uint32_t rows = g.AddTensor("rows", kInt8, Kind::kInput, row);
  const uint32_t state = g.AddTensor("state", kInt8, Kind::kState, dims);
  const uint32_t other = g.AddTensor("other", kInt8, Kind::kState, dims);
  const uint32_t early = g.AddTensor("early", kInt8, Kind::kIntermediate, part);
  const uint32_t late = g.AddTensor("late", kInt8, Kind::kIntermediate, part);
  const uint32_t flat = g.AddTensor("flat", kInt8, Kind::kIntermediate, {1, 1, 1, 64});
  PlusOne(&g, "before", state, dims);
  g.AddLayer("early", SLUICE_OP_SLICE, {state}, {early}, {0, 0, 3, 0});
  g.AddLayer("append", SLUICE_OP_STATE_APPEND, {state, rows}, {state}, {2, position});
  g.AddLayer("other", SLUICE_OP_STATE_APPEND, {other, rows}, {other}, {2, position});
  g.AddLayer("late", SLUICE_OP_SLICE, {state}, {late}, {0, 0, 3, 0});
  g.AddLayer("flat", SLUICE_OP_RESHAPE, {state}, {flat});
  PlusOne(&g, "early+1", early, part);
  PlusOne(&g, "late+1", late, part);
  PlusOne(&g, "flat+1", flat, {1, 1, 1, 64});
  PlusOne(&g, "after", state, dims);
  return g.Finish();
}

// The plan with a changed stream; the header's hashes are right again.
template <typename F>
Bytes Forged(const Planned& p, F&& change) {
  Bytes plan = p.plan;
  uint8_t* stream = plan.data() + p.stream_at;
  sluice_stream_header_t header;
  std::memcpy(&header, stream, sizeof header);
  change(&header, stream);
  const uint64_t hash =
      sluice_test::StreamHash(stream + sizeof header, p.stream_size - sizeof header);
  header.hash_lo = static_cast<uint32_t>(hash);
  header.hash_hi = static_cast<uint32_t>(hash >> 32);
  std::memcpy(stream, &header, sizeof header);
  return plan;
}

sluice_patch_t* Patch(const sluice_stream_header_t& header, uint8_t* stream, size_t i) {
  return reinterpret_cast<sluice_patch_t*>(stream + header.patch_offset) + i;
}
sluice_binding_t* Binding(const sluice_stream_header_t& header, uint8_t* stream,
                          uint32_t i) {
  return reinterpret_cast<sluice_binding_t*>(stream + header.binding_offset) + i;
}

TEST_CASE("an append is right for every value, and the state stays over runs") {
  Planned p(AppendGraph(), "mcu-256k");
  Bytes state;
  std::vector<Bytes> untiled;
  uint64_t seed = 0;
  for (const int32_t value : {6, 1, 2, 5, 4, 3, 3, 6}) {
    CAPTURE(value);
    sluice_sim::SimulateOptions run = p.Options();
    run.parameters = {value};
    run.seed = ++seed;
    run.state = &state;
    run.state_tensors = &untiled;
    const sluice_sim::SimulateResult result = p.Run(run);
    CHECK(sluice_sim::RunReference(run).outputs == result.outputs);
    // Readers after the append see the new rows, those before it do not.
    CHECK(result.outputs.at(0) != result.outputs.at(4));
  }
  sluice_sim::SimulateOptions run = p.Options();
  for (const int32_t value : {0, 7}) {
    run.parameters = {value};
    CHECK(sluice_sim::Simulate(run).error_code == "input");
  }
}

TEST_CASE("the static judge refuses appends that go elsewhere for some value") {
  Planned p(AppendGraph(), "mcu-256k");
  REQUIRE(p.RefusedBy(p.plan) == "");
  const auto rule = [&](auto change) { return p.RefusedBy(Forged(p, change)); };
  using Header = sluice_stream_header_t;
  CHECK(rule([](Header* h, uint8_t*) { h->patch_count = 1; }) == "patch");
  CHECK(rule([](Header* h, uint8_t*) { h->patch_count = 0; }) == "patch");
  CHECK(rule([](Header* h, uint8_t* s) { Patch(*h, s, 0)->step_lo *= 2; }) == "patch");
  CHECK(rule([](Header* h, uint8_t* s) { Patch(*h, s, 0)->step_hi = 1; }) ==
        "structure");
  CHECK(rule([](Header* h, uint8_t* s) { Patch(*h, s, 0)->parameter = 1; }) ==
        "structure");
  CHECK(rule([](Header* h, uint8_t* s) {
          std::swap(*Patch(*h, s, 0), *Patch(*h, s, 1));
        }) == "structure");
  // One row too far, for every value.
  CHECK(rule([](Header* h, uint8_t* s) {
          Binding(*h, s, Patch(*h, s, 0)->binding)->base_lo += 4;
        }) == "append");
  // Both appends store into one state.
  CHECK(rule([](Header* h, uint8_t* s) {
          *Binding(*h, s, Patch(*h, s, 1)->binding) =
              *Binding(*h, s, Patch(*h, s, 0)->binding);
        }) == "append");
  CHECK(rule([](Header* h, uint8_t* s) {
          Binding(*h, s, Patch(*h, s, 0)->binding)->region = SLUICE_REGION_WORKSPACE;
        }) == "patch");
  // The patch moves a slot that loads read.
  CHECK(rule([](Header* h, uint8_t* s) {
          for (uint32_t i = 0; i < h->binding_count; ++i) {
            if (Binding(*h, s, i)->region != SLUICE_REGION_STATE) continue;
            if (i == Patch(*h, s, 0)->binding) break;
            Patch(*h, s, 0)->binding = i;
            return;
          }
        }) == "patch");
}

TEST_CASE("the simulator refuses broken patches and notices wrong ones") {
  Planned p(AppendGraph(), "mcu-256k");
  const auto code = [&](auto change) {
    const Bytes plan = Forged(p, change);
    sluice_sim::SimulateOptions run = p.Options();
    run.plan = plan.data();
    run.parameters = {6};
    return sluice_sim::Simulate(run).error_code;
  };
  using Header = sluice_stream_header_t;
  REQUIRE(code([](Header*, uint8_t*) {}) == "");
  CHECK(code([](Header* h, uint8_t* s) { Patch(*h, s, 0)->step_hi = 1; }) == "stream");
  CHECK(code([](Header* h, uint8_t* s) { Patch(*h, s, 1)->binding = 1u << 20; }) ==
        "stream");
  CHECK(code([](Header* h, uint8_t*) { h->patch_offset = h->size_bytes; }) == "stream");
  CHECK(code([](Header* h, uint8_t* s) {
          std::swap(*Patch(*h, s, 0), *Patch(*h, s, 1));
        }) == "stream");
  CHECK(code([](Header* h, uint8_t* s) { Patch(*h, s, 0)->step_lo = 8; }) ==
        "mismatch");
  CHECK(code([](Header* h, uint8_t* s) { Patch(*h, s, 1)->step_lo = 1 << 20; }) ==
        "bounds");
  // Only patched slots may store to a state.
  CHECK(code([](Header* h, uint8_t*) { h->patch_count = 0; }) == "region");
}

TEST_CASE(
    "a layer in front of an append may not read the new rows, nor one behind it "
    "the old ones") {
  // The baseline makes one instance per layer.
  Planned p(AppendGraph(), "mcu-256k", SLUICE_SOLVER_BASELINE);
  // Reorders instances: the append before the reader of the old state, or after the
  // reader of the new one.
  using Header = sluice_stream_header_t;
  const auto swapped = [&](uint32_t a, uint32_t b) {
    return p.RefusedBy(Forged(p, [&](Header* h, uint8_t* s) {
      auto* instances = reinterpret_cast<sluice_instance_t*>(s + h->instance_offset);
      std::swap(instances[a], instances[b]);
    }));
  };
  Header header;
  std::memcpy(&header, p.plan.data() + p.stream_at, sizeof header);
  REQUIRE(header.instance_count == 8);  // `late` and `flat` are views
  const std::string early = swapped(0, 2), late = swapped(2, 7);
  CHECK((early == "content" || early == "order"));
  CHECK((late == "content" || late == "order"));
}

}  // namespace
}  // namespace sluice_test
