// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "reference.h"

namespace sluice_sim {
namespace {

bool SameExtents(const sluice_walk_operand_t& a, const sluice_walk_operand_t& b) {
  return std::equal(a.extent, a.extent + 4, b.extent);
}

// An operand's extents and strides for CheckTile, with no data behind them.
Box Shadow(const Access& access, uint8_t* somewhere) {
  const sluice_walk_operand_t& o = access.operand;
  Box box;
  box.data = somewhere;
  box.dtype = static_cast<int>(o.dtype);
  for (int a = 0; a < 4; ++a) {
    box.extent[a] = o.extent[a];
    box.stride[a] = o.stride[a];
  }
  return box;
}

}  // namespace

uint32_t Machine::PatchedBinding(const sluice_walker_t& walker, uint32_t patch) {
  sluice_patch_t record;
  std::memcpy(&record,
              walker.image + walker.header.patch_offset + patch * sizeof record,
              sizeof record);
  return record.binding;
}

uint32_t Machine::BindingOf(const Flight& flight, uint32_t operand) const {
  sluice_block_t block;
  sluice_walk_block(&walker_, flight.visit.instance, &block);
  sluice_operand_t record;
  std::memcpy(&record, walker_.image + block.operand_offset + operand * sizeof record,
              sizeof record);
  sluice_instance_t instance;
  std::memcpy(&instance,
              walker_.image + walker_.header.instance_offset +
                  flight.visit.instance * sizeof instance,
              sizeof instance);
  return instance.first_binding + record.slot;
}

Access Machine::Reach(const Flight& flight, uint32_t operand, uint32_t node, bool write,
                      const char* role) const {
  Access access;
  sluice_walk_operand(&walker_, &flight.visit, operand, &access.operand);
  access.operand.offset = memory_.Offset(access.operand.region, access.operand.offset);
  access.space = memory_.Space(access.operand.region, node);
  access.write = write;
  access.role = role;
  access.patched = !patched_.empty() && patched_.count(BindingOf(flight, operand)) != 0;
  return access;
}

namespace {

bool IsElementwise(const Flight& flight) {
  return flight.opcode == SLUICE_OPCODE_COMPUTE &&
         OpOf(static_cast<int>(flight.op)).elementwise;
}

bool SameBox(const sluice_walk_operand_t& a, const sluice_walk_operand_t& b) {
  bool same = a.offset == b.offset && a.bytes == b.bytes;
  for (int i = 0; i < 4; ++i) {
    same = same && a.extent[i] == b.extent[i] &&
           (a.extent[i] == 1 || a.stride[i] == b.stride[i]);
  }
  return same;
}

// Hardware may write results before it has read all operands. So a result must not
// overlap its operands, except for partial sums and for an elementwise operator's input
// with exactly the same box. Results must not overlap each other.
Trap CheckApart(const Flight& flight) {
  for (const Access& written : flight.accesses) {
    if (!written.write) continue;
    for (const Access& read : flight.accesses) {
      const std::string role = read.role;
      const bool sums = role == "accumulator" && role == written.role;
      if (&read == &written || sums || !Overlap(written, read)) continue;
      if (IsElementwise(flight) && !read.write && role != "weight" &&
          SameBox(written.operand, read.operand)) {
        continue;
      }
      return {"overlap", std::string(written.role) + " overwrites " + role};
    }
  }
  return {};
}

}  // namespace

Trap Machine::CheckAccesses(Flight* flight) {
  // Check all bounds first. Then a write is no larger than its region, and so is the
  // work of checking its read, even if a stride of 0 repeats bytes.
  for (const Access& access : flight->accesses) {
    if (Trap trap = memory_.Check(access)) return trap;
    const bool stores = access.write && access.operand.region == SLUICE_REGION_STATE;
    if (access.patched != stores) {
      return {"region", std::string(access.role) +
                            ": states are stored to through patched slots, and these "
                            "serve nothing else"};
    }
    if (!access.write) continue;
    const uint64_t region = sluice_walk_region_bytes(&walker_, access.operand.region);
    if (access.operand.bytes > region) {
      return {"overlap", "writes more bytes than its region has"};
    }
  }
  if (Trap trap = CheckApart(*flight)) return trap;
  for (const Access& access : flight->accesses) {
    if (!functional_ || access.write) continue;
    if (Trap trap = memory_.CheckDefined(access)) return trap;
  }
  return {};
}

Trap Machine::Start(const sluice_instruction_t& instruction, Flight* flight) {
  flight->opcode = instruction.opcode;
  switch (instruction.opcode) {
    case SLUICE_OPCODE_COMPUTE:
      return StartTile(instruction, flight);
    case SLUICE_OPCODE_HOST:
      return StartHost(instruction, flight);
    default:
      return StartTransfer(instruction, flight);
  }
}

uint64_t Machine::ForwardCycles(const sluice_transfer_t& t,
                                const Flight& flight) const {
  const int64_t cols = hardware_.node_cols;
  int64_t farthest = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const int64_t col = t.dst_node % cols + (corner & 1 ? t.dst_cols - 1 : 0);
    const int64_t row = t.dst_node / cols + (corner & 2 ? t.dst_rows - 1 : 0);
    farthest = std::max(farthest, std::abs(col - t.src_node % cols) +
                                      std::abs(row - t.src_node / cols));
  }
  const uint64_t cycles =
      hardware_.hop_latency_cycles * static_cast<uint64_t>(farthest) +
      BandwidthCycles(flight.bytes, hardware_.link_numerator,
                      hardware_.link_denominator);
  return std::max<uint64_t>(1, cycles);
}

