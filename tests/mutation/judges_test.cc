// SPDX-License-Identifier: Apache-2.0
// The static judge (src/verify) and the simulator with the walker judge the same
// changed plans. If only one of them refuses a plan, that judge is wrong, or kScope
// lists the difference and its reason.
//
// A change gives one field of one record of the stream, or of a tensor's place, another
// value; the hashes are made right again. Refusals that only compare the report's
// numbers do not count. SLUICE_DIFFERENCES sets how many changes are made,
// SLUICE_DIFFERENCES_FROM the first seed, so that runs add up. A million take minutes:
//   SLUICE_DIFFERENCES=1000000 build/release/tests/test_mutation -tc='judges*'
#include <doctest/doctest.h>

#include <cstdio>
#include <map>
#include <string>

#include "firmware-sim/sim.h"
#include "firmware-sim/walker.h"
#include "io/read.h"
#include "mutation/changed_fields.h"
#include "mutation/oracle.h"
#include "mutation/small_machine.h"
#include "plan/mesh/mesh_run.h"
#include "support/library.h"
#include "support/malloc_allocator.h"
#include "support/random_graph.h"
#include "support/random_machine.h"
#include "support/setting.h"
#include "support/simulation.h"
#include "verify/verify.h"

namespace sluice_test {
namespace {

// A plan that verify refuses rightly and the simulator executes to the right bytes: the
// rule of the refusal and the start of its message, with '#' for numbers.
struct Scope {
  const char* rule;
  const char* sentence;
};

constexpr Scope kScope[] = {
    // The place of a tile in its layer, and the elements that an operand stands for.
    // The simulator computes with the bytes at the operand's address, which may happen
    // to be right.
    {"content", "input"},
    {"content", "weight must be"},
    {"content", "parameters must be"},
    {"content", "appended rows must be"},
    {"content", "the index is not contiguous elements of the layer's index"},
    // Behind a PAD the simulator accepts pads of the PAD or of the convolution.
    {"tile", "conv: pad # is #"},
    {"tile", "depthwise_conv: pad # is #"},
    // Other elements than the graph means, which have the same bytes for all 20 inputs
    // because values saturate or are few.
    {"content", "reads across element borders of the content"},
    {"output", "tensor # is not complete at its place at the end"},
    // The simulator computes with the kernel's attributes, and the bytes happen to be
    // right.
    {"tile", "kernel # differs from its layer in op or attributes"},
    // Channels that are missing or added twice without a change of any byte.
    {"accumulate", "channels are added twice"},
    {"accumulate", "the last tile of a sum has only some of the channels before it"},
    // Missing rows that the index never names; verify does not know the index.
    {"tile", "the source is not the whole table"},
    {"content", "the source is not the layer's table"},
    // Rows that are appended twice with the same bytes.
    {"append", "appends rows twice"},
    // A parameter with a single value moves nothing, but verify still checks its step.
    {"patch", "the patch moves differently from this state's rows"},
    // The right bytes of two tensors that lie side by side. Bounds on loads count each
    // tensor's by themselves, so verify wants a load for each.
    {"structure", "loads more than one tensor"},
    // What is said beside the stream; the simulator needs none of it.
    {"bounds", "region # is larger than what is used of it"},
    {"structure", "the debug map names layer #"},
};

// A plan, and both judges for it.
class Subject {
 public:
  Subject() : memory_(Malloc(), 0), arena_(&memory_) {}

  bool Make(uint64_t seed) {
    RandomGraphLimits limits;
    limits.layers = 4;
    limits.elements = seed % 3 == 0 ? 60 : 400;
    limits.opaque = seed % 5 == 0;
    graph_ = MakeRandomGraph(seed, limits);
    for (const LayerSpec& l : graph_.layers) {
      opaque_ = opaque_ || l.op == SLUICE_OP_OPAQUE;
    }
    graph_bytes_ = GraphBytes(graph_);
    Library library;
    const GraphPtr g = library.Graph(graph_bytes_);
    MachineSpec machine = SmallMachine(seed, seed % 4 == 1);
    if (!FitScratchpad(g, seed, &library, &machine)) return false;
    hardware_bytes_ = MachineBytes(machine);
    const HardwarePtr h = library.Hardware(hardware_bytes_);
    const PlanPtr plan = library.Schedule(
        g, h, 0, seed % 3 == 0 ? SLUICE_SOLVER_BASELINE : SLUICE_SOLVER_DEFAULT);
    if (plan == nullptr || ReportOf(plan).instructions > 200) return false;
    plan_bytes_ = BytesOf(plan);
    return Open();
  }

