// SPDX-License-Identifier: Apache-2.0
// Shared by all readers: checks of a buffer's size, identifier and alignment before the
// generated verifier sees it, and the verifier's limits.
//
// Input    untrusted bytes; the identifier they should have
// Output   an aligned buffer; Spans and Text of its vectors and strings
// Errors   kBadInput with the stage's name; kOutOfMemory
// Cost     one copy of a misaligned buffer
#ifndef SLUICE_IO_WIRE_H_
#define SLUICE_IO_WIRE_H_

#include "base/memory.h"
#include "model/graph.h"

// flatbuffers must neither abort nor print.
#define FLATBUFFERS_ASSERT(condition) SLUICE_ASSERT(condition)
#include "flatbuffers/flatbuffers.h"

namespace sluice {

constexpr size_t kMaxBufferBytes =
    0x7ffffffe;                       // flatbuffers' offsets are signed 32 bit
constexpr size_t kWireAlignment = 8;  // alignment of the buffer's start

// An untrusted buffer, its expected identifier, and the stage that diagnostics name.
struct WireBuffer {
  const void* bytes;
  size_t size;
  const char* identifier;
  const char* stage;
};

// Checks size and identifier. *aligned is the buffer to read: `buffer` itself, or a
// copy in the arena if it is misaligned.
inline Status OpenWire(const WireBuffer& buffer, Arena* arena, const uint8_t** aligned,
                       Diagnostic* diagnostic) {
  const auto [bytes, size, identifier, stage] = buffer;
  const uint8_t* data = static_cast<const uint8_t*>(bytes);
  if (size < 12) {
    return Fail(diagnostic, Status::kBadInput, stage)
        .Text("the buffer has ")
        .Number(static_cast<int64_t>(size))
        .Text(" bytes; the smallest valid one has 12");
  }
  if (size > kMaxBufferBytes) {
    return Fail(diagnostic, Status::kBadInput, stage)
        .Text("the buffer is larger than 2 GiB; keep constants external");
  }
  if (memcmp(data + 4, identifier, 4) != 0) {
    return Fail(diagnostic, Status::kBadInput, stage)
        .Text("wrong file identifier at byte 4; expected ")
        .Text(identifier);
  }
  if (reinterpret_cast<uintptr_t>(data) % kWireAlignment != 0) {
    uint8_t* copy = static_cast<uint8_t*>(arena->AllocateBytes(size, kWireAlignment));
    if (copy == nullptr) {
      return Fail(diagnostic, Status::kOutOfMemory, stage)
          .Text("no memory to copy a misaligned buffer")
          .Bytes(size, 0);
    }
    memcpy(copy, data, size);
    data = copy;
  }
  *aligned = data;
  return Status::kOk;
}

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
