// SPDX-License-Identifier: Apache-2.0
// Shared by all readers: the check of a buffer before anything of it is read.
//
// Input    untrusted bytes; the identifier they should have
// Output   an aligned buffer; Spans and Text of its vectors and strings
// Errors   kBadInput with the stage's name; kOutOfMemory
// Cost     linear in the tables and strings; one copy of a misaligned buffer
#ifndef SLUICE_IO_WIRE_H_
#define SLUICE_IO_WIRE_H_

#include <stddef.h>

#include "base/memory.h"
#include "model/graph.h"

// flatbuffers must neither abort nor print.
#define FLATBUFFERS_ASSERT(condition) SLUICE_ASSERT(condition)
#include "flatbuffers/flatbuffers.h"

namespace sluice {

constexpr size_t kMaxBufferBytes =
    0x7ffffffe;  // flatbuffers' offsets have 32 bits, signed

// An untrusted buffer and what it should be.
struct WireBuffer {
  const void* bytes;
  size_t size;
  const char* identifier;
  const char* stage;  // that diagnostics name
  // The fields of the root table in the order of their ids, a character each:
  //   1 4 8     a scalar of so many bytes
  //   s n       a string, a vector of strings
  //   A B D ... a vector of elements of 1, 2, 4 ... bytes: the letter's code less 64
  //   (...)     a table of these fields
  //   [...]     a vector of tables of these fields
  const char* form;
};

constexpr char kGraphForm[] = "4snDAADDDDAHDADBDDDDDDDDDH";
constexpr char kHardwareForm[] =
    "4s8[s8488884441444]4[444111s88]88888(44411444)844488884(444444488)[s441844444]"
    "[444444444](8888881)[s41888888]";
constexpr char kPlanForm[] =
    "4488PAHD(8888888888884888444484888)DPDADHHDDPHD4(h8888888)";

// Checks all of the buffer against its form, and that its version is 0. *aligned is the
// buffer to read: `buffer` itself, or a copy in the arena if it is misaligned.
Status OpenWire(const WireBuffer& buffer, Arena* arena, const uint8_t** aligned,
                Diagnostic* diagnostic);

// The fields of a report in the order of their ids: where a sluice_report has each.
#define SLUICE_AT(field) offsetof(sluice_report_t, field)
inline constexpr uint16_t kReportAt[] = {SLUICE_AT(latency_cycles),
                                         SLUICE_AT(energy_pj),
                                         SLUICE_AT(energy_dram_pj),
                                         SLUICE_AT(energy_scratchpad_pj),
                                         SLUICE_AT(energy_compute_pj),
                                         SLUICE_AT(energy_leakage_pj),
                                         SLUICE_AT(dram_read_bytes),
                                         SLUICE_AT(dram_write_bytes),
                                         SLUICE_AT(spill_bytes),
                                         SLUICE_AT(peak_buffer_bytes),
                                         SLUICE_AT(bound_latency_cycles),
                                         SLUICE_AT(bound_energy_pj),
                                         SLUICE_AT(stop_reason),
                                         SLUICE_AT(iterations),
                                         SLUICE_AT(macs),
                                         SLUICE_AT(vector_ops),
                                         SLUICE_AT(layers),
                                         SLUICE_AT(groups),
                                         SLUICE_AT(tiles),
                                         SLUICE_AT(instructions),
                                         SLUICE_AT(energy_noc_pj),
                                         SLUICE_AT(host_layers),
                                         SLUICE_AT(host_macs),
                                         SLUICE_AT(host_bytes),
                                         SLUICE_AT(energy_host_pj)};
#undef SLUICE_AT
// The bytes of each.
inline constexpr uint8_t kReportFields[] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4,
                                            8, 8, 8, 4, 4, 4, 4, 8, 4, 8, 8, 8};
static_assert(sizeof kReportAt == 2 * sizeof kReportFields, "a place for each field");

// True if the elements are aligned. The verifier checks only that the vector's length
// is, which does not suffice for 8-byte elements.
template <typename T>
bool ElementsAligned(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ||
         reinterpret_cast<uintptr_t>(vector->Data()) % sizeof(T) == 0;
}

// A flatbuffers vector as a Span; nullptr becomes an empty one.
template <typename T>
Span<const T> AsSpan(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr) return Span<const T>();
  return Span<const T>(reinterpret_cast<const T*>(vector->Data()), vector->size());
}

// Copies a string into the arena.
inline Status CopyText(const flatbuffers::String* string, Arena* arena, Text* out) {
  *out = Text{"", 0};
  if (string == nullptr || string->size() == 0) return Status::kOk;
  Span<char> copy;
  SLUICE_TRY(arena->Allocate(size_t{string->size()} + 1, &copy));
  memcpy(copy.data(), string->data(), string->size());
  *out = Text{copy.data(), string->size()};
  return Status::kOk;
}

}  // namespace sluice

#endif  // SLUICE_IO_WIRE_H_
