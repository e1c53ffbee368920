// SPDX-License-Identifier: Apache-2.0
// What repeats take over is judged as if it had been followed: verdict, message and every
// number are those of the judge that follows all instructions, for plans and for changed
// plans. SLUICE_REPEATS sets how many plans and changes are judged.
#include "verify/repeats/repeats.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "io/read.h"
#include "mutation/changed_fields.h"
#include "sluice/plan_generated.h"
#include "support/library.h"
#include "support/malloc_allocator.h"
#include "support/random_graph.h"
#include "support/random_machine.h"
#include "support/setting.h"
#include "verify/chain_case.h"
#include "verify/verify.h"

namespace sluice_test {
namespace {

struct Said {
  sluice::Status status;
  std::string rule, message;
  sluice::VerifiedCounts counts;
};

TEST_CASE("repeats: of three loops a few iterations each are followed") {
  const Verdict v = JudgeChain(100, 3200, 32);
  CheckChain(v);
  CHECK(v.counts.followed < 60);
}

TEST_CASE("repeats: a loop that stores where it loads is followed to its end") {
  const Verdict right = JudgeChain(100, 320, 32);
  CheckChain(right);
  CHECK(right.counts.followed > 300);
  CHECK(right.counts.followed < 360);
  CheckLostRow(JudgeChain(100, 320, 64));
}

// A sum over 22 channels of [1,1,1,22] -> [1,1,1,2], two of every four by a loop: behind the
// first tile, 0 and 1, it adds 4 j + 4 and 4 j + 5. The others follow two by two, but that the
// last tile may begin at 14, so that it adds 16, 17, 20 and 21 once more.
Case SumCase(bool twice) {
  Case c;
  const std::vector<int32_t> attributes = {1, 1, 1,  1, 0, 0,    0,
                                           0, 1, -2, 0, 7, -100, 100};
  const uint8_t i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
  c.graph.tensors.push_back({{1, 1, 1, 22}, i8, 1, 0, 0});
  c.graph.tensors.push_back({{2, 1, 1, 22}, i8, 3, 3, 12});
  c.graph.tensors.push_back(c.graph.Inline({2, 3}, i32, ChannelParameters(2)));
  c.graph.tensors.push_back({{1, 1, 1, 2}, i8, 2, 0, 0});
  c.graph.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, {1, 1, 1, 22}, i8),
              PlaceAt(SLUICE_REGION_CONST, 0, {2, 1, 1, 22}, i8),
              PlaceAt(SLUICE_REGION_CONST, 48, {1, 1, 2, 3}, i32),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, {1, 1, 1, 2}, i8)};
  StreamBuilder& s = c.stream;
  s.gbuf_bytes = c.hardware.scratchpad_bytes;
  s.region_bytes[SLUICE_REGION_GBUF] = 194;
  s.region_bytes[SLUICE_REGION_CONST] = 72;
  s.region_bytes[SLUICE_REGION_INPUT] = 22;
  s.region_bytes[SLUICE_REGION_OUTPUT] = 2;
  s.AddKernel(SLUICE_OP_CONV, 0, attributes);
  for (uint32_t region = 0; region < 4; ++region) s.AddBinding(region, 0);
  s.blocks.resize(3);
  for (uint32_t i = 0; i < 3; ++i) {
    s.blocks[i].slot_count = 4;
    s.blocks[i].kernel_count = 1;
    s.AddInstance(i, 0, 0);
  }
  const auto add = [&](uint32_t block, uint32_t begin, uint32_t end, uint8_t flags) {
    BlockBuilder& b = s.blocks[block];
    const uint32_t tiles = static_cast<uint32_t>(b.tiles.size());
    const uint32_t compute = ComputeEngine(0), n = end - begin;
    const bool last = flags == SLUICE_FLAG_LAST;
    sluice_tile_t tile = EmptyTile(0, 4);
    tile.input0 = b.Dense(0, i8, {1, 1, 1, n}, 96);
    tile.weight = b.Dense(0, i8, {2, 1, 1, n}, 128);
    tile.accumulator = b.Dense(0, i32, {1, 1, 1, 2}, 160);
    if (last) {
      tile.parameters = b.Dense(0, i32, {1, 1, 2, 3}, 0);
      tile.output = b.Dense(0, i8, {1, 1, 1, 2}, 192);
      b.Load(b.Dense(1, i32, {1, 1, 2, 3}, 48), tile.parameters);
    }
    tile.c_begin = begin;
    tile.c_end = end;
    b.Load(b.Strided(2, i8, {1, 1, 1, n}, {22, 22, 22, 1}, begin), tile.input0,
           {tiles == 0 ? AfterAllBut(0, compute) : After(compute, tiles)});
    const uint32_t loaded =
        b.Load(b.Strided(1, i8, {2, 1, 1, n}, {22, 22, 22, 1}, begin), tile.weight);
    b.Compute(tile, {After(kDmaEngine, loaded)}, flags);
    if (last) {
      b.Store(tile.output, b.Dense(3, i8, {1, 1, 1, 2}, 0),
              {After(compute, tiles + 1)});
    }
  };
  add(0, 0, 2, SLUICE_FLAG_FIRST);
  add(1, 4, 6, 0);
  s.instances[1].first_step = 0;
  s.loops.push_back({1, 1, 5, SLUICE_NONE});
  s.steps = {0, 0, 0, 4, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4};
  for (uint32_t begin = 2; begin < (twice ? 14u : 18u); begin += 4) {
    add(2, begin, begin + 2, 0);
  }
  add(2, twice ? 14 : 18, twice ? 22 : 20, SLUICE_FLAG_LAST);
  c.report = {0, 11 * (2 + 4) + 24, 2};
  return c;
}

