// SPDX-License-Identifier: Apache-2.0
// The untrusted image as checked tables: each field out of range gets its message.
#include <functional>

#include "cases.h"
#include "judged_case.h"
#include "support/changed_image.h"

namespace sluice_test {
namespace {

// Changes ConvCase's image, makes all hashes right again and checks the judge's
// message.
void CheckImage(const std::function<void(Bytes*)>& change, const std::string& rule,
                const std::string& message) {
  const Case c = ConvCase();
  Judged judged(c);
  Bytes image = c.stream.Image();
  change(&image);
  RehashAll(&image);
  const Verdict v = judged.OfImage(image);
  CHECK(v.status == sluice::Status::kRejected);
  CHECK(v.rule == rule);
  CHECK(v.message == message);
}

void CheckHeader(const std::function<void(sluice_stream_header_t*)>& change,
                 const std::string& message, const std::string& rule = "structure") {
  CheckImage(
      [&](Bytes* image) {
        sluice_stream_header_t h = HeaderOf(*image);
        change(&h);
        Put(image, 0, h);
      },
      rule, message);
}

void CheckBlock(const std::function<void(sluice_block_t*)>& change,
                const std::string& message) {
  CheckImage(
      [&](Bytes* image) {
        sluice_block_t b = BlockOf(*image);
        change(&b);
        Put(image, HeaderOf(*image).block_offset, b);
      },
      "structure", message);
}

using Header = sluice_stream_header_t;

TEST_CASE("structure: a header that is none, or of another size or machine") {
  Judged judged(ConvCase());
  CHECK(judged.OfImage({}).message == "image shorter than a header or misaligned");
  CheckHeader([](Header* h) { h->magic ^= 1; }, "wrong magic or version");
  CheckHeader([](Header* h) { ++h->version; }, "wrong magic or version");
  CheckHeader([](Header* h) { h->size_bytes += 16; },
              "size_bytes is not the image's size");
  CheckHeader([](Header* h) { h->flags = 1; },
              "a reserved field of the header is not 0");
  CheckHeader([](Header* h) { h->reserved[1] = 1; },
              "a reserved field of the header is not 0");
  CheckHeader([](Header* h) { h->node_cols = 2; }, "nodes differ from the hardware's");
}

TEST_CASE("structure: hashes are of the bytes that are there") {
  const Case c = ConvCase();
  Judged judged(c);
  Bytes image = c.stream.Image();
  image.back() ^= 1;
  CHECK(judged.OfImage(image).message == "the image's hash does not fit its bytes");
  Rehash(&image);  // of the image, not of the changed body
  CHECK(judged.OfImage(image).message == "a body's hash does not fit its bytes");
}

TEST_CASE("structure: regions fit the machine") {
  CheckHeader([](Header* h) { h->region_alignment = 3; },
              "region_alignment is not a power of two", "alignment");
  CheckHeader([](Header* h) { h->gbuf_bytes_lo = 4097; },
              "made for a larger scratchpad than the hardware's", "bounds");
  CheckHeader([](Header* h) { h->region_bytes[SLUICE_REGION_GBUF][0] = 4097; },
              "needs more scratchpad than it was made for", "bounds");
  CheckHeader([](Header* h) { h->region_bytes[SLUICE_REGION_CONST][1] = 1u << 17; },
              "a region larger than 2^48 bytes", "bounds");
}

TEST_CASE("structure: tables lie inside the image, and inside their body") {
  CheckHeader([](Header* h) { h->kernel_offset = h->size_bytes; },
              "a table lies outside the image");
  CheckHeader([](Header* h) { h->binding_count = 1u << 30; },
              "a table lies outside the image");
  CheckBlock([](sluice_block_t* b) { b->tile_offset = b->body_offset - 4; },
             "a table lies outside its body");
  CheckBlock([](sluice_block_t* b) { b->shape_count = 1u << 20; },
             "a table lies outside its body");
  CheckBlock([](sluice_block_t* b) { b->flags = 1; },
             "a block's entry is out of range");
}

// Checks the message after a change of records, which the builder writes.
void CheckRecord(const std::function<void(Case*)>& change, const std::string& message,
                 const std::string& rule = "structure") {
  Case c = ConvCase();
  change(&c);
  CheckRejected(c, rule, message);
}

TEST_CASE("structure: tables stand in the order of stream.h and share no bytes") {
  const std::string outside = "a table lies outside the image";
  CheckHeader([](Header* h) { std::swap(h->kernel_offset, h->binding_offset); },
              outside);
  // One more attribute would lie over the first word of the body.
  CheckHeader([](Header* h) { h->attribute_count += 4; },
              "a block's entry is out of range");
  // The bindings lie where steps would be if there were any.
  CheckHeader(
      [](Header* h) {
        h->step_count = 1;
        h->step_offset = h->binding_offset;
      },
      outside);
  // An empty table may have any offset.
  Judged judged(ConvCase());
  Bytes image = ConvCase().stream.Image();
  sluice_stream_header_t h = HeaderOf(image);
  h.loop_offset = 3;
  Put(&image, 0, h);
  RehashAll(&image);
  CHECK(judged.OfImage(image).message == "");
}

TEST_CASE("structure: descriptors name what is there") {
  CheckRecord([](Case* c) { Shape(c, 0).extent[2] = 0; },
              "a shape with an extent of 0");
  CheckRecord([](Case* c) { Operand(c, 3).slot = 4; },
              "an operand with a field out of range");
  CheckRecord([](Case* c) { Operand(c, 3).dtype = 0; },
              "an operand with a field out of range");
  CheckRecord([](Case* c) { Tile(c, 2).cycles = 0; }, "a tile's field is out of range");
  CheckRecord([](Case* c) { Tile(c, 2).kernel = 1; }, "a tile's field is out of range");
  CheckRecord([](Case* c) { Transfer(c, 1).dst_node = 1; },
              "a transfer's field is out of range");
  CheckRecord([](Case* c) { Transfer(c, 1).src = 1000; },
              "a transfer's field is out of range");
  Case host = GatherHostCase();
  host.stream.blocks[0].host_calls[0].inputs = 9;
  CheckRejected(host, "structure", "a host call's field is out of range");
}

TEST_CASE("structure: instructions run on their engine, waits name instructions") {
  const std::string first =
      "instruction 0 of engine 0: opcode, flags, descriptor or waits out of range";
  CheckRecord([](Case* c) { At(c, kDma, 1).record.opcode = 77; }, first);
  CheckRecord([](Case* c) { At(c, kDma, 1).record.opcode = SLUICE_OPCODE_COMPUTE; },
              first);
  CheckRecord([](Case* c) { At(c, kDma, 1).record.flags = SLUICE_FLAG_FIRST; }, first);
  CheckRecord([](Case* c) { At(c, kDma, 1).record.descriptor = 10; }, first);
  CheckRecord([](Case* c) { At(c, kCompute, 1).waits[0].count = 11; },
              "a wait names steps that do not exist");
  CheckRecord([](Case* c) { At(c, kCompute, 1).waits[0].count = 0; },
              "a wait names steps that do not exist");
  CheckRecord([](Case* c) { At(c, kCompute, 1).waits[0].before = 2; },
              "a wait names steps that do not exist");
  CheckRecord([](Case* c) { At(c, kCompute, 1).waits[0] = AfterAllBut(0, 3); },
              "a wait names steps that do not exist");
}

TEST_CASE("structure: engines are the machine's, in its order, and move their roles") {
  const auto table = [](auto change) {
    Case c = ConvCase();
    c.stream.engine_table = SimplestEngines(1);
    change(&c.stream.engine_table);
    return Judge(c).message;
  };
  using Engines = std::vector<sluice_engine_t>;
  CHECK(table([](Engines*) {}) == "");
  CHECK(table([](Engines* e) { e->at(0).does = SLUICE_DOES_LOAD; }) ==
        "engine 0 is not what the hardware has there");
  CHECK(table([](Engines* e) { e->at(2).node = 1; }) ==
        "engine 2 is not what the hardware has there");
  CHECK(table([](Engines* e) { e->pop_back(); }) == "the hardware has more engines");
  CHECK(table([](Engines* e) { e->push_back(e->back()); }) ==
        "the hardware has fewer engines");
  CheckRecord(
      [](Case* c) { Transfer(c, 0).role = SLUICE_ROLE_OUTPUT; },
      "instruction 0 of engine 0: opcode, flags, descriptor or waits out of range");
}

TEST_CASE("structure: instances have their block, slots and kernels") {
  CheckRecord([](Case* c) { c->stream.instances[0].block = 1; },
              "an instance names a block that does not exist");
  CheckRecord([](Case* c) { c->stream.instances[0].first_binding = 1; },
              "an instance's slots or kernels are missing");
  CheckRecord([](Case* c) { c->stream.bindings[2].region = SLUICE_REGION_COUNT; },
              "a binding's field is out of range");
  CheckRecord([](Case* c) { c->stream.bindings[2].base_hi = 1u << 17; },
              "a slot's base is beyond its region", "bounds");
  CheckRecord([](Case* c) { c->stream.bindings[0].base_lo = 8; },
              "a scratchpad slot's base is not aligned", "alignment");
  CheckRecord([](Case* c) { c->stream.kernels[0].layer = 1; },
              "a kernel's field is out of range");
  CheckRecord(
      [](Case* c) {
        c->stream.patches.push_back({0, 0, 4, 0});
      },
      "a patch's field is out of range");  // the graph has no parameters
  Case c = AppendCase();
  c.stream.patches[0].binding = 2;
  CheckRejected(c, "patch", "a patched slot outside the state region");
}

TEST_CASE(
    "structure: a first wait beyond the waits is refused even where none is waited "
    "for") {
  const Case c = ConvCase();
  Bytes image = c.stream.Image();
  const sluice_block_t block = BlockOf(image);
  const size_t first = block.instruction_offset;
  sluice_instruction_t instruction;
  std::memcpy(&instruction, image.data() + first, sizeof instruction);
  REQUIRE(instruction.wait_count == 0);
  const size_t field = first + offsetof(sluice_instruction_t, first_wait);
  Judged judged(c);
  Put(&image, field, block.wait_count);
  RehashAll(&image);
  CHECK(judged.OfImage(image).status == sluice::Status::kOk);
  Put(&image, field, block.wait_count + 1);
  RehashAll(&image);
  const Verdict v = judged.OfImage(image);
  CHECK(v.status == sluice::Status::kRejected);
  CHECK(v.rule == "structure");
}

TEST_CASE("structure: a kernel of an unknown operator is refused") {
  const Case c = AddCase();
  Judged judged(c);
  for (const int code : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    CAPTURE(code);
    Bytes image = c.stream.Image();
    Put(&image, HeaderOf(image).kernel_offset + offsetof(sluice_kernel_t, op),
        static_cast<uint16_t>(code));
    RehashAll(&image);
    CHECK(judged.OfImage(image).message ==
          "kernel 0 differs from its layer in op or attributes");
  }
}

// The message of ConvCase after a change of records.
std::string MessageAfter(const std::function<void(Case*)>& change) {
  Case c = ConvCase();
  change(&c);
  return Judge(c).message;
}

TEST_CASE("structure: what just reaches a limit is not beyond it") {
  CHECK(MessageAfter([](Case* c) {
          c->stream.region_bytes[SLUICE_REGION_GBUF] = c->stream.gbuf_bytes;
        }) != "needs more scratchpad than it was made for");
  CHECK(MessageAfter([](Case* c) {
          c->stream.region_bytes[SLUICE_REGION_CONST] = uint64_t{1} << 48;
        }) != "a region larger than 2^48 bytes");
  CHECK(MessageAfter([](Case* c) { c->stream.bindings[2].base_hi = 1u << 16; }) !=
        "a slot's base is beyond its region");
  CHECK(MessageAfter([](Case* c) { Operand(c, 0).offset_hi = 1u << 30; }) !=
        "an operand beyond every region");
  CHECK(MessageAfter([](Case* c) { Operand(c, 0).offset_hi = (1u << 30) + 1; }) ==
        "an operand beyond every region");
}

TEST_CASE("structure: a memory off chip has room for its regions, to the byte") {
  const auto exceeds = [](uint64_t capacity, uint64_t encoded_bytes) {
    const std::string message = MessageAfter([&](Case* c) {
      c->hardware.memories = {MemorySpec{}};
      c->hardware.memories[0].capacity_bytes = capacity;
      c->graph.tensors[1].encoded_bytes = encoded_bytes;
    });
    return message.find("regions exceed memory ") == 0;
  };
  CHECK_FALSE(exceeds(672, 0));
  CHECK(exceeds(671, 0));
  // 500 of the weights' 576 bytes leave 76 free.
  CHECK_FALSE(exceeds(596, 500));
  CHECK(exceeds(595, 500));
}

TEST_CASE("structure: an index equal to a table's size names nothing") {
  const auto operands = [](Case* c) {
    return static_cast<uint32_t>(c->stream.blocks[0].operands.size());
  };
  const std::string tile = "a tile's field is out of range";
  const std::string transfer = "a transfer's field is out of range";
  CheckRecord([&](Case* c) { Tile(c, 0).input1 = operands(c); }, tile);
  CheckRecord([&](Case* c) { Transfer(c, 0).dst = operands(c); }, transfer);
  CheckRecord([](Case* c) { Transfer(c, 0).src = SLUICE_NONE; }, transfer);
  CheckRecord([](Case* c) { Transfer(c, 0).dst = SLUICE_NONE; }, transfer);
  const auto list = [](uint32_t entry, uint32_t change) {
    CheckImage(
        [=](Bytes* image) {
          const uint32_t at = BlockOf(*image).list_offset + 4 * entry;
          uint32_t value;
          std::memcpy(&value, image->data() + at, sizeof value);
          Put(image, at, value + change);
        },
        "structure", "lists do not cover the instructions");
  };
  list(0, 1);           // an instruction of no engine in front
  list(3, 1);           // one more than there are
  list(3, UINT32_MAX);  // one left over: a change of -1
}

TEST_CASE("structure: only the host is told of host calls, and of those there are") {
  const std::string rest = ": opcode, flags, descriptor or waits out of range";
  CheckAccepted(GatherHostCase());
  Case c = GatherHostCase();
  At(&c, kHost, 1).record.descriptor = 1;
  CheckRejected(c, "structure", "instruction 3 of engine 1" + rest);
  c = GatherHostCase();
  At(&c, kDma, 1).record.opcode = SLUICE_OPCODE_HOST;
  CheckRejected(c, "structure", "instruction 0 of engine 0" + rest);
}

TEST_CASE("structure: engines of a mesh forward") { CheckAccepted(NodesCase()); }

TEST_CASE("structure: only a load of one box may move fewer bytes than it writes") {
  const std::string rest = ": opcode, flags, descriptor or waits out of range";
  Case c = GatherHostCase();
  Transfer(&c, 1).moved_bytes = 8;  // rows by an index
  CheckRejected(c, "structure", "instruction 1 of engine 0" + rest);
  c = GatherHostCase();
  Transfer(&c, 2).moved_bytes = 8;  // a store
  CheckRejected(c, "structure", "instruction 2 of engine 0" + rest);
  // Whether a tensor is encoded at all is a later rule's question.
  CHECK(MessageAfter([](Case* one) { Transfer(one, 0).moved_bytes = 8; }) !=
        "instruction 0 of engine 0" + rest);
}

// ConvCase's stream for a graph with a PAD in front of a convolution without pads.
Case PadCase(int32_t rows, int32_t most) {
  Case c = ConvCase();
  std::vector<int32_t> bare = c.graph.layers[0].attributes;
  for (int i = SLUICE_CONV_PAD_TOP; i <= SLUICE_CONV_PAD_RIGHT; ++i) {
    bare[static_cast<size_t>(i)] = 0;
  }
  bare[SLUICE_CONV_ACT_MAX] = most;
  c.graph.tensors.push_back({{1, 10, 6, 8}, SLUICE_DTYPE_INT8, 0, 0, 0});
  c.places.push_back({});
  c.graph.layers = {{SLUICE_OP_PAD, {0}, {4}, {0, rows, 1, 0, 3}},
                    {SLUICE_OP_CONV, {4, 1, 2}, {3}, bare}};
  c.stream.kernels[0].layer = 1;
  return c;
}

TEST_CASE("structure: a convolution may take in the PAD in front of it") {
  Case c = PadCase(1, 127);
  CheckAccepted(c);
  c.graph.layers[0].attributes[SLUICE_PAD_VALUE] = 4;  // not the input's zero point
  CheckRejected(c, "tile", "kernel 0 differs from its layer in op or attributes");
}

TEST_CASE("structure: a PAD in front excuses no other difference of a kernel") {
  const std::string differs = "kernel 0 differs from its layer in op or attributes";
  // No layer stands in front.
  CheckRecord([](Case* c) { c->graph.layers[0].attributes[SLUICE_CONV_ACT_MAX] = 126; },
              differs, "tile");
  CheckRejected(PadCase(1, 126), "tile", differs);
  // A PAD of channels is none of a window's.
  Case c = PadCase(1, 127);
  c.graph.tensors[0].dims[3] = 6;
  c.graph.layers[0].attributes[3] = 1;
  CheckRejected(c, "tile", differs);
}

TEST_CASE("structure: a PAD in front is taken in whoever makes what it reads") {
  const std::string differs = "kernel 0 differs from its layer in op or attributes";
  // A layer makes it: the stream lacks that layer, but its kernel is right.
  Case c = PadCase(1, 127);
  c.graph.tensors.push_back({{1, 8, 4, 8}, SLUICE_DTYPE_INT8, 1, 0, 0});
  c.graph.tensors[0].kind = 0;
  c.places.push_back(c.places[0]);
  c.places[0] = {};
  const std::vector<int32_t> requantize = {1, 1 << 30, 1, 2, -128, 127};
  c.graph.layers.insert(c.graph.layers.begin(),
                        {SLUICE_OP_REQUANTIZE, {5}, {0}, requantize});
  c.stream.kernels[0].layer = 2;
  CheckRejected(c, "content");
  // A state that nothing is appended to.
  c = PadCase(1, 127);
  c.graph.tensors[0].kind = 4;
  c.places[0].region = SLUICE_REGION_STATE;
  std::swap(c.stream.region_bytes[SLUICE_REGION_STATE],
            c.stream.region_bytes[SLUICE_REGION_INPUT]);
  c.stream.bindings[2].region = SLUICE_REGION_STATE;
  CheckAccepted(c);
  // Behind the append the convolution would read other rows than the PAD.
  c.graph.tensors.push_back({{1, 1, 4, 8}, SLUICE_DTYPE_INT8, 1, 0, 0});
  c.places.push_back(PlaceAt(SLUICE_REGION_INPUT, 0, {1, 1, 4, 8}, SLUICE_DTYPE_INT8));
  c.graph.parameters.push_back({1, 6});
  c.graph.layers.insert(c.graph.layers.begin() + 1,
                        {SLUICE_OP_STATE_APPEND, {0, 5}, {0}, {1, 0}});
  c.stream.kernels[0].layer = 2;
  CheckRejected(c, "tile", differs);
}

TEST_CASE("structure: attributes that a kernel has beyond its layer's are 0") {
  for (const int32_t more : {0, 1}) {
    Case c = AddCase();
    REQUIRE(c.stream.kernels.size() == 1);
    const uint32_t count = c.stream.kernels[0].attribute_count;
    c.stream.kernels[0].attribute_count = static_cast<uint16_t>(count + 2);
    c.stream.attributes.resize(c.stream.kernels[0].first_attribute + count + 2);
    c.stream.attributes.back() = more;
    if (more == 0) CheckAccepted(c);
    if (more != 0) CheckRejected(c, "tile");
  }
}

}  // namespace
}  // namespace sluice_test