  bool MakeMesh(uint64_t seed) {
    RandomGraphLimits limits;
    limits.layers = 4;
    limits.elements = 150;
    graph_ = MakeRandomGraph(seed, limits);
    graph_bytes_ = GraphBytes(graph_);
    sluice::Rng rng(seed);
    const HardwareSpec machine = SmallMesh(&rng, 4);
    hardware_bytes_ = HardwareBytes(machine);
    const MeshRun run =
        RunOnMesh(graph_, machine, RandomSegments(&rng, graph_, machine));
    if (run.status != sluice::Status::kOk || run.report.instructions > 200)
      return false;
    plan_bytes_ = run.plan;
    return Open();
  }

  const Bytes& image() const { return image_; }

  // The plan with another stream of the same size.
  void Take(const Bytes& image) {
    std::memcpy(plan_bytes_.data() + stream_at_, image.data(), image.size());
  }

  // kOk: valid, except perhaps for the report. Else `rule` and `sentence` say why not.
  sluice::Status Verify(std::string* rule, std::string* sentence) {
    sluice::Memory memory(Malloc(), 0);
    sluice::Arena arena(&memory);
    sluice::Diagnostic d = EmptyDiagnostic();
    sluice::Plan plan = {};
    REQUIRE(sluice::ReadPlan(plan_bytes_.data(), plan_bytes_.size(), &arena, &plan,
                             &d) == sluice::Status::kOk);
    const sluice::Status status =
        sluice::Verify(parsed_, hardware_, plan, &arena, nullptr, &d);
    *rule = d.rule;
    *sentence = d.message;
    const bool report =
        *rule == "report" || *rule == "traffic" || *rule == "certificate";
    return report ? sluice::Status::kOk : status;
  }

  sluice_sim::SimulateResult Simulate(int run) const {
    sluice_sim::SimulateOptions o =
        SimulationOf(graph_bytes_, hardware_bytes_, plan_bytes_);
    o.functional = !opaque_;
    o.seed = static_cast<uint64_t>(run + 1);
    o.parameters = ParametersOf(graph_, run);
    o.max_memory_bytes = 1 << 23;
    return sluice_sim::Simulate(o);
  }
  bool opaque() const { return opaque_; }
  bool appends() const { return !graph_.parameters.empty(); }
  int runs() const { return std::max(2, RunsOf(graph_)); }

 private:
  bool Open() {
    sluice::Diagnostic d = EmptyDiagnostic();
    const auto* wire = sluice::wire::GetPlan(plan_bytes_.data());
    const uint8_t* stream = reinterpret_cast<const uint8_t*>(wire->stream()->data());
    stream_at_ = static_cast<size_t>(stream - plan_bytes_.data());
    image_.assign(stream, stream + wire->stream()->size() * 16);
    const auto ok = sluice::Status::kOk;
    return sluice::ReadGraph(graph_bytes_.data(), graph_bytes_.size(), &arena_,
                             &parsed_, &d) == ok &&
           sluice::ReadHardware(hardware_bytes_.data(), hardware_bytes_.size(), &arena_,
                                &hardware_, &d) == ok;
  }

