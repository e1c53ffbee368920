// SPDX-License-Identifier: Apache-2.0
#include "io/wire.h"

namespace sluice {

namespace {

constexpr size_t kWireAlignment = 8;  // alignment of the buffer's start
constexpr uint32_t kMaxDepth = 8;
// A machine has the most: itself with array, cores and host, 16 levels, 16 fanouts,
// 8 queues, 256 operators and 5 memories.
constexpr uint32_t kMaxTables = 305;

using flatbuffers::ReadScalar;
using flatbuffers::Table;
using flatbuffers::uoffset_t;
using flatbuffers::Verifier;
using flatbuffers::voffset_t;

// The end of the fields that start at `form`.
const char* EndOf(const char* form) {
  for (; *form != '\0' && *form != ')' && *form != ']'; ++form) {
    if (*form == '(' || *form == '[') form = EndOf(form + 1);
  }
  return form;
}

// Checks what an offset, itself checked, leads to.
bool CheckAt(const uint8_t* offset, const char* form, Verifier* verifier);

// Does what flatbuffers' generated code does, which has a call and a branch for each
// field: ten times the bytes of the forms.
bool CheckTable(const uint8_t* data, const char* form, Verifier* verifier) {
  if (!verifier->VerifyTableStart(data)) return false;
  const Table* table = reinterpret_cast<const Table*>(data);
  const char* const end = EndOf(form);
  for (voffset_t field = 4; form != end; field += sizeof(voffset_t), ++form) {
    const voffset_t at = table->GetOptionalFieldOffset(field);
    const size_t scalar = static_cast<size_t>(*form - '0');
    if (at == 0) {
    } else if (scalar <= 8) {
      if (!verifier->VerifyFieldStruct(data, at, scalar, scalar)) return false;
    } else if (verifier->VerifyOffset(data, at) == 0 ||
               !CheckAt(data + at, form, verifier)) {
      return false;
    }
    if (*form == '(' || *form == '[') form = EndOf(form + 1);
  }
  return verifier->EndTable();
}

bool CheckAt(const uint8_t* offset, const char* form, Verifier* verifier) {
  const uint8_t* data = offset + ReadScalar<uoffset_t>(offset);
  if (*form == '(') return CheckTable(data, form + 1, verifier);
  if (*form == 's') {
    return verifier->VerifyString(reinterpret_cast<const flatbuffers::String*>(data));
  }
  if (*form != 'n' && *form != '[') {
    return verifier->VerifyVectorOrString(data, static_cast<size_t>(*form - '@'));
  }
  if (!verifier->VerifyVectorOrString(data, sizeof(uoffset_t))) return false;
  for (uoffset_t i = ReadScalar<uoffset_t>(data); i > 0; --i) {
    data += sizeof(uoffset_t);
    const uint8_t* item = data + ReadScalar<uoffset_t>(data);
    const bool good = *form == '['
                          ? CheckTable(item, form + 1, verifier)
                          : verifier->VerifyString(
                                reinterpret_cast<const flatbuffers::String*>(item));
    if (!good) return false;
  }
  return true;
}

bool CheckForm(const uint8_t* data, const WireBuffer& buffer) {
  Verifier verifier(data, buffer.size, kMaxDepth, kMaxTables);
  const uoffset_t root = verifier.VerifyOffset(0);
  return root != 0 && CheckTable(data + root, buffer.form, &verifier);
}

}  // namespace

Status OpenWire(const WireBuffer& buffer, Arena* arena, const uint8_t** aligned,
                Diagnostic* diagnostic) {
  const uint8_t* data = static_cast<const uint8_t*>(buffer.bytes);
  const auto bad = [&] { return Fail(diagnostic, Status::kBadInput, buffer.stage); };
  if (buffer.size < 12) {
    return bad().Say("the buffer has # bytes; the smallest valid one has 12",
                     buffer.size);
  }
  if (buffer.size > kMaxBufferBytes) {
    return bad().Text("the buffer is larger than 2 GiB; keep constants external");
  }
  if (memcmp(data + 4, buffer.identifier, 4) != 0) {
    return bad()
        .Text("wrong file identifier at byte 4; expected ")
        .Text(buffer.identifier);
  }
  if (reinterpret_cast<uintptr_t>(data) % kWireAlignment != 0) {
    uint8_t* copy =
        static_cast<uint8_t*>(arena->AllocateBytes(buffer.size, kWireAlignment));
    if (copy == nullptr) {
      return Fail(diagnostic, Status::kOutOfMemory, buffer.stage)
          .Text("no memory to copy a misaligned buffer")
          .Bytes(buffer.size, 0);
    }
    memcpy(copy, data, buffer.size);
    data = copy;
  }
  if (!CheckForm(data, buffer)) {
    return bad().Text(
        "the buffer is truncated or corrupt: an offset or length is out of range");
  }
  constexpr voffset_t kVersion = 4;  // every root's first field
  const uint32_t version =
      flatbuffers::GetRoot<Table>(data)->GetField<uint32_t>(kVersion, 0);
  if (version != 0) {
    return Fail(diagnostic, Status::kUnsupported, buffer.stage)
        .Text(buffer.stage)
        .Say(" version #; this library reads version 0", version);
  }
  *aligned = data;
  return Status::kOk;
}

}  // namespace sluice
