// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <new>

#include "base/hash.h"

namespace sluice {

namespace {

// Chunk sizes of an arena: small at first, so that small jobs take little memory.
constexpr size_t kFirstChunkBytes = size_t{8} * 1024;
constexpr size_t kChunkBytes = size_t{64} * 1024;
constexpr size_t kChunkAlignment = 64;
// Bytes zeroed, copied or hashed between two reads of the clock: some tens of
// microseconds, most of it page faults.
constexpr size_t kPieceBytes = size_t{128} * 1024;
constexpr size_t kLongBytes =
    size_t{16} * 1024;  // shorter operations do not read the clock

size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) & ~(multiple - 1);
}

}  // namespace

Status HashWords(const void* bytes, size_t size, const Memory& memory, uint64_t* hash) {
  const char* p = static_cast<const char*>(bytes);
  *hash = Fnv1aWords(p, 0);
  for (; size > kPieceBytes; p += kPieceBytes, size -= kPieceBytes) {
    *hash = Fnv1aWords(p, kPieceBytes, *hash);
    if (memory.Stop()) return Status::kStopped;
  }
  *hash = Fnv1aWords(p, size, *hash);
  return Status::kOk;
}

void* Memory::Allocate(size_t bytes, size_t alignment) {
  void* const p = TryAllocate(bytes, alignment);
  if (p == nullptr) ++refusals_;
  return p;
}

uint64_t Memory::free_bytes() const {
  uint64_t least = max_bytes_ != 0 ? max_bytes_ : UINT64_MAX;
  if (limit_bytes_ != 0 && limit_bytes_ < least) least = limit_bytes_;
  return least > live_bytes_ ? least - live_bytes_ : 0;
}

void* Memory::TryAllocate(size_t bytes, size_t alignment) {
  if (!in_call_) GiveBack();
  if (max_bytes_ != 0 && (bytes > max_bytes_ || live_bytes_ > max_bytes_ - bytes)) {
    return nullptr;
  }
  if (limit_bytes_ != 0 && live_bytes_ + bytes > limit_bytes_) {
    ++limit_hits_;
    return nullptr;
  }
  const int list = ListOf(bytes, alignment);
  void* p = nullptr;
  if (list != kOthers && kept_[list] != nullptr) {
    p = kept_[list];
    kept_[list] = kept_[list]->next;
    kept_bytes_ -= bytes;
  } else {
    while (live_bytes_ + kept_bytes_ + bytes > call_peak_bytes_ && GiveOne()) {
    }
    p = allocator_.allocate(allocator_.user, bytes, alignment);
    if (p == nullptr && kept_bytes_ != 0) {
      GiveBack();
      in_call_ = false;  // memory is short: keep no chunks from now on
      p = allocator_.allocate(allocator_.user, bytes, alignment);
    }
    if (p == nullptr) return nullptr;
    ++allocations_;
  }
  live_bytes_ += bytes;
  if (live_bytes_ > peak_bytes_) peak_bytes_ = live_bytes_;
  if (live_bytes_ > call_peak_bytes_) call_peak_bytes_ = live_bytes_;
  if (live_bytes_ > phase_peak_bytes_[phase_]) phase_peak_bytes_[phase_] = live_bytes_;
  return p;
}

void Memory::BeginCall() {
  in_call_ = true;
  call_peak_bytes_ = live_bytes_ + kept_bytes_;
}

void Memory::EndCall() {
  if (!late_) GiveBack();
  in_call_ = late_ = false;
}

int Memory::ListOf(size_t bytes, size_t alignment) {
  static_assert(kFirstChunkBytes << (kOthers - 1) == kChunkBytes, "one list per size");
  int list = 0;
  while (list < kOthers && bytes != kFirstChunkBytes << list) ++list;
  return alignment == kChunkAlignment ? list : kOthers;
}

bool Memory::GiveOne() {
  int list = kOthers - 1;  // the largest chunks first
  while (list >= 0 && kept_[list] == nullptr) --list;
  if (list < 0) list = kOthers;
  Kept* const first = kept_[list];
  if (first == nullptr) return false;
  const size_t bytes = first->bytes;
  kept_[list] = first->next;
  kept_bytes_ -= bytes;
  allocator_.release(allocator_.user, first, bytes, first->alignment);
  return true;
}

void Memory::GiveBack() {
  while (GiveOne()) {
  }
}

void Memory::Watch(Budget* clock) {
  if (in_call_ && clock == nullptr) {
    do {
      late_ = Stop();
    } while (!late_ && GiveOne());
  } else if (in_call_) {
    GiveBack();  // frees what the previous call had no time to free
    call_peak_bytes_ = live_bytes_;
  }
  clock_ = clock;
}

bool Memory::Stop() const { return clock_ != nullptr && clock_->Exhausted(); }

uint32_t Memory::EnterPhase(uint32_t phase) {
  const uint32_t before = phase_;
  phase_ = phase;
  if (live_bytes_ > phase_peak_bytes_[phase]) phase_peak_bytes_[phase] = live_bytes_;
  return before;
}

