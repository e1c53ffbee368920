// SPDX-License-Identifier: Apache-2.0
#include "io/read.h"
#include "io/wire.h"
#include "sluice/plan_generated.h"

namespace sluice {

namespace {

constexpr char kStage[] = "plan";

void CopyReport(const wire::Report* in, sluice_report_t* out) {
  memset(out, 0, sizeof *out);
  out->struct_size = sizeof *out;
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(in);
  for (size_t i = 0; i < sizeof kReportFields; ++i) {
    const uint8_t* field =
        table->GetAddressOf(static_cast<flatbuffers::voffset_t>(4 + 2 * i));
    if (field == nullptr) continue;  // an absent field is 0
    memcpy(reinterpret_cast<uint8_t*>(out) + kReportAt[i], field, kReportFields[i]);
  }
}

// Copies a flatbuffers vector of structs into the same structs of model/.
template <typename Ours, typename Wire>
Span<const Ours> AsStructs(const flatbuffers::Vector<const Wire*>* vector) {
  static_assert(sizeof(Ours) == sizeof(Wire) && alignof(Ours) == alignof(Wire), "");
  if (vector == nullptr) return Span<const Ours>();
  return Span<const Ours>(reinterpret_cast<const Ours*>(vector->Data()),
                          vector->size());
}

// Its layers are read in place.
void ReadCertificate(const wire::Certificate* in, sluice_certificate_t* out) {
  memset(out, 0, sizeof *out);
  out->struct_size = sizeof *out;
  if (in == nullptr) return;
  const Span<const sluice_layer_least_t> layers =
      AsStructs<sluice_layer_least_t>(in->layer());
  out->host_cycles = in->host_cycles();
  out->compute_cycles = in->compute_cycles();
  out->port_cycles = in->port_cycles();
  out->room_cycles = in->room_cycles();
  out->again_pj = in->again_pj();
  if (layers.empty()) return;
  out->caller_cycles = in->caller_cycles();
  out->caller_pj = in->caller_pj();
  out->count = static_cast<uint32_t>(layers.size() - 1);
  out->layers = layers.data();
  out->all = layers[out->count];
}

// False when lengths contradict each other.
bool ReadNotation(const wire::Plan* in, PlanNotation* out) {
  out->section = AsStructs<PlanSection>(in->section());
  out->order = AsSpan(in->order());
  out->cut = AsSpan(in->cut());
  out->tiling = AsSpan(in->tiling());
  out->dram = AsStructs<PlanDramTensor>(in->dram());
  out->section_buffer = AsSpan(in->section_buffer());
  out->buffer = AsSpan(in->buffer());
  if (out->section_buffer.size() != out->section.size()) {
    out->section_buffer = Span<const uint32_t>();
  }
  out->segment = AsStructs<PlanSegment>(in->segment());
  out->loop = AsStructs<PlanLoop>(in->loop());
  out->leave = AsSpan(in->leave());
  out->placing = in->placing();
  for (const PlanSection& s : out->section) {
    if (s.dram > out->dram.size() || s.transfers > out->dram.size() - s.dram) {
      return false;
    }
  }
  const size_t cuts = out->segment.empty() ? out->order.size() : 0;
  return out->cut.size() == cuts && out->tiling.size() == cuts &&
         (out->leave.empty() || out->leave.size() == out->order.size());
}

}  // namespace

Status ReadPlan(const void* bytes, size_t size, Arena* arena, Plan* plan,
                Diagnostic* diagnostic) {
  const uint8_t* data = nullptr;
  SLUICE_TRY(OpenWire({bytes, size, wire::PlanIdentifier(), kStage, kPlanForm}, arena,
                      &data, diagnostic));
  const auto bad = [&](const char* what) -> Status {
    return Fail(diagnostic, Status::kBadInput, kStage).Text(what);
  };
  const wire::Plan* in = wire::GetPlan(data);
  if (in->stream() == nullptr || in->report() == nullptr) {
    return bad("the plan has no stream or no report");
  }
  const Span<const uint8_t> region = AsSpan(in->tensor_region());
  const Span<const uint64_t> offset = AsSpan(in->tensor_offset());
  const Span<const uint32_t> strides = AsSpan(in->tensor_strides());
  if (offset.size() != region.size() || strides.size() != kAxes * region.size()) {
    return bad("tensor_region, tensor_offset and tensor_strides differ in length");
  }
  if (!ElementsAligned(in->tensor_offset())) {
    return bad("tensor_offset is not 8-byte aligned");
  }
  const wire::Certificate* certificate = in->certificate();
  if (certificate != nullptr && certificate->layer() != nullptr &&
      reinterpret_cast<uintptr_t>(certificate->layer()->Data()) % 8 != 0) {
    return bad("the certificate's layers are not 8-byte aligned");
  }
  Span<TensorPlace> places;
  SLUICE_TRY(arena->Allocate(region.size(), &places));
  for (size_t t = 0; t < places.size(); ++t) {
    if (t % 256 == 255 && arena->memory()->Stop()) return Status::kStopped;
    places[t].region = region[t];
    places[t].offset = offset[t];
    for (size_t a = 0; a < kAxes; ++a) places[t].stride[a] = strides[kAxes * t + a];
  }
  if (!ReadNotation(in, &plan->notation)) {
    return bad("order, cut and tiling differ in length, or a section exceeds dram");
  }
  plan->layer_hash = AsStructs<PlanLayerHash>(in->layer_hash());
  plan->graph_hash = in->graph_hash();
  plan->hardware_hash = in->hardware_hash();
  plan->stream =
      Span<const uint8_t>(in->stream()->Data(), size_t{in->stream()->size()} * 16);
  plan->tensors = places;
  plan->debug_layer = AsSpan(in->debug_layer());
  CopyReport(in->report(), &plan->report);
  ReadCertificate(certificate, &plan->certificate);
  return Status::kOk;
}

}  // namespace sluice
