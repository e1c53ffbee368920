// SPDX-License-Identifier: Apache-2.0
// The fields of all records of a stream's image, for tests that change them one by one.
#ifndef SLUICE_TESTS_MUTATION_CHANGED_FIELDS_H_
#define SLUICE_TESTS_MUTATION_CHANGED_FIELDS_H_

#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"
#include "support/changed_image.h"

namespace sluice_test {

// Widths of the fields of a record, in bytes.
using Fields = std::vector<uint8_t>;

inline Fields Words(size_t n) { return Fields(n, 4); }

struct Table {
  const char* name;
  size_t offset, count, bytes;  // of the image
  Fields fields;
};

inline std::vector<Table> TablesOf(const Bytes& image) {
  const sluice_stream_header_t h = HeaderOf(image);
  std::vector<Table> tables = {
      {"header", 0, 1, sizeof h, Words(sizeof h / 4)},
      {"engine", h.engine_offset, h.engine_count, 8, {2, 2, 2, 1, 1}},
      {"block", h.block_offset, h.block_count, 96, Words(24)},
      {"instance", h.instance_offset, h.instance_count, 16, Words(4)},
      {"loop", h.loop_offset, h.loop_count, 16, Words(4)},
      {"step", h.step_offset, h.step_count, 4, Words(1)},
      {"binding", h.binding_offset, h.binding_count, 16, Words(4)},
      {"kernel", h.kernel_offset, h.kernel_count, 16, {2, 2, 4, 4, 4}},
      {"attribute", h.attribute_offset, h.attribute_count, 4, Words(1)},
      {"patch", h.patch_offset, h.patch_count, 16, Words(4)},
  };
  const Fields operand = {2, 1, 1, 4, 4, 4};
  const Fields transfer = {4, 4, 4, 2, 2, 2, 2, 4, 1, 1, 2, 4};
  Fields tile = Words(14);
  tile.insert(tile.end(), 4, 2);
  for (uint32_t i = 0; i < h.block_count; ++i) {
    const sluice_block_t b = BlockOf(image, i);
    const Table body[] = {
        {"list", b.list_offset, h.engine_count + size_t{1}, 4, Words(1)},
        {"instruction",
         b.instruction_offset,
         b.instruction_count,
         16,
         {1, 1, 2, 4, 4, 4}},
        {"wait", b.wait_offset, b.wait_count, 8, {2, 2, 4}},
        {"tile", b.tile_offset, b.tile_count, 64, tile},
        {"transfer", b.transfer_offset, b.transfer_count, 32, transfer},
        {"host call", b.host_call_offset, b.host_call_count, 32, Words(8)},
        {"operand", b.operand_offset, b.operand_count, 16, operand},
        {"shape", b.shape_offset, b.shape_count, 32, Words(8)},
    };
    tables.insert(tables.end(), std::begin(body), std::end(body));
  }
  std::vector<Table> there;
  for (const Table& t : tables) {
    if (t.count != 0) there.push_back(t);
  }
  return there;
}

inline uint32_t Get(const Bytes& image, size_t at, uint8_t width) {
  uint32_t value = 0;
  std::memcpy(&value, image.data() + at, width);
  return value;
}

// Gives a field another value; `what` says for the reader which field it was.
inline void ChangeOne(sluice::Rng* rng, const std::vector<Table>& tables, Bytes* image,
                      std::string* what) {
  const Table& table = tables[rng->Below(static_cast<uint32_t>(tables.size()))];
  const size_t record = rng->Below(static_cast<uint32_t>(table.count));
  const size_t field = rng->Below(static_cast<uint32_t>(table.fields.size()));
  const uint8_t width = table.fields[field];
  size_t in_record = 0;
  for (size_t f = 0; f < field; ++f) in_record += table.fields[f];
  const size_t at = table.offset + record * table.bytes + in_record;
  const uint32_t old = Get(*image, at, width);
  const uint32_t steps[] = {1, 1, 1, 2, 4, 8, 16, 32, 64};
  const uint32_t step = steps[rng->Below(9)];
  uint32_t value = old;
  switch (rng->Below(8)) {
    case 0:
    case 1:
      value = old + step;
      break;
    case 2:
    case 3:
      value = old - step;
      break;
    case 4:
      value = old ^ 1u << rng->Below(8u * width);
      break;
    case 5:
      value = rng->Below(2) == 0 ? 0 : 0xffffffffu;
      break;
    case 6:
      value = rng->Below(64);
      break;
    default: {
      const size_t other = rng->Below(static_cast<uint32_t>(table.count));
      value = Get(*image, table.offset + other * table.bytes + in_record, width);
    }
  }
  if (Get(*image, at, width) == value) value = old + 1;
  std::memcpy(image->data() + at, &value, width);
  *what += std::string(table.name) + " " + std::to_string(record) + " field " +
           std::to_string(field) + ": " + std::to_string(old) + " -> " +
           std::to_string(Get(*image, at, width)) + "; ";
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_CHANGED_FIELDS_H_
