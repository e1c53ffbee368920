// SPDX-License-Identifier: Apache-2.0
// Layout from front to back; all offsets point forward except tables' to their vtables:
//
//   root offset | "SLP1" | Plan vtable, table | Report vtable, table | vectors |
//   Certificate vtable, table, its layers
#include "io/wire.h"
#include "io/write.h"
#include "sluice/plan_generated.h"

namespace sluice {

namespace {

// Writes little-endian scalars at ascending positions of a buffer that is large enough.
class Image {
 public:
  explicit Image(Span<uint8_t> bytes) : bytes_(bytes) {}
  size_t at() const { return at_; }
  void Align(size_t alignment) { at_ = (at_ + alignment - 1) / alignment * alignment; }
  void Skip(size_t n) { at_ += n; }
  void Back(size_t n) { at_ -= n; }
  void Copy(const void* from, size_t n) {
    if (n != 0) memcpy(bytes_.data() + at_, from, n);
    at_ += n;
  }
  template <typename T>
  void Put(T value) {
    flatbuffers::WriteScalar(bytes_.data() + at_, value);
    at_ += sizeof(T);
  }
  template <typename T>
  void Set(size_t position, T value) {
    flatbuffers::WriteScalar(bytes_.data() + position, value);
  }
  void SetBytes(size_t position, const uint8_t* from, size_t n) {
    memcpy(bytes_.data() + position, from, n);
  }
  template <typename T>
  T Get(size_t position) const {
    return flatbuffers::ReadScalar<T>(bytes_.data() + position);
  }

 private:
  Span<uint8_t> bytes_;
  size_t at_ = 0;
};

// A table in which every field is present, in the order of ids. The table itself lies
// at 4 mod 8, and field offsets are chosen so that 8-byte fields are aligned.
struct TableWriter {
  Image* image;
  size_t vtable;
  size_t table;  // position of the table, the target of offsets to it

  // sizes: bytes of each field, by id. The table starts with the 4-byte offset to its
  // vtable.
  static TableWriter Begin(Image* image, Span<const uint8_t> sizes) {
    image->Align(8);
    const size_t vtable = image->at();
    const size_t vtable_bytes = 4 + 2 * sizes.size();
    image->Skip(vtable_bytes);
    image->Align(8);
    image->Skip(4);  // then the fields after the 4-byte vtable offset start at 0 mod 8
    const size_t table = image->at();
    image->Put(static_cast<int32_t>(table - vtable));
    uint16_t at = 4;
    for (size_t i = 0; i < sizes.size(); ++i) {
      at = static_cast<uint16_t>((at + 4 + sizes[i] - 1) / sizes[i] * sizes[i] - 4);
      image->Set(vtable + 4 + 2 * i, at);
      at = static_cast<uint16_t>(at + sizes[i]);
    }
    image->Set(vtable, static_cast<uint16_t>(vtable_bytes));
    image->Set(vtable + 2, at);
    image->Skip(at - 4u);
    return TableWriter{image, vtable, table};
  }
  size_t Position(size_t id) const {
    return table + image->Get<uint16_t>(vtable + 4 + 2 * id);
  }

