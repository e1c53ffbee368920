// SPDX-License-Identifier: Apache-2.0
#include "targets/gemmini/board.h"

#include <cstring>

#include "sluice/lowering.h"
#include "sluice_gemmini_scale.h"

namespace gemmini_model {
namespace {

using sluice_sim::Box;
using sluice_sim::Extent;
using sluice_sim::Tile;

class Board {
 public:
  Board(const Bytes& graph, const Bytes& plan, const Fault& fault)
      : graph_bytes_(graph), plan_bytes_(plan), fault_(fault) {}

  BoardResult Run(uint64_t seed, const MakeMachine& make, Scaling scaling);

 private:
  bool Fails(const std::string& error) {
    if (result_.error.empty()) result_.error = error;
    return !result_.error.empty();
  }
  void Note(uint64_t what, uint64_t one, uint64_t two) {
    const uint64_t words[] = {what, one, two};
    result_.commands_fnv1a = sluice_output_hash(
        result_.commands_fnv1a, reinterpret_cast<const uint8_t*>(words), sizeof words);
  }
  void Count(uint32_t funct, uint64_t rs2);
  bool Open();
  void Place(uint64_t seed);
  void Collect();
  Box BoxOf(const sluice_walk_visit_t& visit, uint32_t operand);
  Box PlaceOf(uint32_t tensor);
  Tile TileOf(const sluice_gemmini_step& step);
  void Copy(const sluice_gemmini_step& step);
  void Call(const sluice_gemmini_step& step);
  void Spread(const sluice_gemmini_step& step);
  void Finish(const sluice_gemmini_step& step);
  void Judge(const Tile& t, uint32_t layer, const Extent& at, const Extent& extent);
  int32_t Correction(const Tile& t, uint32_t layer, const int64_t at[4]);
  static int OnCommand(void* user, uint32_t funct, uint64_t rs1, uint64_t rs2);
  static int OnFence(void* user);
  static int OnStep(void* user, const sluice_gemmini_step* step);
  static int OnScale(void* user, const sluice_gemmini_step* step, float* scale,
                     int* relu);
  bool Scale(const sluice_gemmini_step& step, float* scale, int* relu);