Trap Machine::TimeTransfer(const sluice_transfer_t& t, const Access& src,
                           const Access& dst, Flight* flight) const {
  if (flight->opcode == SLUICE_OPCODE_FORWARD) {
    flight->end = flight->start + ForwardCycles(t, *flight);
    if (links_ != nullptr) flight->end += LinkDelay(t, *flight);
    return {};
  }
  const Engine& engine = EngineOf(*flight);
  const QueueLoad load =
      LoadOf(engine, src.operand, dst.operand, t.index != SLUICE_NONE, t.moved_bytes);
  if (load.descriptors != t.descriptors) {
    return {"transfer", "takes " + std::to_string(load.descriptors) +
                            " descriptors of its queue, says " +
                            std::to_string(t.descriptors)};
  }
  const bool loads = flight->opcode == SLUICE_OPCODE_LOAD;
  const Home& home = hardware_.home[(loads ? src : dst).operand.region];
  flight->at_port = true;
  flight->arrival = flight->start + engine.latency_cycles + home.latency_cycles +
                    (load.descriptors - 1) * engine.descriptor_cycles;
  flight->hold = std::max<uint64_t>(
      1, BandwidthCycles(load.bytes, home.numerator, home.denominator));
  if (t.moved_bytes != 0) flight->bytes = t.moved_bytes;
  flight->transfer = t;
  return {};
}

void Machine::Serve(uint64_t at, Flight* flight) const {
  flight->at_port = false;
  flight->end = at + flight->hold;
  if (links_ != nullptr && flight->opcode != SLUICE_OPCODE_HOST) {
    flight->end += LinkDelay(flight->transfer, *flight);
  }
}

uint64_t Machine::LinkDelay(const sluice_transfer_t& t, const Flight& flight) const {
  const Links::Rectangle to = {t.dst_node, t.dst_cols, t.dst_rows};
  if (flight.opcode == SLUICE_OPCODE_FORWARD) {
    return links_->Delay(t.src_node, to, flight.start, hardware_.hop_latency_cycles,
                         BandwidthCycles(flight.bytes, hardware_.link_numerator,
                                         hardware_.link_denominator));
  }
  // DRAM's latency precedes the first word of a LOAD; hops to DRAM take no time.
  const uint64_t cycles = flight.hold;
  if (flight.opcode == SLUICE_OPCODE_LOAD) {
    return links_->Delay(links_->CornerOf(to), to, flight.end - flight.hold, 0, cycles);
  }
  const uint32_t corner = links_->CornerOf({t.src_node, 1, 1});
  return links_->Delay(t.src_node, {corner, 1, 1}, flight.start, 0, cycles);
}