  template <typename T>
  void Set(size_t id, T value) const {
    image->Set(Position(id), value);
  }
  void SetBytes(size_t id, const uint8_t* from, size_t n) const {
    image->SetBytes(Position(id), from, n);
  }
  // Points field `id` at the image's current position.
  void PointHere(size_t id) const {
    image->Set(Position(id), static_cast<uint32_t>(image->at() - Position(id)));
  }
};

constexpr uint8_t kPlanFields[] = {4, 4, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4,
                                   4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
constexpr uint8_t kCertificateFields[] = {4, 8, 8, 8, 8, 8, 8, 8};

void WriteReport(const sluice_report_t& r, const TableWriter& table) {
  for (size_t i = 0; i < sizeof kReportFields; ++i) {
    table.SetBytes(i, reinterpret_cast<const uint8_t*>(&r) + kReportAt[i],
                   kReportFields[i]);
  }
}

// Points field `id` of `table` at a new vector of n elements, its data aligned to
// `alignment`.
void BeginVector(Image* image, const TableWriter& table, size_t id, size_t n,
                 size_t alignment) {
  image->Skip(4);
  image->Align(alignment);
  image->Back(4);
  table.PointHere(id);
  image->Put(static_cast<uint32_t>(n));
}

// Copies a vector of n elements whose layout in memory equals the file's (little
// endian).
void CopyVector(Image* image, const TableWriter& table, size_t id, const void* from,
                size_t n, size_t element_bytes) {
  BeginVector(image, table, id, n, 4);
  image->Copy(from, n * element_bytes);
}

void WriteCertificate(const sluice_certificate_t& c, const TableWriter& plan,
                      Image* image) {
  // The caller's fields are there only where it said something.
  const bool told = c.caller_cycles != 0 || c.caller_pj > 0;
  const TableWriter table =
      TableWriter::Begin(image, Span<const uint8_t>(kCertificateFields, told ? 8 : 6));
  plan.Set(22, static_cast<uint32_t>(table.table - plan.Position(22)));
  table.Set(1, c.host_cycles);
  table.Set(2, c.compute_cycles);
  table.Set(3, c.port_cycles);
  table.Set(4, c.room_cycles);
  table.Set(5, c.again_pj);
  if (told) {
    table.Set(6, c.caller_cycles);
    table.Set(7, c.caller_pj);
  }
  BeginVector(image, table, 0, c.count == 0 ? 0 : size_t{c.count} + 1, 8);
  image->Copy(c.layers, c.count * sizeof *c.layers);
  if (c.count != 0) image->Copy(&c.all, sizeof c.all);
}

void WriteNotation(const PlanNotation& n, const TableWriter& table, Image* image) {
  CopyVector(image, table, 10, n.section.data(), n.section.size(), sizeof(PlanSection));
  CopyVector(image, table, 11, n.order.data(), n.order.size(), 4);
  CopyVector(image, table, 12, n.cut.data(), n.cut.size(), 1);
  CopyVector(image, table, 13, n.tiling.data(), n.tiling.size(), 4);
  CopyVector(image, table, 14, n.dram.data(), n.dram.size(), sizeof(PlanDramTensor));
  CopyVector(image, table, 16, n.section_buffer.data(), n.section_buffer.size(), 4);
  CopyVector(image, table, 17, n.buffer.data(), n.buffer.size(), 4);
  CopyVector(image, table, 18, n.segment.data(), n.segment.size(), sizeof(PlanSegment));
  CopyVector(image, table, 19, n.loop.data(), n.loop.size(), sizeof(PlanLoop));
  CopyVector(image, table, 20, n.leave.data(), n.leave.size(), 4);
  table.Set(21, n.placing);
}

}  // namespace

void NoteEnd(uint32_t stop_reason, uint64_t iterations, PlanBytes* bytes) {
  flatbuffers::WriteScalar(bytes->stop_reason, stop_reason);
  flatbuffers::WriteScalar(bytes->iterations, iterations);
}

namespace {

// Upper bound: fixed parts and all vectors' lengths and padding are far below 1 KiB.
uint64_t BytesAtMost(const Plan& plan, size_t stream_bytes, size_t instructions) {
  return 1024 + uint64_t{stream_bytes} + 25 * uint64_t{plan.tensors.size()} +
         4 * uint64_t{instructions} +
         sizeof(PlanSection) * plan.notation.section.size() +
         9 * uint64_t{plan.notation.order.size()} +
         sizeof(PlanDramTensor) * plan.notation.dram.size() +
         sizeof(PlanLayerHash) * plan.layer_hash.size() +
         sizeof(sluice_layer_least_t) * (uint64_t{plan.certificate.count} + 1) +
         4 * uint64_t{plan.notation.section_buffer.size()} +
         4 * uint64_t{plan.notation.buffer.size()} +
         sizeof(PlanSegment) * plan.notation.segment.size() +
         sizeof(PlanLoop) * plan.notation.loop.size() +
         4 * uint64_t{plan.notation.leave.size()};
}

void WritePlaces(Span<const TensorPlace> places, const TableWriter& table,
                 Image* image) {
  BeginVector(image, table, 5, places.size(), 4);
  for (const TensorPlace& place : places) image->Put(place.region);
  BeginVector(image, table, 6, places.size(), 8);
  for (const TensorPlace& place : places) image->Put(place.offset);
  BeginVector(image, table, 7, kAxes * places.size(), 4);
  for (const TensorPlace& place : places) {
    for (uint32_t stride : place.stride) image->Put(stride);
  }
}

}  // namespace

Status WritePlan(const Plan& plan, size_t stream_bytes, size_t instructions,
                 Arena* arena, PlanBytes* out, Diagnostic* diagnostic) {
  const uint64_t bound = BytesAtMost(plan, stream_bytes, instructions);
  if (bound > kMaxBufferBytes) {
    return Fail(diagnostic, Status::kUnsupported, "plan")
        .Text("the plan exceeds 2 GiB")
        .Bytes(bound, kMaxBufferBytes);
  }
  constexpr uint32_t kLayout = 1u << 8 | 16;  // 16-byte alignment, 1-byte elements
  uint8_t* data =
      static_cast<uint8_t*>(arena->AllocateItems(nullptr, 0, bound, kLayout).data);
  if (data == nullptr) {
    return Fail(diagnostic, Status::kOutOfMemory, "plan")
        .Text("no memory for the plan's bytes")
        .Bytes(bound, 0);
  }
  Image image(Span<uint8_t>(data, bound));
  image.Skip(4);
  memcpy(data + image.at(), wire::PlanIdentifier(), 4);
  image.Skip(4);

  const TableWriter table =
      TableWriter::Begin(&image, Span<const uint8_t>(kPlanFields, sizeof kPlanFields));
  image.Set(0, static_cast<uint32_t>(table.table));
  table.Set(1, uint32_t{SLUICE_ABI_VERSION});
  table.Set(2, plan.graph_hash);
  table.Set(3, plan.hardware_hash);

  const TableWriter report = TableWriter::Begin(
      &image, Span<const uint8_t>(kReportFields, sizeof kReportFields));
  table.Set(8, static_cast<uint32_t>(report.table - table.Position(8)));
  WriteReport(plan.report, report);
  out->stop_reason = data + report.Position(12);
  out->iterations = data + report.Position(13);

  // The stream comes first and 16-byte aligned, so that it can be used in place.
  BeginVector(&image, table, 4, stream_bytes / 16, 16);
  out->stream = Span<uint8_t>(data + image.at(), stream_bytes);
  image.Skip(stream_bytes);

  WritePlaces(plan.tensors, table, &image);
  BeginVector(&image, table, 9, instructions, 4);
  out->debug_layer =
      Span<uint32_t>(reinterpret_cast<uint32_t*>(data + image.at()), instructions);
  image.Skip(4 * instructions);

  WriteNotation(plan.notation, table, &image);
  CopyVector(&image, table, 15, plan.layer_hash.data(), plan.layer_hash.size(),
             sizeof(PlanLayerHash));
  WriteCertificate(plan.certificate, table, &image);
  image.Align(8);
  SLUICE_ASSERT(image.at() <= bound);
  out->all = Span<const uint8_t>(data, image.at());
  return Status::kOk;
}

}  // namespace sluice
