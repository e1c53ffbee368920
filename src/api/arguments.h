// SPDX-License-Identifier: Apache-2.0
// Reads and writes the structs of the C interface, of any version, and reports how a
// call has ended.
//
// Input    the caller's structs, struct_size first
// Output   ours, complete; the caller's, up to their struct_size
// Errors   false or SLUICE_BAD_ARGUMENT: struct_size too small, or a field that this
//          version does not know is set
// Cost     one copy of each struct
#ifndef SLUICE_API_ARGUMENTS_H_
#define SLUICE_API_ARGUMENTS_H_

#include <stddef.h>
#include <string.h>

#include "base/status.h"

namespace sluice {

// The reserved field of a struct; 0 if the struct has none.
template <typename T>
auto ReservedOf(const T& in, int) -> decltype(in.reserved) {
  return in.reserved;
}
template <typename T>
uint32_t ReservedOf(const T&, long) {
  return 0;
}

// The caller's struct as ours: a missing tail reads as zero; an unknown tail and
// reserved fields must be zero.
template <typename T>
bool ReadStruct(const T* in, T* out) {
  memset(static_cast<void*>(out), 0, sizeof *out);
  out->struct_size = sizeof *out;
  if (in == nullptr) return true;
  const size_t size = in->struct_size;
  if (size < sizeof(uint32_t)) return false;
  memcpy(static_cast<void*>(out), in, size < sizeof *out ? size : sizeof *out);
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(in);
  for (size_t i = sizeof *out; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  out->struct_size = sizeof *out;
  return ReservedOf(*out, 0) == 0;
}

// Writes up to the caller's struct_size; sets it to what was written.
template <typename T>
sluice_status_t WriteStruct(const T& from, T* to) {
  if (to == nullptr || to->struct_size < sizeof(uint32_t)) return SLUICE_BAD_ARGUMENT;
  const size_t size = to->struct_size < sizeof from ? to->struct_size : sizeof from;
  memcpy(static_cast<void*>(to), &from, size);
  to->struct_size = static_cast<uint32_t>(size);
  return SLUICE_OK;
}

// Collects a diagnostic and hands it to the caller at the end.
class CallReport {
 public:
  explicit CallReport(sluice_diagnostic_t* out) : out_(out) {
    ClearDiagnostic(&local_);
  }
  Diagnostic* get() { return &local_; }
  sluice_status_t Done(Status status) {
    const int32_t code = static_cast<int32_t>(status);
    if (status == Status::kOutOfMemory && local_.message[0] == '\0') {
      (void)static_cast<Status>(
          Fail(&local_, status, "api")
              .Text("the allocator refused or max_bytes would be exceeded"));
    }
    local_.status = code;
    if (out_ != nullptr && out_->struct_size >= sizeof(uint32_t)) {
      (void)WriteStruct(local_, out_);
    }
    return code;
  }
  sluice_status_t BadArgument(const char* what) {
    return Done(Fail(&local_, Status::kBadArgument, "api").Text(what));
  }
  sluice_status_t InUse() {
    return BadArgument(
        "the context is in use by another call; it serves one at a time");
  }

 private:
  sluice_diagnostic_t* out_;
  Diagnostic local_;
};

}  // namespace sluice

#endif  // SLUICE_API_ARGUMENTS_H_
