// SPDX-License-Identifier: Apache-2.0
// All memory of the library: counted, capped, taken from the caller.
//
//   allocator  <-  Memory (counts, cap)  <-  Arena (bump, chunks, mark/rewind)  <-  Vector
//
// Input    the caller's allocator, or one over a block (block_heap.h); a cap in bytes
// Output   zeroed elements; live bytes, peak bytes overall and per phase
// Errors   kOutOfMemory or nullptr when the allocator refuses or the cap would be
//          exceeded, never an abort; kStopped when the call's clock has run out
// Cost     an arena asks for chunks of 8 KiB, then 64 KiB; else a few instructions
#ifndef SLUICE_BASE_MEMORY_H_
#define SLUICE_BASE_MEMORY_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/budget.h"
#include "base/status.h"

namespace sluice {

// Counts every byte and enforces the cap, whichever allocator is below.
class Memory {
 public:
  Memory(const sluice_allocator_t& allocator, uint64_t max_bytes, Clock time = {})
      : allocator_(allocator), max_bytes_(max_bytes), time_(time) {}
  void* Allocate(size_t bytes, size_t alignment);
  void Release(void* pointer, size_t bytes, size_t alignment);

  // Starts a phase (SLUICE_PHASE_) and counts its peak bytes until the next EnterPhase.
  // Returns the phase before.
  uint32_t EnterPhase(uint32_t phase);
  void ClearPhases() { memset(phase_peak_bytes_, 0, sizeof phase_peak_bytes_); }
  uint64_t phase_peak_bytes(uint32_t phase) const { return phase_peak_bytes_[phase]; }

  // Sets the limits of the current call; NULL = none. Long-running code polls Stop() at
  // least every 100 microseconds and returns any status once Stop() is true: the caller
  // that set the clock reads the reason from the clock.
  void Watch(Budget* clock);
  Budget* clock() const { return clock_; }
  bool Stop() const;
  // The clock of the context, which clock() reads too.
  const Clock& time() const { return time_; }

  // Between BeginCall and EndCall, released chunks are kept for reuse, because
  // returning pages to the allocator and fetching them again often takes longer than
  // the work on them. Kept chunks never raise the peak. After the clock has run out,
  // every released block is kept, because freeing it could take longer than the call
  // has left. The next call frees it, or the next allocation or release outside of
  // calls.
  void BeginCall();
  void EndCall();
  void GiveBack();

  // `owner`, the object that contains this Memory, is no longer used. It is released as
  // soon as no other bytes are live: at once, or by the last Release.
  void Retire(void* owner, size_t bytes);

  // A cap below the caller's, for a search that can work with less; 0 = none.
  void Limit(uint64_t bytes) { limit_bytes_ = bytes; }
  uint64_t limit() const { return limit_bytes_; }
  // How often an allocation has met that cap, and how often any was refused.
  uint64_t limit_hits() const { return limit_hits_; }
  uint64_t refusals() const { return refusals_; }
  // Bytes up to the lower cap; UINT64_MAX without one.
  uint64_t free_bytes() const;
  uint64_t max_bytes() const { return max_bytes_; }

  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t kept_bytes() const { return kept_bytes_; }
  uint64_t peak_bytes() const { return peak_bytes_; }
  uint64_t allocations() const { return allocations_; }

 private:
  struct Kept {  // list node, written into the released block
    Kept* next;
    size_t bytes;
    size_t alignment;
  };
  void* TryAllocate(size_t bytes, size_t alignment);
  static int ListOf(size_t bytes, size_t alignment);
  bool GiveOne();
  void ReleaseOwner();

