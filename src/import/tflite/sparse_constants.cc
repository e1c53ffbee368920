// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/sparse_constants.h"

#include <algorithm>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

// The positions of one level below each position of the level above: 0 to `extent` - 1, or
// indices[segments[p]] up to indices[segments[p + 1] - 1] below position p.
struct Level {
  bool is_dense = true;
  int64_t extent = 0;
  std::vector<int64_t> segments, indices;
  uint64_t step =
      0;  // from one position to the next, in elements of the whole constant
};

class Filler {
 public:
  explicit Filler(TfliteTensor* tensor)
      : t_(*tensor), element_(TfliteTypeBytes(tensor->type)) {
    const tflite::Sparsity& from = *t_.sparsity;
    const size_t rank = t_.shape.size();
    const auto *order = from.traversal_order(), *blocks = from.block_map();
    const size_t block_axes = blocks == nullptr ? 0 : blocks->size();
    const size_t count = rank + block_axes;
    Need(element_ != 0 && rank != 0 && count <= kMostLevels && order != nullptr &&
         order->size() == count && from.dim_metadata() != nullptr &&
         from.dim_metadata()->size() == count);
    for (uint32_t i = 0; i < count; ++i) AddLevel(*from.dim_metadata()->Get(i));
    SetSteps(*order, blocks);
  }

  uint64_t bytes() const { return elements_ * element_; }

  std::vector<uint8_t> Fill() {
    whole_.resize(bytes());
    Below(0, 0, 0);
    Need(next_ == t_.data_bytes);
    return std::move(whole_);
  }

 private:
  static constexpr size_t kMostLevels =
      12;  // the runtime has tensors of up to six axes

  void Need(bool fits) const {
    if (fits) return;
    throw Error(Fault::kBadInput,
                "sparse constant " + t_.name + " does not say where its elements lie");
  }

  template <typename Table>
  static std::vector<int64_t> Listed(const Table* table) {
    if (table == nullptr || table->values() == nullptr) return {};
    return std::vector<int64_t>(table->values()->begin(), table->values()->end());
  }

  void AddLevel(const tflite::DimensionMetadata& from) {
    Level level;
    level.is_dense = from.format() == tflite::DimensionType::DENSE;
    level.extent = from.dense_size();
    const auto list = [](auto* as_int, auto* as_short, auto* as_byte) {
      return as_int != nullptr     ? Listed(as_int)
             : as_short != nullptr ? Listed(as_short)
                                   : Listed(as_byte);
    };
    if (!level.is_dense) {
      level.segments = list(from.array_segments_as_Int32Vector(),
                            from.array_segments_as_Uint16Vector(),
                            from.array_segments_as_Uint8Vector());
      level.indices = list(from.array_indices_as_Int32Vector(),
                           from.array_indices_as_Uint16Vector(),
                           from.array_indices_as_Uint8Vector());
    }
    levels_.push_back(std::move(level));
  }

  // Levels in the order in which the elements lie; each is an axis of the tensor, counted in
  // blocks if the axis has any, or an axis within blocks, which are dense.
  void SetSteps(const flatbuffers::Vector<int32_t>& order,
                const flatbuffers::Vector<int32_t>* blocks) {
    const size_t rank = t_.shape.size();
    std::vector<uint64_t> step(rank), block(rank, 1);
    for (size_t a = rank; a-- > 0;) {
      Need(t_.shape[a] > 0);
      step[a] = elements_;
      elements_ *= static_cast<uint64_t>(t_.shape[a]);
      Need(elements_ <= 0x7fffffff);
    }
    std::vector<bool> seen(levels_.size());
    for (size_t i = levels_.size(); i-- > 0;) {  // axes within blocks come last
      const int32_t at = order.Get(static_cast<uint32_t>(i));
      Need(at >= 0 && static_cast<size_t>(at) < levels_.size() &&
           !seen[static_cast<size_t>(at)]);
      seen[static_cast<size_t>(at)] = true;
      const bool within = static_cast<size_t>(at) >= rank;
      Need(within == (i >= rank));
      const int32_t axis =
          within ? blocks->Get(static_cast<uint32_t>(at) - static_cast<uint32_t>(rank))
                 : at;
      Need(axis >= 0 && static_cast<size_t>(axis) < rank);
      const size_t a = static_cast<size_t>(axis);
      Level& level = levels_[i];
      level.step = step[a] * (within ? 1 : block[a]);
      const int64_t whole = t_.shape[a];
      if (within) {
        Need(level.is_dense && block[a] == 1 && level.extent > 0 &&
             whole % level.extent == 0);
        block[a] = static_cast<uint64_t>(level.extent);
      } else {
        const int64_t count = whole / static_cast<int64_t>(block[a]);
        Need(!level.is_dense || level.extent == count);
        level.extent = count;
      }
    }
  }