void Machine::set_places(const std::vector<Place>& places) {
  placed_ = true;
  for (uint32_t i = 0; i < places.size(); ++i) {
    if (graph_.tensors[i].encoded != 0) encoded_[places[i].offset] = i;
  }
}

// Checks what a transfer of so many bytes says about what it moves off chip.
Trap Machine::CheckEncoded(const sluice_transfer_t& t, const Access& src,
                           uint64_t landing) const {
  if (!placed_) {
    return t.moved_bytes <= landing ? Trap{}
                                    : Trap{"transfer", "moves more than lands"};
  }
  uint64_t moved = 0;
  auto at = encoded_.upper_bound(src.operand.offset);
  if (src.operand.region == SLUICE_REGION_CONST && at != encoded_.begin()) {
    const Tensor& tensor = graph_.tensors[(--at)->second];
    const uint64_t whole = static_cast<uint64_t>(tensor.bytes);
    const bool inside = src.operand.offset - at->first < whole;
    if (inside) moved = (landing * tensor.encoded + whole - 1) / whole;
  }
  if (t.moved_bytes == moved) return {};
  return {"transfer", "moves " + std::to_string(moved) + " encoded bytes, says " +
                          std::to_string(t.moved_bytes)};
}

Trap Machine::StartTransfer(const sluice_instruction_t& instruction, Flight* flight) {
  sluice_transfer_t t;
  sluice_walk_transfer(&walker_, flight->visit.instance, instruction.descriptor, &t);
  const uint32_t opcode = instruction.opcode;
  const Access src = Reach(*flight, t.src, t.src_node, false, "source");
  const Access dst = Reach(*flight, t.dst, t.dst_node, true, "destination");
  const bool from_gbuf = src.operand.region == SLUICE_REGION_GBUF;
  const bool to_gbuf = dst.operand.region == SLUICE_REGION_GBUF;
  if (from_gbuf != (opcode != SLUICE_OPCODE_LOAD) ||
      to_gbuf != (opcode != SLUICE_OPCODE_STORE)) {
    return {"region", "this opcode does not copy between these regions"};
  }
  sluice_walk_operand_t want = src.operand;
  if (t.index != SLUICE_NONE) want.extent[2] = dst.operand.extent[2];
  if (src.operand.dtype != dst.operand.dtype || !SameExtents(want, dst.operand)) {
    return {"transfer", "source and destination differ in extents or dtype"};
  }
  flight->bytes = dst.operand.bytes;
  flight->accesses.push_back(src);
  const uint32_t rows = to_gbuf ? t.dst_rows : 1, cols = to_gbuf ? t.dst_cols : 1;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t col = 0; col < cols; ++col) {
      flight->accesses.push_back(Reach(*flight, t.dst,
                                       t.dst_node + row * hardware_.node_cols + col,
                                       true, "destination"));
    }
  }
  Access index;
  if (t.index != SLUICE_NONE) {
    index = Reach(*flight, t.index, t.dst_node, false, "index");
    if (index.operand.region != SLUICE_REGION_GBUF ||
        index.operand.dtype != SLUICE_DTYPE_INT32 ||
        index.operand.bytes != 4 * uint64_t{dst.operand.extent[2]}) {
      return {"index", "indices are not one int32 per row, in the scratchpad"};
    }
    flight->accesses.push_back(index);
    sluice_kernel_t kernel;
    sluice_walk_kernel(&walker_, flight->visit.instance, t.kernel, &kernel);
    const Layer& layer = graph_.layers[kernel.layer];
    if (OpOf(layer.op).means != Means::kGather) {
      return {"index", "rows by index for a layer that gathers none"};
    }
    if (WhyNot(graph_, hardware_, layer) != 0) {
      return {"index", "the machine cannot do this layer"};
    }
  }
  for (size_t i = 1; i < flight->accesses.size(); ++i) {
    if (Overlap(src, flight->accesses[i])) {
      return {"overlap", "a copy whose source and destination overlap"};
    }
  }
  if (Trap trap = CheckEncoded(t, src, flight->bytes)) return trap;
  if (Trap trap = TimeTransfer(t, src, dst, flight)) return trap;
  if (Trap trap = CheckAccesses(flight)) return trap;
  if (!functional_) return {};
  return Copy(src, dst, t.index == SLUICE_NONE ? nullptr : &index, flight);
}