TEST_CASE("repeats: a loop that leaves gaps in a sum is followed to its end") {
  const auto judge = [](bool twice) {
    const Case c = SumCase(twice);
    Judged judged(c);
    return judged.OfImage(c.stream.Image());
  };
  const Verdict right = judge(false);
  CHECK(right.message == "");
  CHECK(right.counts.tiles == 11);
  CHECK(right.counts.followed == right.counts.instructions);
  const Verdict twice = judge(true);
  CHECK(twice.status == sluice::Status::kRejected);
  CHECK(twice.rule == "accumulate");
}

// A plan of many tiles in loops.
class Subject {
 public:
  Subject() : memory_(Malloc(), 0), arena_(&memory_) {}

  bool Make(uint64_t seed) {
    RandomGraphLimits limits;
    limits.layers = 1 + seed % 4;
    limits.elements = 6000;
    limits.opaque = false;
    MachineSpec machine = MakeRandomMachine(seed);
    machine.base.queues.clear();
    return Make(MakeRandomGraph(seed, limits), machine, 8 + seed % 5);
  }
  // With so many eighths of the smallest scratchpad.
  bool Make(const GraphSpec& spec, MachineSpec machine, uint64_t eighths) {
    const Bytes graph = GraphBytes(spec);
    Library library;
    const GraphPtr g = library.Graph(graph);
    machine.base.scratchpad_bytes = 1;
    library.Schedule(g, library.Hardware(MachineBytes(machine)));
    if (library.status != SLUICE_INFEASIBLE) return false;
    machine.base.scratchpad_bytes =
        library.diagnostic.smallest_scratchpad_bytes * eighths / 8;
    const Bytes hardware = MachineBytes(machine);
    const PlanPtr plan =
        library.Schedule(g, library.Hardware(hardware), 0, SLUICE_SOLVER_BASELINE);
    if (plan == nullptr) return false;
    const void* bytes = nullptr;
    size_t size = 0;
    if (sluice_plan_bytes(plan.get(), &bytes, &size) != SLUICE_OK) return false;
    plan_.assign(static_cast<const uint8_t*>(bytes),
                 static_cast<const uint8_t*>(bytes) + size);
    const auto* wire = sluice::wire::GetPlan(plan_.data());
    const uint8_t* stream = reinterpret_cast<const uint8_t*>(wire->stream()->data());
    at_ = static_cast<size_t>(stream - plan_.data());
    image_.assign(stream, stream + wire->stream()->size() * 16);
    sluice::Diagnostic d;
    const auto ok = sluice::Status::kOk;
    return HeaderOf(image_).loop_count != 0 &&
           sluice::ReadGraph(graph.data(), graph.size(), &arena_, &graph_, &d) == ok &&
           sluice::ReadHardware(hardware.data(), hardware.size(), &arena_, &hardware_,
                                &d) == ok;
  }
  const Bytes& image() const { return image_; }

  Said Judge(const Bytes& image, bool follow_all) {
    std::memcpy(plan_.data() + at_, image.data(), image.size());
    sluice::Memory memory(Malloc(), 0);
    sluice::Arena arena(&memory);
    sluice::Diagnostic d;
    sluice::Plan plan = {};
    REQUIRE(sluice::ReadPlan(plan_.data(), plan_.size(), &arena, &plan, &d) ==
            sluice::Status::kOk);
    std::vector<sluice::LayerCounts> layers(graph_.layers.size());
    Said said = {};
    if (follow_all) said.counts.by_layer = {layers.data(), layers.size()};
    said.status = sluice::Verify(graph_, hardware_, plan, &arena, &said.counts, &d);
    said.rule = d.rule;
    said.message = d.message;
    said.counts.by_layer = {};
    return said;
  }

