// SPDX-License-Identifier: Apache-2.0
#include "cli/plot_buffer.h"

#include <algorithm>
#include <map>

#include "cli/stream_tables.h"

namespace sluice::cli {
namespace {

using sluice_sim::TraceEvent;

// The pieces of one node: live ones by first byte, disjoint; finished ones in the
// output.
class Pad {
 public:
  void Read(const Range& range, uint64_t end) {
    for (auto it = FirstAt(range.low); it != live_.end() && it->first < range.high;
         ++it) {
      it->second.end = std::max(it->second.end, end);
    }
  }

  // source: what a LOAD reads; nullptr: the bytes were made here.
  void Write(const Range& range, const TraceEvent& e, const Range* source) {
    // Further sums into the same bytes, and writes of the same layer, continue the
    // piece.
    const auto same = live_.find(range.low);
    if (same != live_.end() && same->second.high == range.high &&
        same->second.layer == e.layer && same->second.end >= e.end) {
      return;
    }
    Cut(range, e.start);
    PlotPiece piece;
    piece.low = range.low;
    piece.high = range.high;
    piece.start = e.start;
    piece.end = e.end;
    piece.layer = e.layer;
    if (source != nullptr) {
      piece.loaded = true;
      piece.pale = source->region == SLUICE_REGION_CONST;
      piece.source_region = source->region;
      piece.source = source->low;
    }
    live_[range.low] = piece;
  }

  std::vector<PlotPiece> Take() {
    for (const auto& [low, piece] : live_) done_.push_back(piece);
    live_.clear();
    std::sort(done_.begin(), done_.end(), [](const PlotPiece& a, const PlotPiece& b) {
      return a.start != b.start ? a.start < b.start : a.low < b.low;
    });
    return std::move(done_);
  }

 private:
  std::map<uint64_t, PlotPiece>::iterator FirstAt(uint64_t low) {
    auto it = live_.upper_bound(low);
    if (it != live_.begin() && std::prev(it)->second.high > low) --it;
    return it;
  }

  // Ends live pieces inside the range at `now` at the latest; parts outside stay live.
  void Cut(const Range& range, uint64_t now) {
    auto it = FirstAt(range.low);
    while (it != live_.end() && it->first < range.high) {
      const PlotPiece old = it->second;
      it = live_.erase(it);
      if (old.low < range.low) {
        PlotPiece left = old;
        left.high = range.low;
        live_[left.low] = left;
      }
      if (old.high > range.high) {
        PlotPiece right = old;
        right.low = range.high;
        it = live_.insert(it, {right.low, right});
      }
      PlotPiece over = old;
      over.low = std::max(old.low, range.low);
      over.high = std::min(old.high, range.high);
      over.end = std::min(over.end, now);
      if (over.end > over.start) done_.push_back(over);
    }
  }

  std::map<uint64_t, PlotPiece> live_;
  std::vector<PlotPiece> done_;
};

class Follower {
 public:
  Follower(const Stream& stream, BufferHistory* history)
      : stream_(stream),
        history_(history),
        cols_(std::max(stream.header().node_cols, 1u)),
        pads_(size_t{cols_} * std::max(stream.header().node_rows, 1u)) {}

  void Follow(const TraceEvent& e) {
    instance_ = stream_.Instance(e.instance);
    block_ = stream_.Block(instance_.block);
    const auto instruction =
        stream_.At<sluice_instruction_t>(block_.instruction_offset, e.instruction);
    PlotMove move;
    if (e.opcode == SLUICE_OPCODE_COMPUTE) {
      Compute(e, stream_.At<sluice_tile_t>(block_.tile_offset, instruction.descriptor),
              instruction.flags);
    } else if (e.opcode != SLUICE_OPCODE_HOST) {
      move = Transfer(e, stream_.At<sluice_transfer_t>(block_.transfer_offset,
                                                       instruction.descriptor));
    }
    history_->moves.push_back(move);
  }

  void Finish() {
    for (Pad& pad : pads_) history_->nodes.push_back(pad.Take());
  }

 private:
  Pad& PadOf(size_t node) {
    if (node >= pads_.size()) throw Failure(kBadInput, "the plan names a missing node");
    return pads_[node];
  }

  Range RangeOf(uint32_t operand) const {
    return stream_.RangeOf(instance_, block_, operand);
  }

  void Compute(const TraceEvent& e, const sluice_tile_t& tile, uint8_t flags) {
    Pad& pad = PadOf(e.node);
    for (const uint32_t operand :
         {tile.input0, tile.input1, tile.weight, tile.parameters}) {
      if (operand != SLUICE_NONE) pad.Read(RangeOf(operand), e.end);
    }
    if (tile.accumulator != SLUICE_NONE) {
      const Range sums = RangeOf(tile.accumulator);
      if ((flags & SLUICE_FLAG_FIRST) == 0) pad.Read(sums, e.end);
      pad.Write(sums, e, nullptr);
    }
    if (tile.output != SLUICE_NONE && (flags & SLUICE_FLAG_LAST) != 0) {
      pad.Write(RangeOf(tile.output), e, nullptr);
    }
  }

  PlotMove Transfer(const TraceEvent& e, const sluice_transfer_t& transfer) {
    const Range src = RangeOf(transfer.src);
    const Range dst = RangeOf(transfer.dst);
    const bool loads = e.opcode == SLUICE_OPCODE_LOAD;
    PlotMove move;
    move.region = loads ? src.region : dst.region;
    move.constants = loads && src.region == SLUICE_REGION_CONST;
    if (!loads) PadOf(transfer.src_node).Read(src, e.end);
    if (transfer.index != SLUICE_NONE) {
      PadOf(transfer.dst_node).Read(RangeOf(transfer.index), e.end);
    }
    if (e.opcode == SLUICE_OPCODE_STORE) return move;
    for (uint32_t row = 0; row < transfer.dst_rows; ++row) {
      for (uint32_t col = 0; col < transfer.dst_cols; ++col) {
        PadOf(size_t{transfer.dst_node} + size_t{row} * cols_ + col)
            .Write(dst, e, loads ? &src : nullptr);
      }
    }
    return move;
  }

  const Stream& stream_;
  BufferHistory* history_;
  const uint32_t cols_;
  std::vector<Pad> pads_;
  sluice_instance_t instance_ = {};
  sluice_block_t block_ = {};
};

}  // namespace

BufferHistory FollowBuffers(const void* bytes, size_t size,
                            const std::vector<TraceEvent>& events) {
  const Stream stream(bytes, size);
  BufferHistory history;
  history.capacity = Wide(stream.header().gbuf_bytes_lo, stream.header().gbuf_bytes_hi);
  Follower follower(stream, &history);
  for (const TraceEvent& e : events) follower.Follow(e);
  follower.Finish();
  return history;
}

}  // namespace sluice::cli