Trap Machine::Copy(const Access& src, const Access& dst, const Access* index,
                   Flight* flight) {
  Box from = memory_.At(src);
  const Box shape = memory_.At(dst);
  flight->result.resize(static_cast<size_t>(dst.operand.bytes));
  const Box to = DenseBox(flight->result.data(), shape.dtype, shape.extent);
  if (index == nullptr) {
    CopyBox(from, to);
    return {};
  }
  const Box indices = memory_.At(*index);
  std::vector<int32_t> rows(static_cast<size_t>(shape.extent[2]));
  uint8_t* const dense = reinterpret_cast<uint8_t*>(rows.data());
  CopyBox(indices, DenseBox(dense, SLUICE_DTYPE_INT32, indices.extent));
  for (int64_t i = 0; i < shape.extent[2]; ++i) {
    const int32_t row = rows[static_cast<size_t>(i)];
    if (row < 0 || row >= from.extent[2]) {
      return {"index",
              "row " + std::to_string(row) + " of " + std::to_string(from.extent[2])};
    }
    Box a = from, b = to;
    a.extent[2] = b.extent[2] = 1;
    a.data += row * from.stride[2];
    b.data += i * to.stride[2];
    CopyBox(a, b);
  }
  return {};
}

Trap Machine::FillTile(const sluice_tile_t& record, uint8_t flags, Flight* flight,
                       Tile* tile) {
  sluice_kernel_t kernel;
  sluice_walk_kernel(&walker_, flight->visit.instance, record.kernel, &kernel);
  flight->op = kernel.op;
  flight->layer = kernel.layer;
  const Layer& layer = graph_.layers[kernel.layer];
  tile->op = kernel.op;
  for (uint32_t i = 0; i < kernel.attribute_count; ++i) {
    tile->attributes.push_back(sluice_walk_attribute(&walker_, &kernel, i));
  }
  tile->first = (flags & SLUICE_FLAG_FIRST) != 0;
  tile->last = (flags & SLUICE_FLAG_LAST) != 0;
  for (int a = 0; a < 4; ++a) {
    tile->origin[a] = record.origin[a];
    tile->pad[a] = record.pad[a];
  }
  tile->c_begin = record.c_begin;
  tile->c_end = record.c_end;
  tile->layer.input = graph_.tensors[layer.inputs[0]].extent;
  tile->layer.padded = padded_[layer.inputs[0]];
  tile->layer.output = graph_.tensors[layer.outputs[0]].extent;
  if (layer.input(1) != kAbsent) {
    tile->layer.second = graph_.tensors[layer.input(1)].extent;
  }
  return {};
}

// MACs of a box / peak, or element operations / vector peak; at least 1.
uint64_t Machine::LeastCycles(const Work& work) const {
  return BandwidthCycles(
      work.times, work.macs ? hardware_.macs_per_cycle : hardware_.vector_ops_per_cycle,
      work.each);
}

