// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "io/wire.h"
#include "support/random_machine.h"
#include "support/read_graph.h"

namespace sluice_test {
namespace {

using ::flatbuffers::TypeTable;

size_t BytesOf(unsigned type) {
  switch (type) {
    case ::flatbuffers::ET_BOOL:
    case ::flatbuffers::ET_UCHAR:
      return 1;
    case ::flatbuffers::ET_USHORT:
      return 2;
    case ::flatbuffers::ET_INT:
    case ::flatbuffers::ET_UINT:
    case ::flatbuffers::ET_FLOAT:
      return 4;
    case ::flatbuffers::ET_ULONG:
    case ::flatbuffers::ET_DOUBLE:
      return 8;
    default:
      FAIL("no type of the schemas");
      return 0;
  }
}

// The form of a table, from what flatc says of its schema.
std::string FormOf(const TypeTable* table) {
  std::string form;
  for (size_t i = 0; i < table->num_elems; ++i) {
    const auto code = table->type_codes[i];
    if (code.base_type == ::flatbuffers::ET_STRING) {
      form += code.is_repeating ? 'n' : 's';
    } else if (code.base_type != ::flatbuffers::ET_SEQUENCE) {
      const size_t bytes = BytesOf(code.base_type);
      form += static_cast<char>((code.is_repeating ? '@' : '0') + bytes);
    } else {
      const TypeTable* to = table->type_refs[code.sequence_ref]();
      if (to->st == ::flatbuffers::ST_STRUCT) {
        form += static_cast<char>('@' + to->values[to->num_elems]);
      } else {
        form += (code.is_repeating ? "[" : "(") + FormOf(to);
        form += code.is_repeating ? ']' : ')';
      }
    }
  }
  return form;
}

TEST_CASE("the forms of buffers are those of the schemas") {
  CHECK(FormOf(sluice::wire::GraphTypeTable()) == sluice::kGraphForm);
  CHECK(FormOf(sluice::wire::HardwareTypeTable()) == sluice::kHardwareForm);
  CHECK(FormOf(sluice::wire::PlanTypeTable()) == sluice::kPlanForm);
}

Bytes SmallPlan() {
  ::flatbuffers::FlatBufferBuilder b;
  const auto stream = b.CreateVectorOfStructs<sluice::wire::Words>({{1, 2, 3, 4}});
  const auto leave = b.CreateVector<uint32_t>({5});
  const auto least =
      b.CreateVectorOfStructs<sluice::wire::LayerLeast>({{1, 2, 3, 4, 5.0}});
  sluice::wire::ReportBuilder report(b);
  report.add_latency_cycles(7);
  report.add_tiles(3);
  const auto reported = report.Finish();
  sluice::wire::CertificateBuilder certificate(b);
  certificate.add_layer(least);
  certificate.add_caller_pj(1.0);
  const auto certified = certificate.Finish();
  sluice::wire::PlanBuilder plan(b);
  plan.add_stream(stream);
  plan.add_leave(leave);
  plan.add_report(reported);
  plan.add_certificate(certified);
  plan.add_placing(1);
  sluice::wire::FinishPlanBuffer(b, plan.Finish());
  return Bytes(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
}

struct Opened {
  const char* identifier;
  const char* form;
  bool (*verify)(::flatbuffers::Verifier& verifier);
};

// Opens `good` with one to three bytes changed and cut off somewhere: accepted where
// the code that flatc makes of the schema accepts it, else refused. Returns how many
// were refused as corrupt.
int OpenDamaged(const Bytes& good, const Opened& kind, int rounds) {
  std::mt19937 random(static_cast<uint32_t>(good.size()));
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    Bytes bytes = good;
    for (uint32_t n = round == 0 ? 0 : 1 + random() % 3; n > 0; --n) {
      uint8_t& byte = bytes[random() % bytes.size()];
      byte = static_cast<uint8_t>(random() % 4 == 0 ? random()
                                                    : byte ^ 1u << random() % 8);
    }
    if (round != 0 && random() % 8 == 0)
      bytes.resize(12 + random() % (bytes.size() - 11));
    if (std::memcmp(bytes.data() + 4, kind.identifier, 4) != 0) continue;
    sluice::Memory memory(Malloc(), 0);
    sluice::Arena arena(&memory);
    sluice::Diagnostic diagnostic = {};
    const uint8_t* data = nullptr;
    const sluice::Status status =
        sluice::OpenWire({bytes.data(), bytes.size(), kind.identifier, "it", kind.form},
                         &arena, &data, &diagnostic);
    ::flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 8, 305);
    const bool valid = kind.verify(verifier);
    CHECK((status == sluice::Status::kBadInput) == !valid);
    if (!valid) ++refused;
    if (round == 0) CHECK(status == sluice::Status::kOk);
  }
  return refused;
}

TEST_CASE("a damaged buffer is refused where the schema's own code refuses it") {
  const Opened graph = {sluice::wire::GraphIdentifier(), sluice::kGraphForm,
                        sluice::wire::VerifyGraphBuffer};
  CHECK(OpenDamaged(GraphBytes(TwoRequantized(8)), graph, 30000) > 1000);
  const Opened plan = {sluice::wire::PlanIdentifier(), sluice::kPlanForm,
                       sluice::wire::VerifyPlanBuffer};
  CHECK(OpenDamaged(SmallPlan(), plan, 30000) > 1000);
  const Opened machine = {sluice::wire::HardwareIdentifier(), sluice::kHardwareForm,
                          sluice::wire::VerifyHardwareBuffer};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    CHECK(OpenDamaged(MachineBytes(MakeRandomMachine(seed)), machine, 3000) > 100);
  }
}

}  // namespace
}  // namespace sluice_test