  const Bytes &graph_bytes_, &plan_bytes_;
  Fault fault_;
  BoardResult result_;
  sluice_sim::Graph graph_;
  sluice_sim::Plan plan_;
  sluice_walker_t walker_{};
  sluice_sim::Values values_, wanted_;
  sluice_gemmini_input input_{};
  std::unique_ptr<Machine> machine_;
};

bool Board::Open() {
  std::string error =
      sluice_sim::ReadGraph(graph_bytes_.data(), graph_bytes_.size(), &graph_);
  if (error.empty()) {
    error = sluice_sim::ReadPlan(plan_bytes_.data(), plan_bytes_.size(),
                                 graph_.tensors.size(), &plan_);
  }
  if (error.empty() && sluice_walk_open(&walker_, plan_.image, plan_.image_size,
                                        nullptr) != SLUICE_WALK_OK) {
    error = "the walker refuses the stream";
  }
  if (error.empty()) {
    sluice_walk_set_parameters(&walker_, graph_.parameter_min.data(),
                               static_cast<uint32_t>(graph_.parameter_min.size()));
  }
  return !Fails(error);
}

Box Board::PlaceOf(uint32_t tensor) {
  const sluice_sim::Place& place = plan_.places[tensor];
  Box box;
  box.data = machine_->dram().data() + input_.base[place.region] + place.offset;
  box.dtype = graph_.tensors[tensor].dtype;
  box.extent = graph_.tensors[tensor].extent;
  box.stride = place.stride;
  return box;
}

void Board::Place(uint64_t seed) {
  Fails(sluice_sim::FillConstants(graph_, ".", &values_));
  Fails(sluice_sim::FillInputs(graph_, seed, nullptr, &values_));
  for (uint32_t i = 0; result_.error.empty() && i < graph_.tensors.size(); ++i) {
    const int kind = graph_.tensors[i].kind;
    if (kind == sluice_sim::kState) {
      Fails(sluice_sim::FillFromSource(graph_, i, ".", &values_[i]));
    } else if (kind != sluice_sim::kInput && kind != sluice_sim::kConstant) {
      continue;
    }
    if (plan_.places[i].region == 255) continue;
    const Box place = PlaceOf(i);
    sluice_sim::CopyBox(
        sluice_sim::DenseBox(values_[i].data(), place.dtype, place.extent), place);
  }
  wanted_ = values_;
  Fails(sluice_sim::RunLayers(graph_, graph_.parameter_min, &wanted_));
}

void Board::Collect() {
  uint64_t hash = SLUICE_OUTPUT_HASH_START;
  for (uint32_t i = 0; i < graph_.tensors.size(); ++i) {
    if (graph_.tensors[i].kind != sluice_sim::kOutput) continue;
    Bytes dense(static_cast<size_t>(graph_.tensors[i].bytes));
    const Box place = PlaceOf(i);
    sluice_sim::CopyBox(place,
                        sluice_sim::DenseBox(dense.data(), place.dtype, place.extent));
    hash = sluice_output_hash(hash, dense.data(), dense.size());
    result_.outputs.insert(result_.outputs.end(), dense.begin(), dense.end());
  }
  result_.output_fnv1a = hash;
}

Box Board::BoxOf(const sluice_walk_visit_t& visit, uint32_t operand) {
  Box box;
  if (operand == SLUICE_NONE) return box;
  sluice_walk_operand_t o;
  sluice_walk_operand(&walker_, &visit, operand, &o);
  box.data = machine_->dram().data() + input_.base[o.region] + o.offset;
  box.dtype = static_cast<int>(o.dtype);
  for (int a = 0; a < 4; ++a) {
    box.extent[a] = o.extent[a];
    box.stride[a] = o.stride[a];
  }
  return box;
}

Tile Board::TileOf(const sluice_gemmini_step& step) {
  sluice_tile_t record;
  sluice_kernel_t kernel;
  sluice_walk_tile(&walker_, step.visit, step.instruction.descriptor, &record);
  sluice_walk_kernel(&walker_, step.visit->instance, record.kernel, &kernel);
  const sluice_sim::Layer& layer = graph_.layers[kernel.layer];
  Tile tile;
  tile.op = kernel.op;
  for (uint32_t i = 0; i < kernel.attribute_count; ++i) {
    tile.attributes.push_back(sluice_walk_attribute(&walker_, &kernel, i));
  }
  tile.first = (step.instruction.flags & SLUICE_FLAG_FIRST) != 0;
  tile.last = (step.instruction.flags & SLUICE_FLAG_LAST) != 0;
  for (int a = 0; a < 4; ++a) {
    tile.origin[a] = record.origin[a];
    tile.pad[a] = record.pad[a];
  }
  const bool sums =
      step.kind == SLUICE_GEMMINI_FINISH || step.kind == SLUICE_GEMMINI_BIAS;
  tile.c_begin = sums ? step.c : record.c_begin;
  tile.c_end = record.c_end;
  tile.layer.input = graph_.tensors[layer.inputs[0]].extent;
  tile.layer.output = graph_.tensors[layer.outputs[0]].extent;
  if (layer.input(1) != sluice_sim::kAbsent) {
    tile.layer.second = graph_.tensors[layer.input(1)].extent;
  }
  const struct {
    uint32_t index;
    Box* box;
  } operands[] = {
      {record.input0, &tile.input0},           {record.input1, &tile.input1},
      {record.weight, &tile.weight},           {record.parameters, &tile.parameters},
      {record.accumulator, &tile.accumulator}, {record.output, &tile.output}};
  for (const auto& o : operands) *o.box = BoxOf(*step.visit, o.index);
  return tile;
}

void Board::Copy(const sluice_gemmini_step& step) {
  sluice_transfer_t t;
  sluice_walk_transfer(&walker_, step.visit->instance, step.instruction.descriptor, &t);
  sluice_sim::CopyBox(BoxOf(*step.visit, t.src), BoxOf(*step.visit, t.dst));
}

void Board::Call(const sluice_gemmini_step& step) {
  sluice_host_call_t call;
  sluice_walk_host_call(&walker_, step.visit->instance, step.instruction.descriptor,
                        &call);
  const sluice_sim::Layer& layer = graph_.layers[step.layer];
  uint32_t operand = call.first_operand;
  for (const uint32_t tensor : layer.inputs) {
    if (tensor == sluice_sim::kAbsent) continue;
    const Box from = BoxOf(*step.visit, operand++);
    Bytes& value = values_[tensor];
    value.resize(static_cast<size_t>(graph_.tensors[tensor].bytes));
    sluice_sim::CopyBox(from,
                        sluice_sim::DenseBox(value.data(), from.dtype, from.extent));
  }
  if (Fails(sluice_sim::RunLayer(graph_, layer, &values_))) return;
  for (const uint32_t tensor : layer.outputs) {
    const Box to = BoxOf(*step.visit, operand++);
    sluice_sim::CopyBox(
        sluice_sim::DenseBox(values_[tensor].data(), to.dtype, to.extent), to);
  }
}

void Board::Spread(const sluice_gemmini_step& step) {
  const Tile t = TileOf(step);
  const Box& f = t.weight;
  const int64_t each = t.layer.output[3] / t.layer.input[3];  // per input channel
  const int64_t first = t.origin[3] + step.k;
  uint8_t* block = machine_->dram().data() + step.address;
  for (int64_t r = 0; r < f.extent[1]; ++r) {
    for (int64_t s = 0; s < f.extent[2]; ++s, block += kDim * kDim) {
      std::memset(block, 0, kDim * kDim);
      for (uint32_t k = 0; k < step.channels; ++k) {
        const int64_t row = (first + k) / each - first / each;
        block[row * kDim + k] = *f.at(0, r, s, step.k + k);
      }
    }
  }
}

// What the zero point of the first input has added to the sum of an output element: zero
// times the weights whose input is no padding. A layer's weights are constants of the
// model, which the host has; what the scratchpad has of them it cannot read.
int32_t Board::Correction(const Tile& t, uint32_t layer, const int64_t at[4]) {
  const bool matmul = t.op == SLUICE_OP_BATCH_MATMUL;
  const int32_t zero = matmul ? t.A(SLUICE_MATMUL_A_ZERO) : t.A(SLUICE_CONV_INPUT_ZERO);
  if (zero == 0) return 0;
  const int64_t h = at[1], w = at[2], k = at[3];
  uint32_t sum = 0;
  if (matmul) {
    const bool transposed = t.A(SLUICE_MATMUL_TRANSPOSE_B) != 0;
    for (int64_t c = 0; c < t.input0.extent[3]; ++c) {
      sum += static_cast<uint32_t>(static_cast<int8_t>(
          transposed ? *t.input1.at(at[0], h, k, c) : *t.input1.at(at[0], h, c, k)));
    }
    return static_cast<int32_t>(0u - static_cast<uint32_t>(zero) * sum);
  }
  const bool depthwise = t.op == SLUICE_OP_DEPTHWISE_CONV;
  const bool matrix = t.op == SLUICE_OP_FULLY_CONNECTED;
  const uint32_t tensor = graph_.layers[layer].inputs[1];
  const Box whole = sluice_sim::DenseBox(values_[tensor].data(), SLUICE_DTYPE_INT8,
                                         graph_.tensors[tensor].extent);
  const Box f = matrix ? sluice_sim::FilterOf(whole) : whole;
  const auto step = [&](int attribute) {
    return matrix ? 1 : std::max(1, t.A(static_cast<size_t>(attribute)));
  };
  for (int64_t r = 0; r < f.extent[1]; ++r) {
    const int64_t row =
        h * step(SLUICE_CONV_STRIDE_H) + r * step(SLUICE_CONV_DILATION_H) - t.pad[0];
    for (int64_t s = 0; s < f.extent[2]; ++s) {
      const int64_t column =
          w * step(SLUICE_CONV_STRIDE_W) + s * step(SLUICE_CONV_DILATION_W) - t.pad[1];
      if (row < 0 || row >= t.input0.extent[1] || column < 0 ||
          column >= t.input0.extent[2]) {
        continue;
      }
      const int64_t channel = t.origin[3] + k;
      const uint8_t* const from =
          depthwise ? f.at(0, r, s, channel) : f.at(channel, r, s, t.c_begin);
      const int64_t channels = depthwise ? 1 : t.c_end - t.c_begin;
      for (int64_t c = 0; c < channels; ++c) {
        sum += static_cast<uint32_t>(static_cast<int8_t>(from[c]));
      }
    }
  }
  return static_cast<int32_t>(0u - static_cast<uint32_t>(zero) * sum);
}

void Board::Finish(const sluice_gemmini_step& step) {
  const Tile tile = TileOf(step);
  Tile part = tile;  // the same, from channel step.k on
  if (tile.output.present()) part.output.data += step.k * tile.output.stride[3];
  if (tile.accumulator.present()) {
    part.accumulator.data += step.k * tile.accumulator.stride[3];
  }
  if (tile.parameters.present()) {
    part.parameters.data += step.k * tile.parameters.stride[2];
  }
  std::vector<int32_t> sums(step.channels);
  uint64_t from = step.address;
  for (uint32_t h = 0; h < step.rows; ++h) {
    for (uint32_t w = 0; w < step.columns; ++w, from += 4 * uint64_t{step.channels}) {
      std::memcpy(sums.data(), machine_->dram().data() + from, 4 * sums.size());
      for (uint32_t k = 0; k < step.channels; ++k) {
        const int64_t at[4] = {step.n, step.h + h, step.w + w, step.k + k};
        sums[k] = static_cast<int32_t>(
            static_cast<uint32_t>(sums[k]) +
            static_cast<uint32_t>(Correction(tile, step.layer, at)));
      }
      sluice_sim::FinishRow(part, sums.data(), {step.n, step.h + h, step.w + w},
                            step.channels);
    }
  }
  Judge(tile, step.layer, {step.n, step.h, step.w, step.k},
        {1, step.rows, step.columns, step.channels});
}

// The box at `at` of the tile's output must have the reference's bytes: the outputs of a
// model may hide what its layers have wrong.
void Board::Judge(const Tile& t, uint32_t layer, const Extent& at,
                  const Extent& extent) {
  if (wanted_.empty() || !t.last) return;
  const uint32_t tensor = graph_.layers[layer].outputs[0];
  const Box wanted = sluice_sim::DenseBox(wanted_[tensor].data(), t.output.dtype,
                                          graph_.tensors[tensor].extent);
  bool same = true;
  sluice_sim::ForEachElement(
      extent, nullptr, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
        n += at[0];
        h += at[1];
        w += at[2];
        c += at[3];
        same = same && std::memcmp(t.output.at(n, h, w, c),
                                   wanted.at(t.origin[0] + n, t.origin[1] + h,
                                             t.origin[2] + w, t.origin[3] + c),
                                   sluice_sim::DtypeBytes(t.output.dtype)) == 0;
      });
  if (!same) Fails("layer " + std::to_string(layer) + ": bytes that differ");
}

// What sluice_gemmini_scaling allows, with what the input's zero point adds.
bool Board::Scale(const sluice_gemmini_step& step, float* scale, int* relu) {
  const Tile t = TileOf(step);
  std::vector<int32_t> rows(3 * step.channels), biases(step.channels);
  for (uint32_t k = 0; t.parameters.present() && k < step.channels; ++k) {
    std::memcpy(&rows[3 * k], t.parameters.at(0, 0, step.k + k, 0), 12);
  }
  const auto* const parameters = reinterpret_cast<const int32_t(*)[3]>(rows.data());
  if (sluice_gemmini_scaling(&walker_, &step,
                             t.parameters.present() ? parameters : nullptr, scale, relu,
                             biases.data()) == 0) {
    return false;
  }
  result_.scaled.push_back({step.layer,
                            {t.origin[0] + step.n, t.origin[1] + step.h,
                             t.origin[2] + step.w, t.origin[3] + step.k},
                            {step.images, step.rows, step.columns, step.channels},
                            *scale,
                            *relu != 0,
                            biases});
  for (uint32_t k = 0; k < step.channels; ++k) {
    const int64_t at[4] = {0, 0, 0, step.k + k};
    if (t.op != SLUICE_OP_BATCH_MATMUL) {
      biases[k] =
          static_cast<int32_t>(static_cast<uint32_t>(biases[k]) +
                               static_cast<uint32_t>(Correction(t, step.layer, at)));
    }
  }
  std::memcpy(machine_->dram().data() + step.address, biases.data(), 4 * biases.size());
  return true;
}

int Board::OnScale(void* user, const sluice_gemmini_step* step, float* scale,
                   int* relu) {
  Board& board = *static_cast<Board*>(user);
  const bool can = board.Scale(*step, scale, relu);
  return board.result_.error.empty() ? can : -1;
}

void Board::Count(uint32_t funct, uint64_t rs2) {
  if (result_.counts.layer >= result_.layers.size()) return;
  LayerCounts& c = result_.layers[result_.counts.layer];
  const uint64_t cells = (rs2 >> 32 & 0xffff) * (rs2 >> 48);
  const bool wide = (rs2 & 0xa0000000u) == 0xa0000000u;
  if (funct == SLUICE_GEMMINI_COMPUTE || funct == SLUICE_GEMMINI_COMPUTE_SAME) {
    ++c.passes;
  } else if (funct == SLUICE_GEMMINI_MVIN || funct == SLUICE_GEMMINI_MVIN2 ||
             funct == SLUICE_GEMMINI_MVOUT) {
    c.bytes += cells * (wide ? 4 : 1);
  }
}

int Board::OnCommand(void* user, uint32_t funct, uint64_t rs1, uint64_t rs2) {
  Board& board = *static_cast<Board*>(user);
  Fault& f = board.fault_;
  board.Note(funct, rs1, rs2);
  board.Count(funct, rs2);
  if (f.kind > Fault::kDropFence && f.funct == funct && f.count++ % f.every == 0) {
    if (f.kind == Fault::kDropCommand) return 0;
    (f.kind == Fault::kFlipRs1 ? rs1 : rs2) ^= uint64_t{1} << f.bit;
  }
  return board.Fails(board.machine_->Step(funct, rs1, rs2)) ? 1 : 0;
}

int Board::OnFence(void* user) {
  Board& board = *static_cast<Board*>(user);
  Fault& f = board.fault_;
  board.Note(256, 0, 0);
  if (f.kind == Fault::kDropFence && f.count++ % f.every == 0) return 0;
  return board.Fails(board.machine_->Fence()) ? 1 : 0;
}

int Board::OnStep(void* user, const sluice_gemmini_step* step) {
  Board& board = *static_cast<Board*>(user);
  board.Note(257, step->kind, step->layer);
  switch (step->kind) {
    case SLUICE_GEMMINI_COPY:
      board.Copy(*step);
      break;
    case SLUICE_GEMMINI_FINISH:
      board.Finish(*step);
      break;
    case SLUICE_GEMMINI_CALL:
      board.Call(*step);
      break;
    default:
      board.Spread(*step);
      break;
  }
  return board.result_.error.empty() ? 0 : 1;
}

BoardResult Board::Run(uint64_t seed, const MakeMachine& make, Scaling scaling) {
  if (!Open()) return result_;
  uint64_t bytes = 64;  // address 0 is none to Gemmini
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    input_.base[r] = bytes;
    bytes += (sluice_walk_region_bytes(&walker_, r) + 63) / 64 * 64;
  }
  input_.scratch = bytes;
  machine_ = make(bytes + SLUICE_GEMMINI_SCRATCH_BYTES);
  std::vector<sluice_walk_cursor_t> cursors(walker_.engines);
  input_.walker = &walker_;
  input_.cursors = cursors.data();
  Bytes lines(SLUICE_GEMMINI_ROWS);
  input_.lines = lines.data();
  std::vector<uint32_t> multipliers;
  for (const sluice_sim::Layer& layer : graph_.layers) {
    const auto channels = [&](const std::vector<uint32_t>& tensors) {
      return tensors.empty()
                 ? 0u
                 : static_cast<uint32_t>(graph_.tensors[tensors[0]].extent[3]);
    };
    const uint32_t in = channels(layer.inputs), out = channels(layer.outputs);
    multipliers.push_back(in > 0 ? out / in : 1);
  }
  input_.multipliers = multipliers.data();
  values_.resize(graph_.tensors.size());
  result_.layers.resize(graph_.layers.size());
  result_.commands_fnv1a = SLUICE_OUTPUT_HASH_START;
  // What a fence that is missing leaves behind must not look like sums.
  std::memset(machine_->dram().data() + bytes, 0x5a, SLUICE_GEMMINI_SUM_BYTES);
  Place(seed);
  if (scaling != Scaling::kHost) wanted_.clear();  // other bytes
  if (!result_.error.empty()) return result_;
  const sluice_gemmini_port port = {this,
                                    OnCommand,
                                    OnFence,
                                    OnStep,
                                    scaling != Scaling::kHost ? OnScale : nullptr,
                                    scaling == Scaling::kOnChip};
  const int code = sluice_gemmini_lower(&input_, &port, &result_.counts);
  if (code != 0) {
    Fails(result_.counts.reason != nullptr ? result_.counts.reason
                                           : "the port says no");
  }
  if (result_.error.empty()) Collect();
  return result_;
}

}  // namespace

BoardResult RunBoard(const Bytes& graph, const Bytes& plan, uint64_t seed, Late late,
                     const Fault& fault, Scaling scaling) {
  const auto make = [&](uint64_t bytes) {
    return std::make_unique<Machine>(bytes, late);
  };
  return Board(graph, plan, fault).Run(seed, make, scaling);
}

BoardResult RunBoardOn(const Bytes& graph, const Bytes& plan, uint64_t seed,
                       const MakeMachine& make, Scaling scaling) {
  return Board(graph, plan, {}).Run(seed, make, scaling);
}

}  // namespace gemmini_model