// Tiles on the MAC array are cut at its granules, or at the end of the tensor.
std::string Machine::BrokenGranule(const Tile& t) const {
  const Granules& g = hardware_.granules;
  if (OpOf(t.op).count != Count::kMacs) return "";
  const auto cut = [](int64_t begin, int64_t length, int64_t all, int64_t granule) {
    const bool ends = begin + length == all || (begin + length) % granule == 0;
    return begin % granule == 0 && ends;
  };
  const Extent& whole = t.layer.output;
  const Extent& part = t.target().extent;
  if (!cut(t.origin[3], part[3], whole[3], g.k)) return "k";
  const int64_t channels = t.layer.input[3] / t.groups();
  if (!t.is_depthwise() && !cut(t.c_begin, t.c_end - t.c_begin, channels, g.c)) {
    return "c";
  }
  if (g.p == 1) return "";
  if (!g.crosses_rows || whole[1] == 1) {
    return cut(t.origin[2], part[2], whole[2], g.p) ? "" : "p";
  }
  const int64_t rows = g.p / std::gcd(int64_t{g.p}, int64_t{whole[2]});
  const bool kept = part[2] == whole[2] && cut(t.origin[1], part[1], whole[1], rows);
  return kept ? "" : "p";
}

// One operand of a tile: its index in the block, and the tile's box for it.
struct Machine::TileOperand {
  uint32_t index;
  Box* box;
  bool read, write;
  const char* role;
};

// Checks that the operands are those of the layer and have its tensors' dtypes. A tile
// that is not the last of its sum may name parameters, although it does not read them.
Trap Machine::CheckOperands(const Layer& layer, const sluice_tile_t& record,
                            const Tile& tile) const {
  const Op& op = OpOf(layer.op);
  const auto input_as = [&](InputAs as) -> uint32_t {
    if (op.second == as) return layer.input(1);
    return op.third == as ? layer.input(2) : kAbsent;
  };
  const struct {
    const char* role;
    const Box& box;
    uint32_t tensor;
    bool on_last;
  } operands[] = {{"input0", tile.input0, layer.input(0), false},
                  {"input1", tile.input1, input_as(InputAs::kInput1), false},
                  {"weight", tile.weight, input_as(InputAs::kWeight), false},
                  {"parameters", tile.parameters, input_as(InputAs::kParameters), true},
                  {"output", tile.output, layer.outputs[0], true}};
  if (record.parameters != SLUICE_NONE && input_as(InputAs::kParameters) == kAbsent) {
    return {"tile", "operands: parameters is none of the operator's"};
  }
  for (const auto& o : operands) {
    if (!o.box.present()) {
      if (o.tensor == kAbsent || o.on_last) continue;
      return {"tile", std::string("operands: ") + o.role + " is missing"};
    }
    if (o.tensor == kAbsent) {
      return {"tile",
              std::string("operands: ") + o.role + " is none of the operator's"};
    }
    if (o.box.dtype != graph_.tensors[o.tensor].dtype) {
      return {"tile", std::string("dtype: ") + o.role + " has another than its tensor"};
    }
    const bool filter =
        &o.box == &tile.weight && !op.matrix && op.slide != Slide::kNone;
    const Extent& whole = graph_.tensors[o.tensor].extent;
    if (filter && (o.box.extent[1] != whole[1] || o.box.extent[2] != whole[2])) {
      return {"tile", "extents: weight lacks taps of the filter"};
    }
  }
  return {};
}