  sluice_allocator_t allocator_;
  uint64_t max_bytes_;  // 0 = no cap
  Clock time_;
  // Chunks for the next arenas, one list per size; the last list has all other blocks.
  static constexpr int kOthers = 4;
  Kept* kept_[kOthers + 1] = {};
  uint64_t kept_bytes_ = 0;  // not counted in live_bytes_
  uint64_t call_peak_bytes_ = 0;
  bool in_call_ = false;
  bool late_ = false;  // the clock that was watched last has run out
  uint64_t limit_bytes_ = 0;
  uint64_t limit_hits_ = 0, refusals_ = 0;
  uint64_t live_bytes_ = 0;
  uint64_t peak_bytes_ = 0;
  uint64_t allocations_ = 0;
  uint32_t phase_ = SLUICE_PHASE_READ;
  Budget* clock_ = nullptr;
  void* owner_ = nullptr;  // set by Retire
  size_t owner_bytes_ = 0;
  uint64_t phase_peak_bytes_[SLUICE_PHASE_COUNT] = {};
};

// Enters a phase until the end of the scope, then returns to the one before.
class PhaseScope {
 public:
  PhaseScope(Memory* memory, uint32_t phase)
      : memory_(memory), outer_(memory->EnterPhase(phase)) {}
  ~PhaseScope() { memory_->EnterPhase(outer_); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Memory* memory_;
  uint32_t outer_;
};

// Bump allocation in chunks of Memory. Only Rewind and the destructor free; objects in
// it must be trivially destructible.
class Arena {
 public:
  explicit Arena(Memory* memory) : memory_(memory) {}
  ~Arena() { Rewind(Mark{}); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  struct Mark {
    void* chunk = nullptr;
    size_t used = 0;
  };
  Mark mark() const;
  void Rewind(Mark mark);
  Memory* memory() const { return memory_; }
  // Swaps the contents of two arenas of one Memory.
  void Swap(Arena* other) {
    Chunk* const last = last_;
    last_ = other->last_;
    other->last_ = last;
  }

  void* AllocateBytes(size_t bytes, size_t alignment);  // nullptr when out of memory
  // Allocates a page of a Sequence; kStopped when the clock has run out.
  Status AllocatePage(size_t bytes, size_t alignment, void** out);

  // n zeroed elements; n = 0 gives an empty span. On failure *out is unchanged, so a
  // table that cannot grow stays usable.
  template <typename T>
  Status Allocate(size_t n, Span<T>* out) {
    const Items items = AllocateItems(nullptr, 0, n, LayoutOf<T>());
    if (items.count != n) return Status::kOutOfMemory;
    *out = Span<T>(static_cast<T*>(items.data), n);
    return Status::kOk;
  }

  // The part that does not depend on the type, compiled once.
  struct Items {
    void* data;
    size_t count;
  };
  template <typename T>
  static constexpr uint32_t LayoutOf() {
    static_assert(sizeof(T) < (1u << 24) && alignof(T) <= 64, "fits a layout");
    return static_cast<uint32_t>(sizeof(T) << 8 | alignof(T));
  }
  // n zeroed items, the first old_items copied from `old`; count is 0 when out of
  // memory.
  Items AllocateItems(const void* old, size_t old_items, size_t n, uint32_t layout);

 private:
  struct Chunk {
    Chunk* previous;
    size_t bytes;  // whole chunk
    size_t used;   // from the chunk's start, this header included
  };
  Memory* memory_;
  Chunk* last_ = nullptr;
};

// Rewinds an arena at the end of a scope.
class ArenaScope {
 public:
  explicit ArenaScope(Arena* arena) : arena_(arena), mark_(arena->mark()) {}
  ~ArenaScope() { arena_->Rewind(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena* arena_;
  Arena::Mark mark_;
};

// The part of Vector that does not depend on the type.
class VectorStorage {
 protected:
  explicit VectorStorage(Arena* arena) : arena_(arena) {}
  Status ReserveItems(size_t n, uint32_t layout);
  // Makes room for n more items; at least doubles the capacity.
  Status GrowItems(size_t n, uint32_t layout);

  Arena* arena_;
  void* data_ = nullptr;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

// Growable array in an arena. Growth doubles and leaves the old copy behind, so reserve
// when the size is known.
template <typename T>
class Vector : VectorStorage {
 public:
  explicit Vector(Arena* arena) : VectorStorage(arena) {}
  Status Reserve(size_t n) { return ReserveItems(n, Arena::LayoutOf<T>()); }
  // Growth leaves the old copy where it was, so `value` may be one of the elements.
  Status Push(const T& value) {
    if (size_ == capacity_) SLUICE_TRY(GrowItems(1, Arena::LayoutOf<T>()));
    data()[size_++] = value;
    return Status::kOk;
  }
  // Appends n zeroed elements.
  Status Extend(size_t n) {
    if (n > capacity_ - size_) SLUICE_TRY(GrowItems(n, Arena::LayoutOf<T>()));
    if (n != 0) memset(static_cast<void*>(data() + size_), 0, n * sizeof(T));
    size_ += n;
    return Status::kOk;
  }
  void Pop() { --size_; }
  void Truncate(size_t n) { size_ = n; }
  size_t size() const { return size_; }
  T* data() const { return static_cast<T*>(data_); }
  T& operator[](size_t i) {
    SLUICE_ASSERT(i < capacity_);
    return data()[i];
  }
  const T& operator[](size_t i) const {
    SLUICE_ASSERT(i < capacity_);
    return data()[i];
  }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  Span<T> span() { return Span<T>(data(), size_); }
};

}  // namespace sluice

#endif  // SLUICE_BASE_MEMORY_H_
