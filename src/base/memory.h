// SPDX-License-Identifier: Apache-2.0
// All memory of the library: counted, capped, taken from the caller.
//
//   allocator  <-  Memory (counts, cap)  <-  Arena (bump, chunks, mark/rewind)  <-  Vector
//
// Input    the caller's allocator, or one over a block (block_heap.h); a cap in bytes
// Output   zeroed elements; live bytes, the most there were, and that for each phase
// Errors   kOutOfMemory or nullptr when the allocator refuses or the cap would be
//          exceeded, never an abort; kStopped when the clock of the call has run out
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

// Counts every byte and enforces the cap, whatever lies below.
class Memory {
 public:
  Memory(const sluice_allocator_t& allocator, uint64_t max_bytes)
      : allocator_(allocator), max_bytes_(max_bytes) {}
  void* Allocate(size_t bytes, size_t alignment);
  void Release(void* pointer, size_t bytes, size_t alignment);

  // Starts a phase (SLUICE_PHASE_), whose high-water mark is counted until the next one
  // starts. Returns the phase that was under way.
  uint32_t EnterPhase(uint32_t phase);
  void ClearPhases() { memset(phase_peak_bytes_, 0, sizeof phase_peak_bytes_); }
  uint64_t phase_peak_bytes(uint32_t phase) const { return phase_peak_bytes_[phase]; }

  // The limits of the call that uses this memory; NULL = none. All work that may take
  // long polls Stop() at least every 100 microseconds and then ends with any status:
  // whoever set the clock looks at it.
  void Watch(Budget* clock);
  Budget* clock() const { return clock_; }
  bool Stop() const;

  // Between these two, released chunks are kept for the next arena, because an allocator
  // takes longer to return pages and fetch them again than most work on them takes. Kept
  // chunks never raise the high-water mark. Once the clock has run out everything that is
  // released is kept, because giving it back could take longer than the call has left.
  // It is given back by the next call, or by an allocation or release outside of calls.
  void BeginCall();
  void EndCall();
  void GiveBack();

  // The owner of this Memory, which holds it, is not used any more: it is released as soon
  // as nothing else is live, here or by the Release that comes last.
  void Retire(void* owner, size_t bytes);

  // A cap of our own below the caller's, for a search that may do with less; 0 = none.
  void Limit(uint64_t bytes) { limit_bytes_ = bytes; }
  uint64_t max_bytes() const { return max_bytes_; }

  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t kept_bytes() const { return kept_bytes_; }
  uint64_t peak_bytes() const { return peak_bytes_; }
  uint64_t allocations() const { return allocations_; }

 private:
  struct Kept {  // lies in what was released
    Kept* next;
    size_t bytes;
    size_t alignment;
  };
  bool GiveOne();
  void ReleaseOwner();

  sluice_allocator_t allocator_;
  uint64_t max_bytes_;      // 0 = no cap
  Kept* chunks_ = nullptr;  // of full size: for the next arena
  Kept* others_ = nullptr;
  uint64_t kept_bytes_ = 0;  // beside live_bytes_
  uint64_t call_peak_bytes_ = 0;
  bool in_call_ = false;
  bool late_ = false;  // the clock that was watched last has run out
  uint64_t limit_bytes_ = 0;
  uint64_t live_bytes_ = 0;
  uint64_t peak_bytes_ = 0;
  uint64_t allocations_ = 0;
  uint32_t phase_ = SLUICE_PHASE_READ;
  Budget* clock_ = nullptr;
  void* owner_ = nullptr;  // retired; else null
  size_t owner_bytes_ = 0;
  uint64_t phase_peak_bytes_[SLUICE_PHASE_COUNT] = {};
};

// Another phase until the end of a scope.
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

// Bump allocation in chunks of Memory. Nothing is freed but by Rewind or the
// destructor; objects in it must be trivially destructible.
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
  // Of the same memory: each gets what the other held.
  void Swap(Arena* other) {
    Chunk* const last = last_;
    last_ = other->last_;
    other->last_ = last;
  }

  void* AllocateBytes(size_t bytes, size_t alignment);  // nullptr when out of memory
  // A page of a Sequence; kStopped when the clock has run out.
  Status AllocatePage(size_t bytes, size_t alignment, void** out);

  // n zeroed elements; n of 0 gives an empty span. Without memory *out is as it was: a
  // table that cannot grow is still a table.
  template <typename T>
  Status Allocate(size_t n, Span<T>* out) {
    const Items items = AllocateItems(nullptr, 0, n, LayoutOf<T>());
    if (items.count != n) return Status::kOutOfMemory;
    *out = Span<T>(static_cast<T*>(items.data), n);
    return Status::kOk;
  }

  // What is the same for all types is written, and compiled, once.
  struct Items {
    void* data;
    size_t count;
  };
  template <typename T>
  static constexpr uint32_t LayoutOf() {
    static_assert(sizeof(T) < (1u << 24) && alignof(T) <= 64, "fits a layout");
    return static_cast<uint32_t>(sizeof(T) << 8 | alignof(T));
  }
  // n items of zeroed memory that start with a copy of `old`; none when out of memory.
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

// The part of Vector that is the same for all types.
class VectorStorage {
 protected:
  explicit VectorStorage(Arena* arena) : arena_(arena) {}
  Status ReserveItems(size_t n, uint32_t layout);
  // Room for one more, or for n more; twice what was there.
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
  // n zeroed elements more.
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