  // Copies what lies below position `parent` of the level in front, which begins at element
  // `start` of the whole constant.
  void Below(size_t at, uint64_t parent, uint64_t start) {
    if (at == levels_.size()) {
      Need(t_.data_bytes - next_ >= element_);
      std::copy_n(t_.data + next_, element_, whole_.data() + start * element_);
      next_ += element_;
      return;
    }
    const Level& level = levels_[at];
    const uint64_t extent = static_cast<uint64_t>(level.extent);
    if (level.is_dense) {
      for (uint64_t i = 0; i < extent; ++i) {
        Below(at + 1, parent * extent + i, start + i * level.step);
      }
      return;
    }
    Need(parent + 1 < level.segments.size());
    const int64_t first = level.segments[parent], end = level.segments[parent + 1];
    Need(first >= 0 && end <= static_cast<int64_t>(level.indices.size()));
    for (int64_t i = first; i < end; ++i) {
      const int64_t index = level.indices[static_cast<size_t>(i)];
      Need(index >= 0 && index < level.extent);
      Below(at + 1, static_cast<uint64_t>(i),
            start + static_cast<uint64_t>(index) * level.step);
    }
  }

  const TfliteTensor& t_;
  const uint64_t element_;
  uint64_t elements_ = 1;
  std::vector<Level> levels_;
  std::vector<uint8_t> whole_;
  size_t next_ = 0;  // of the file's bytes
};

}  // namespace

void FillSparseConstants(TfliteModel* model, uint64_t* room) {
  for (TfliteTensor& tensor : model->tensors) {
    if (tensor.sparsity == nullptr) continue;
    Filler filler(&tensor);
    if (filler.bytes() > *room) {
      throw Error(Fault::kTooLarge, "constant " + tensor.name + " needs " +
                                        std::to_string(filler.bytes()) + " bytes");
    }
    *room -= filler.bytes();
    model->made.push_back(filler.Fill());
    tensor.data = model->made.back().data();
    tensor.data_bytes = model->made.back().size();
    tensor.sparsity = nullptr;
  }
}

void UnpackConstants(TfliteModel* model, uint64_t* room) {
  for (TfliteTensor& tensor : model->tensors) {
    const int bits = tensor.type == static_cast<int>(tflite::TensorType::INT4)   ? 4
                     : tensor.type == static_cast<int>(tflite::TensorType::INT2) ? 2
                                                                                 : 0;
    if (bits == 0 || tensor.data == nullptr) continue;
    const unsigned each = 8 / static_cast<unsigned>(bits);
    uint64_t elements = 1;
    for (const int32_t extent : tensor.shape) {
      const uint64_t factor = extent < 0 ? 0 : static_cast<uint64_t>(extent);
      elements =
          factor != 0 && elements > *room / factor ? *room + 1 : elements * factor;
    }
    if (elements > *room || (elements + each - 1) / each != tensor.data_bytes) continue;
    *room -= elements;
    std::vector<uint8_t> bytes(elements);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const int number = tensor.data[i / each] >> (i % each * bits) & ((1 << bits) - 1);
      const bool negative = number >> (bits - 1) != 0;
      bytes[i] = static_cast<uint8_t>(negative ? number - (1 << bits) : number);
    }
    model->made.push_back(std::move(bytes));
    tensor.data = model->made.back().data();
    tensor.data_bytes = model->made.back().size();
    tensor.type = static_cast<int>(tflite::TensorType::INT8);
  }
}

}  // namespace sluice::import