Trap Machine::StartTile(const sluice_instruction_t& instruction, Flight* flight) {
  sluice_tile_t record;
  sluice_walk_tile(&walker_, &flight->visit, instruction.descriptor, &record);
  Tile tile;
  if (Trap trap = FillTile(record, instruction.flags, flight, &tile)) return trap;
  flight->end = flight->start + record.cycles;
  const TileOperand operands[kTileOperands] = {
      {record.input0, &tile.input0, true, false, "input0"},
      {record.input1, &tile.input1, true, false, "input1"},
      {record.weight, &tile.weight, true, false, "weight"},
      {tile.last ? record.parameters : SLUICE_NONE, &tile.parameters, true, false,
       "parameters"},
      {record.accumulator, &tile.accumulator, !tile.first, !tile.last, "accumulator"},
      {tile.last ? record.output : SLUICE_NONE, &tile.output, false, true, "output"}};
  uint8_t nothing = 0;
  for (const TileOperand& o : operands) {
    if (o.index == SLUICE_NONE) continue;
    const Access access =
        Reach(*flight, o.index, EngineOf(*flight).record.node, o.write, o.role);
    if (access.operand.region != SLUICE_REGION_GBUF) {
      return {"region", std::string(o.role) + " is not in the scratchpad"};
    }
    *o.box = Shadow(access, &nothing);
    if (o.write) flight->accesses.push_back(access);
    if (o.read) {
      flight->accesses.push_back(access);
      flight->accesses.back().write = false;
    }
  }
  if (Trap trap = CheckOperands(graph_.layers[flight->layer], record, tile))
    return trap;
  if (OpOf(tile.op).matrix) tile.weight = FilterOf(tile.weight);
  const std::string wrong = CheckTile(tile);
  if (!wrong.empty()) return {"tile", wrong};
  const std::string broken = BrokenGranule(tile);
  if (!broken.empty()) return {"tile", "the array demands multiples of its " + broken};
  if (WhyNot(graph_, hardware_, graph_.layers[flight->layer]) != 0) {
    return {"tile", "the machine cannot do this layer"};
  }
  const Work work = WorkOf(tile);
  if (record.cycles < LeastCycles(work)) {
    return {"tile", "cycles: declares " + std::to_string(record.cycles) +
                        ", the peak needs " + std::to_string(LeastCycles(work))};
  }
  (work.macs ? flight->macs : flight->vector_ops) = work.times * work.each;
  if (Trap trap = CheckAccesses(flight)) return trap;
  if (functional_) Compute(operands, flight, &tile);
  return {};
}

// Writes results to a dense copy, which lands on completion; an accumulator's old sums
// are copied there first.
void Machine::Compute(const TileOperand operands[kTileOperands], Flight* flight,
                      Tile* tile) {
  Access target;
  for (int i = 0; i < kTileOperands; ++i) {
    const TileOperand& o = operands[i];
    if (o.index == SLUICE_NONE) continue;
    const Access access =
        Reach(*flight, o.index, EngineOf(*flight).record.node, o.write, o.role);
    const Box box = memory_.At(access);
    *o.box = o.box == &tile->weight && OpOf(tile->op).matrix ? FilterOf(box) : box;
    if (o.write) target = access;
  }
  flight->result.resize(static_cast<size_t>(target.operand.bytes));
  const Box home = memory_.At(target);
  Box& out = tile->last ? tile->output : tile->accumulator;
  out = DenseBox(flight->result.data(), home.dtype, home.extent);
  if (!tile->last && !tile->first) CopyBox(home, out);
  RunTile(*tile);
}

Trap Machine::StartHost(const sluice_instruction_t& instruction, Flight* flight) {
  sluice_host_call_t call;
  sluice_walk_host_call(&walker_, flight->visit.instance, instruction.descriptor,
                        &call);
  sluice_kernel_t kernel;
  sluice_walk_kernel(&walker_, flight->visit.instance, call.kernel, &kernel);
  flight->op = kernel.op;
  flight->layer = kernel.layer;
  Layer layer = graph_.layers[kernel.layer];
  layer.attributes.clear();
  for (uint32_t i = 0; i < kernel.attribute_count; ++i) {
    layer.attributes.push_back(sluice_walk_attribute(&walker_, &kernel, i));
  }
  if ((call.cycles_lo | uint64_t{call.cycles_hi} << 32) > kMostCycles) {
    return {"host", "cycles out of range"};
  }
  if (Trap trap = CheckHost(graph_.layers[kernel.layer], call)) return trap;
  flight->end = flight->start + (call.cycles_lo | uint64_t{call.cycles_hi} << 32);
  if (Trap trap = HostOperands(layer, call, flight)) return trap;
  if (hardware_.host.uses_port) {
    flight->at_port = true;
    flight->arrival = flight->end;
    flight->hold = BandwidthCycles(flight->bytes, hardware_.dram_numerator,
                                   hardware_.dram_denominator);
  }
  if (Trap trap = CheckAccesses(flight)) return trap;
  return functional_ ? RunOnHost(layer, flight) : Trap{};
}