 private:
  Bytes plan_, image_;
  size_t at_ = 0;
  sluice::Memory memory_;
  sluice::Arena arena_;
  sluice::Graph graph_ = {};
  sluice::Hardware hardware_ = {};
};

struct Totals {
  uint64_t judged = 0, refused = 0, undecided = 0;
  uint64_t instructions = 0, followed = 0;
};

void JudgeTwice(Subject* subject, const Bytes& image, const std::string& what,
                Totals* totals) {
  INFO(what);
  Said all = subject->Judge(image, true);
  Said said = subject->Judge(image, false);
  ++totals->judged;
  // Repeats take less work, so that they may decide where following all does not.
  if (all.status == sluice::Status::kUnsupported && all.rule == "work") {
    ++totals->undecided;
    return;
  }
  CHECK(said.status == all.status);
  CHECK(said.rule == all.rule);
  CHECK(said.message == all.message);
  if (all.status != sluice::Status::kOk) ++totals->refused;
  totals->instructions += all.counts.instructions;
  totals->followed += said.counts.followed;
  CHECK(all.counts.followed == all.counts.instructions);
  if (all.rule == "deadlock" || all.rule == "structure") return;
  said.counts.followed = all.counts.followed;
  CHECK(std::memcmp(&said.counts, &all.counts, sizeof all.counts) == 0);
}

void JudgeChanges(Subject* subject, uint64_t seed, uint64_t want, Totals* totals) {
  const Bytes whole = subject->image();
  const std::vector<Table> tables = TablesOf(whole);
  sluice::Rng rng(seed);
  std::vector<Table> looped;  // what repeats rest on
  for (const Table& t : tables) {
    const std::string name = t.name;
    if (name == "loop" || name == "step" || name == "wait" || name == "binding") {
      looped.push_back(t);
    }
  }
  for (uint64_t i = 0; i < 40 && totals->judged < want; ++i) {
    Bytes image = whole;
    std::string what = "seed " + std::to_string(seed) + ": ";
    ChangeOne(&rng, i % 2 == 0 ? tables : looped, &image, &what);
    RehashAll(&image);
    JudgeTwice(subject, image, what, totals);
  }
}

// A product whose sums are added up in many parts, in a scratchpad that holds little.
TEST_CASE("repeats: sums go on behind the parts that were not followed") {
  GraphSpec g;
  std::vector<int32_t> attributes(SLUICE_CONV_ATTRIBUTES);
  attributes[SLUICE_CONV_ACT_MIN] = -128;
  attributes[SLUICE_CONV_ACT_MAX] = 127;
  g.tensors = {{{6, 300}, SLUICE_DTYPE_INT8, 1},
               {{5, 300}, SLUICE_DTYPE_INT8, 3, 3, 1},
               {{5, 3}, SLUICE_DTYPE_INT32, 3, 3, 2},
               {{6, 5}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, attributes}};
  uint64_t seen = 0;
  for (uint64_t eighths = 8; eighths < 40; eighths += 4) {
    CAPTURE(eighths);
    Subject subject;
    if (!subject.Make(g, MachineSpec(), eighths)) continue;
    Totals totals, changed;
    JudgeTwice(&subject, subject.image(), "as planned", &totals);
    CHECK(totals.refused == 0);
    MESSAGE(totals.followed << " of " << totals.instructions);
    CHECK(totals.followed < totals.instructions / 2);
    JudgeChanges(&subject, eighths, 40, &changed);
    ++seen;
  }
  CHECK(seen > 2);
}

TEST_CASE("repeats: changed plans are judged as if all instructions were followed") {
  const uint64_t want = Setting("SLUICE_REPEATS", 3000);
  Totals plans, changed;
  for (uint64_t seed = Setting("SLUICE_REPEATS_FROM", 1); changed.judged < want;
       ++seed) {
    Subject subject;
    if (!subject.Make(seed)) continue;
    JudgeTwice(&subject, subject.image(), "seed " + std::to_string(seed), &plans);
    JudgeChanges(&subject, seed, want, &changed);
  }
  MESSAGE(plans.judged << " plans, " << plans.followed << " of " << plans.instructions
                       << " instructions followed; " << changed.judged << " changes, "
                       << changed.refused << " refused, " << changed.undecided
                       << " undecided, " << changed.followed << " of "
                       << changed.instructions << " followed");
  CHECK(plans.refused == 0);
  CHECK(plans.followed < plans.instructions * 3 / 4);
  CHECK(changed.refused > changed.judged / 3);
}

}  // namespace
}  // namespace sluice_test