void Memory::Release(void* pointer, size_t bytes, size_t alignment) {
  live_bytes_ -= bytes;
  const int list = ListOf(bytes, alignment);
  if (in_call_ && bytes >= sizeof(Kept) && (list != kOthers || late_ || Stop())) {
    kept_[list] = new (pointer) Kept{kept_[list], bytes, alignment};
    kept_bytes_ += bytes;
    return;
  }
  if (!in_call_) GiveBack();
  allocator_.release(allocator_.user, pointer, bytes, alignment);
  if (owner_ != nullptr && live_bytes_ == 0) ReleaseOwner();
}

void Memory::Retire(void* owner, size_t bytes) {
  owner_ = owner;
  owner_bytes_ = bytes;
  GiveBack();
  if (live_bytes_ == 0) ReleaseOwner();
}

// Destroys this Memory too, since the owner contains it.
void Memory::ReleaseOwner() {
  const sluice_allocator_t allocator = allocator_;
  allocator.release(allocator.user, owner_, owner_bytes_, alignof(max_align_t));
}

Arena::Mark Arena::mark() const {
  return Mark{last_, last_ == nullptr ? 0 : last_->used};
}

void Arena::Rewind(Mark mark) {
  while (last_ != mark.chunk) {
    Chunk* chunk = last_;
    last_ = chunk->previous;
    memory_->Release(chunk, chunk->bytes, kChunkAlignment);
  }
  if (last_ != nullptr) last_->used = mark.used;
}

void* Arena::AllocateBytes(size_t bytes, size_t alignment) {
  SLUICE_ASSERT(alignment <= kChunkAlignment);
  if (last_ != nullptr) {
    const size_t at = RoundUp(last_->used, alignment);
    if (at <= last_->bytes && bytes <= last_->bytes - at) {
      last_->used = at + bytes;
      return reinterpret_cast<char*>(last_) + at;
    }
  }
  const size_t header = RoundUp(sizeof(Chunk), kChunkAlignment);
  if (bytes > SIZE_MAX - header - kChunkAlignment) return nullptr;
  const size_t wanted = RoundUp(header + bytes, kChunkAlignment);
  // Try a full-size chunk, then only what is needed: a tight cap must not fail because
  // of spare room.
  size_t size = kFirstChunkBytes;
  if (last_ != nullptr) {
    size = 2 * last_->bytes < kChunkBytes ? 2 * last_->bytes : kChunkBytes;
  }
  if (size < wanted) size = wanted;
  void* p = memory_->Allocate(size, kChunkAlignment);
  if (p == nullptr && size > wanted) {
    size = wanted;
    p = memory_->Allocate(size, kChunkAlignment);
  }
  if (p == nullptr) return nullptr;
  Chunk* chunk = static_cast<Chunk*>(p);
  chunk->previous = last_;
  chunk->bytes = size;
  chunk->used = header + bytes;
  last_ = chunk;
  return static_cast<char*>(p) + header;
}

Status Arena::AllocatePage(size_t bytes, size_t alignment, void** out) {
  if (memory_->Stop()) return Status::kStopped;
  *out = AllocateBytes(bytes, alignment);
  return *out == nullptr ? Status::kOutOfMemory : Status::kOk;
}

Arena::Items Arena::AllocateItems(const void* old, size_t old_items, size_t n,
                                  uint32_t layout) {
  const Items none = {nullptr, 0};
  const size_t item_bytes = layout >> 8;
  if (n == 0 || n > SIZE_MAX / item_bytes) return none;
  char* p = static_cast<char*>(AllocateBytes(n * item_bytes, layout & 0xff));
  if (p == nullptr) return none;
  const size_t bytes = n * item_bytes, old_bytes = old_items * item_bytes;
  for (size_t at = 0, end = 0; at < bytes; at = end) {
    if (bytes >= kLongBytes && memory_->Stop()) return none;
    end = bytes - at < kPieceBytes ? bytes : at + kPieceBytes;
    const size_t kept = old_bytes < at ? at : old_bytes < end ? old_bytes : end;
    if (kept != at) memcpy(p + at, static_cast<const char*>(old) + at, kept - at);
    memset(p + kept, 0, end - kept);
  }
  return Items{p, n};
}

Status VectorStorage::ReserveItems(size_t n, uint32_t layout) {
  if (n <= capacity_) return Status::kOk;
  const Arena::Items grown = arena_->AllocateItems(data_, size_, n, layout);
  if (grown.data == nullptr) return Status::kOutOfMemory;
  data_ = grown.data;
  capacity_ = grown.count;
  return Status::kOk;
}

Status VectorStorage::GrowItems(size_t n, uint32_t layout) {
  if (n > size_) return ReserveItems(n == 1 ? 16 : size_ + n, layout);
  return ReserveItems(2 * size_, layout);
}

}  // namespace sluice