// Checks that the layer must run on the host, for the stated reason, and that the
// call's cycles suffice.
Trap Machine::CheckHost(const Layer& layer, const sluice_host_call_t& call) const {
  const uint32_t why = WhyNot(graph_, hardware_, layer);
  const bool opaque = OpOf(layer.op).means == Means::kHost;
  if (!opaque && (why == 0 || !hardware_.host.there)) {
    return {"host", "executes a layer that is not the host's"};
  }
  if (call.why != why) return {"host", "another reason than the machine's"};
  const uint64_t least = CallCycles(graph_, hardware_, layer);
  if ((call.cycles_lo | uint64_t{call.cycles_hi} << 32) >= least) return {};
  return {"host", "declares fewer than " + std::to_string(least) + " cycles"};
}

Trap Machine::HostOperands(const Layer& layer, const sluice_host_call_t& call,
                           Flight* flight) {
  std::vector<uint32_t> tensors;
  for (uint32_t t : layer.inputs) {
    if (t != kAbsent) tensors.push_back(t);
  }
  const size_t inputs = tensors.size();
  tensors.insert(tensors.end(), layer.outputs.begin(), layer.outputs.end());
  if (call.inputs != inputs || call.outputs != layer.outputs.size()) {
    return {"host", "operands of another layer"};
  }
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Access access = Reach(*flight, call.first_operand + i, 0, i >= inputs,
                                i < inputs ? "input" : "output");
    const Tensor& tensor = graph_.tensors[tensors[i]];
    if (access.operand.region == SLUICE_REGION_GBUF) {
      return {"region", "the host works in DRAM only"};
    }
    if (!std::equal(tensor.extent.begin(), tensor.extent.end(),
                    access.operand.extent) ||
        static_cast<int>(access.operand.dtype) != tensor.dtype) {
      return {"host", "an operand is not the whole tensor"};
    }
    flight->bytes += access.operand.bytes;
    flight->accesses.push_back(access);
  }
  return {};
}

// Executes the layer with the reference kernels on dense copies of the operands.
Trap Machine::RunOnHost(const Layer& layer, Flight* flight) {
  Values values(graph_.tensors.size());
  size_t operand = 0;
  for (uint32_t t : layer.inputs) {
    if (t == kAbsent) continue;
    const Box from = memory_.At(flight->accesses[operand++]);
    values[t].resize(static_cast<size_t>(graph_.tensors[t].bytes));
    CopyBox(from, DenseBox(values[t].data(), from.dtype, from.extent));
  }
  const std::string wrong = RunLayer(graph_, layer, &values);
  if (!wrong.empty()) return {"host", wrong};
  for (uint32_t t : layer.outputs) flight->results.push_back(std::move(values[t]));
  return {};
}

void Machine::Complete(const Flight& flight) {
  if (!functional_) return;
  size_t written = 0;
  for (const Access& access : flight.accesses) {
    if (!access.write) continue;
    const Box to = memory_.At(access);
    const std::vector<uint8_t>& result =
        flight.results.empty() ? flight.result : flight.results[written++];
    const Box from = DenseBox(const_cast<uint8_t*>(result.data()), to.dtype, to.extent);
    CopyBox(from, to);
    memory_.Define(access);
  }
}

}  // namespace sluice_sim