  GraphSpec graph_;
  Bytes graph_bytes_, hardware_bytes_, plan_bytes_, image_;
  size_t stream_at_ = 0;
  bool opaque_ = false;  // the simulator only keeps time
  sluice::Memory memory_;
  sluice::Arena arena_;
  sluice::Graph parsed_ = {};
  sluice::Hardware hardware_ = {};
};

// Replaces numbers by '#', so that messages of one kind are equal.
std::string Kind(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

// Removes the place that messages of the static judge start with.
std::string WithoutPlace(const std::string& sentence) {
  const size_t colon = sentence.find(": ");
  if (sentence.compare(0, 9, "instance ") != 0 || colon == std::string::npos) {
    return sentence;
  }
  return sentence.substr(colon + 2);
}

struct Totals {
  uint64_t made = 0, both_accept = 0, both_refuse = 0, undecided = 0, in_scope = 0;
  std::map<std::string, uint64_t> differences;
};

void Note(const std::string& kind, const std::string& what, uint64_t seed, Totals* t) {
  for (const Scope& scope : kScope) {
    if (kind.rfind(std::string(scope.rule) + ": " + scope.sentence, 0) == 0) {
      ++t->in_scope;
      return;
    }
  }
  if (t->differences[kind]++ == 0) {
    std::printf("seed %llu: %s\n  %s\n", static_cast<unsigned long long>(seed),
                what.c_str(), kind.c_str());
    std::fflush(stdout);
  }
}

void JudgeChanged(Subject* subject, const std::string& what, uint64_t seed,
                  Totals* totals) {
  ++totals->made;
  std::string rule, sentence;
  const sluice::Status status = subject->Verify(&rule, &sentence);
  if (status != sluice::Status::kOk && status != sluice::Status::kRejected) {
    ++totals->undecided;
    return;
  }
  const bool valid = status == sluice::Status::kOk;
  sluice_sim::SimulateResult r;
  bool runs = true;
  for (int run = 0; run < (valid ? 1 : subject->runs()) && runs; ++run) {
    r = subject->Simulate(run);
    runs = r.ok && r.mismatches == 0;
  }
  // Wrong bytes may equal the right ones by chance, so more inputs are tried.
  const bool of_bytes =
      rule == "content" || rule == "output" || rule == "accumulate" || rule == "append";
  for (int run = 2; run < 20 && !valid && runs && of_bytes; ++run) {
    r = subject->Simulate(run);
    runs = r.ok && r.mismatches == 0;
  }
  // The bytes of opaque layers are not computed, so none is compared. And verify wants
  // all stores of one append ordered: until they are done it takes every byte in their
  // reach as unknown.
  const bool scope =
      (of_bytes && subject->opaque()) || (rule == "order" && subject->appends());
  if (!valid && runs && scope) {
    ++totals->in_scope;
    return;
  }
  if (!runs && r.error_code == "memory") {
    ++totals->undecided;
    return;
  }
  if (valid == runs) {
    ++(valid ? totals->both_accept : totals->both_refuse);
    return;
  }
  Note(valid ? "simulator " + r.error_code + ": " + Kind(r.error)
             : rule + ": " + Kind(WithoutPlace(sentence)),
       what, seed, totals);
}

TEST_CASE(
    "judges: both say the same of changed plans, or the difference is a known one") {
  const uint64_t want = Setting("SLUICE_DIFFERENCES", 4000);
  const uint64_t each = want < 20000 ? 50 : 400;  // of one plan
  Totals totals;
  uint64_t subjects = 0;
  for (uint64_t seed = Setting("SLUICE_DIFFERENCES_FROM", 1); totals.made < want;
       ++seed) {
    Subject subject;
    if (!(seed % 4 == 3 ? subject.MakeMesh(seed) : subject.Make(seed))) continue;
    ++subjects;
    const Bytes whole = subject.image();
    const std::vector<Table> tables = TablesOf(whole);
    sluice::Rng rng(seed);
    for (uint64_t i = 0; i < each && totals.made < want; ++i) {
      Bytes image = whole;
      std::string what;
      ChangeOne(&rng, tables, &image, &what);
      if (rng.Below(4) == 0) ChangeOne(&rng, tables, &image, &what);
      RehashAll(&image);
      subject.Take(image);
      JudgeChanged(&subject, what, seed, &totals);
    }
  }
  std::printf(
      "%llu changes of %llu plans: %llu accepted by both, %llu refused by both, %llu "
      "undecided, %llu of known scope\n",
      static_cast<unsigned long long>(totals.made),
      static_cast<unsigned long long>(subjects),
      static_cast<unsigned long long>(totals.both_accept),
      static_cast<unsigned long long>(totals.both_refuse),
      static_cast<unsigned long long>(totals.undecided),
      static_cast<unsigned long long>(totals.in_scope));
  for (const auto& [kind, count] : totals.differences) {
    std::printf("%8llu %s\n", static_cast<unsigned long long>(count), kind.c_str());
  }
  CHECK(totals.differences.empty());
}

}  // namespace
}  // namespace sluice_test
