// SPDX-License-Identifier: Apache-2.0
#include "model/engines.h"

#include <doctest/doctest.h>

#include <string>

namespace sluice {
namespace {

std::string TableOf(const Hardware& hardware) {
  const Engines engines(hardware);
  std::string text;
  for (uint32_t e = 0; e < engines.count(); ++e) {
    const sluice_engine_t at = engines.Describe(e);
    text += std::to_string(at.does) + "@" +
            (at.node == SLUICE_ALL_NODES ? "all" : std::to_string(at.node)) + "/" +
            std::to_string(at.roles) + " ";
  }
  return text;
}

Queue QueueOf(uint32_t does, uint32_t roles, bool per_node = false) {
  Queue queue;
  queue.does = does;
  queue.roles = roles;
  queue.per_node = per_node;
  return queue;
}

TEST_CASE("engines: queues, the host, then what nodes have besides") {
  Hardware machine = {};
  machine.node_cols = machine.node_rows = 1;
  CHECK(TableOf(machine) == "3@all/31 16@all/0 8@0/0 ");
  machine.node_cols = 2;
  CHECK(TableOf(machine) == "3@all/31 16@all/0 8@0/0 4@0/0 8@1/0 4@1/0 ");
  const Queue vta[] = {QueueOf(1, 11), QueueOf(9, 16, true), QueueOf(2, 31)};
  machine.queues = Span<const Queue>(vta, 3);
  CHECK(TableOf(machine) == "1@all/11 9@0/16 9@1/16 2@all/31 16@all/0 4@0/0 4@1/0 ");
  const Engines engines(machine);
  CHECK(engines.compute(1) == 2);
  CHECK(engines.send(1) == 6);
  CHECK(engines.host() == 4);
  CHECK(engines.of_queue(2, 1) == 3);
  CHECK(engines.queue_of(2) == 1);
  CHECK(engines.queue_of(4) == kNone);
  CHECK_FALSE(engines.one_queue());
  const Queue sends[] = {QueueOf(7, 31, true)};
  machine.queues = Span<const Queue>(sends, 1);
  CHECK(TableOf(machine) == "7@0/31 7@1/31 16@all/0 8@0/0 8@1/0 ");
  CHECK_FALSE(Engines(machine).one_queue());
  machine.node_cols = 1;
  CHECK(Engines(machine).one_queue());
}

struct Shape {
  int32_t extent[kAxes];
  uint32_t dram[kAxes], scratch[kAxes];
};

QueueWork Work(const Queue& queue, const Shape& s, bool indexed = false) {
  return WorkOf(queue, {s.extent, s.dram, s.scratch, 1, indexed});
}

TEST_CASE("engines: a row ends where either side leaves a gap") {
  Queue queue;
  // Two rows of three pixels of four channels; in DRAM a pixel takes ten.
  const Shape part = {{1, 2, 3, 4}, {600, 60, 10, 1}, {24, 12, 4, 1}};
  CHECK(Work(queue, part).bytes == 24);
  CHECK(Work(queue, part).descriptors == 1);
  queue.burst_bytes = 16;
  CHECK(Work(queue, part).bytes == 6 * 16);
  // Dense on both sides: all is one row of 24 bytes.
  const Shape dense = {{1, 2, 3, 4}, {24, 12, 4, 1}, {24, 12, 4, 1}};
  CHECK(Work(queue, dense).bytes == 32);
  // The scratchpad has a gap behind each row of the image.
  const Shape padded = {{1, 2, 3, 4}, {24, 12, 4, 1}, {40, 20, 4, 1}};
  CHECK(Work(queue, padded).bytes == 32);
  CHECK(Work(queue, {{1, 1, 2, 4}, {8, 8, 4, 1}, {8, 8, 4, 1}}, true).bytes == 32);
}

TEST_CASE("engines: descriptors by rows, row bytes and axes") {
  const Shape part = {{1, 2, 3, 4}, {600, 60, 10, 1}, {24, 12, 4, 1}};
  Queue queue;
  queue.max_axes = 3;
  CHECK(Work(queue, part).descriptors == 1);
  queue.max_axes = 2;  // three rows at one pitch
  CHECK(Work(queue, part).descriptors == 2);
  queue.max_axes = 1;
  CHECK(Work(queue, part).descriptors == 6);
  queue.max_axes = 0;
  queue.max_rows = 4;
  CHECK(Work(queue, part).descriptors == 2);
  // Rows of three bytes and of one.
  queue.max_row_bytes = 3;
  CHECK(Work(queue, part).descriptors == 4);
  queue.latency_cycles = 10;
  queue.descriptor_cycles = 7;
  CHECK(CyclesToPort(queue, 4) == 10 + 3 * 7);
}

// 1,040 bytes that are dense on both sides, then two such rows with a gap between them.
TEST_CASE("engines: a long row is cut into rows at one pitch") {
  const Shape dense = {{1, 1, 1, 1040}, {1040, 1040, 1040, 1}, {1040, 1040, 1040, 1}};
  Queue queue;
  queue.max_row_bytes = 64;
  CHECK(Work(queue, dense).descriptors == 2);  // 16 rows of 64, one of 16
  queue.max_rows = 16;
  CHECK(Work(queue, dense).descriptors == 2);
  queue.max_rows = 8;
  CHECK(Work(queue, dense).descriptors == 3);
  queue.max_axes = 1;
  CHECK(Work(queue, dense).descriptors == 17);
  const Shape two = {{1, 1, 2, 1040}, {4000, 4000, 2000, 1}, {2080, 2080, 1040, 1}};
  CHECK(Work(queue, two).descriptors == 34);
  queue.max_axes =
      2;  // of either row 8 + 8 pieces; the two last pieces are rows at one
  CHECK(Work(queue, two).descriptors == 2 * 2 + 1);
  queue.max_axes = 3;
  CHECK(Work(queue, two).descriptors == 4 + 1);
  // Two pieces of each of 16 rows: the 16 rows make fewer descriptors than the pieces.
  const Shape rows = {{1, 1, 16, 128}, {9999, 9999, 200, 1}, {2048, 2048, 128, 1}};
  queue.max_axes = 2;
  queue.max_rows = 16;
  CHECK(Work(queue, rows).descriptors == 2);
}

}  // namespace
}  // namespace sluice
