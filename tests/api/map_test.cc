// SPDX-License-Identifier: Apache-2.0
// Loop nests of a product and of layers, by the C functions.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sluice/experimental.h"
#include "support/array_machine.h"
#include "support/library.h"
#include "support/stream_builder.h"

namespace sluice_test {
namespace {

struct Setting {
  Library library;
  HardwarePtr hardware = library.Hardware(ArrayMachine(4));
  GraphPtr graph = library.Graph(ConvCase().Graph());

  sluice_status_t Gemm(int64_t m, int64_t n, int64_t k,
                       const sluice_gemm_options_t* options,
                       sluice_gemm_mapping_t* mapping) {
    mapping->struct_size = sizeof *mapping;
    const sluice_gemm_t gemm = {m, n, k};
    return sluice_map_gemm(library.context.get(), hardware.get(), &gemm, options,
                           mapping, &library.diagnostic);
  }
  sluice_status_t Layers(const std::vector<uint32_t>& layers,
                         std::vector<sluice_layer_mapping_t>* mappings) {
    mappings->assign(layers.size(), sluice_layer_mapping_t{});
    for (auto& m : *mappings) m.struct_size = sizeof m;
    sluice_mapping_list_t list = {};
    list.struct_size = sizeof list;
    list.count = static_cast<uint32_t>(layers.size());
    list.layers = layers.data();
    list.mappings = mappings->data();
    return sluice_map_layers(library.context.get(), graph.get(), hardware.get(),
                             nullptr, &list, &library.diagnostic);
  }
  std::string why() const { return library.diagnostic.message; }
};

TEST_CASE("map: a product of 8 x 8 x 8 keeps four elements busy for 128 cycles") {
  Setting s;
  sluice_gemm_options_t options = {};
  options.struct_size = sizeof options;
  options.certify = 1;
  sluice_gemm_mapping_t m = {};
  REQUIRE(s.Gemm(8, 8, 8, &options, &m) == SLUICE_OK);
  CHECK(m.macs == 512);
  CHECK(m.pe_used == 4);
  CHECK(m.spatial[0] * m.spatial[1] * m.spatial[2] == 4);
  CHECK(m.cycles == 512 / 4);
  CHECK(m.mac_pj == doctest::Approx(512 * 0.25));
  CHECK(m.energy_pj == doctest::Approx(m.memory_pj[0] + m.memory_pj[1] +
                                       m.memory_pj[2] + m.mac_pj + m.leak_pj));
  CHECK(m.proved == 1);
  CHECK(m.bound == m.objective);
  CHECK(m.certificate == SLUICE_CERTIFICATE_ACCEPTED);
  // Each operand comes from DRAM once, 8 pJ a bit; the result goes there once.
  CHECK(m.memory_pj[0] == doctest::Approx(3 * 64 * 8 * 8.0));
}

TEST_CASE("map: what is no product is refused") {
  Setting s;
  sluice_gemm_mapping_t m = {};
  CHECK(s.Gemm(3, 1, 1, nullptr, &m) == SLUICE_INFEASIBLE);  // 4 PEs cannot divide 3
  CHECK(s.Gemm(0, 8, 8, nullptr, &m) == SLUICE_BAD_INPUT);
  CHECK(s.why() == "GEMM extent M is 0, must be 1 to 2147483648");
  sluice_gemm_options_t options = {};
  options.struct_size = sizeof options;
  options.solver = 2;
  CHECK(s.Gemm(8, 8, 8, &options, &m) == SLUICE_BAD_ARGUMENT);
  CHECK(s.why() == "unknown solver or objective");
  CHECK(sluice_map_gemm(s.library.context.get(), s.hardware.get(), nullptr, nullptr, &m,
                        &s.library.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(s.why() ==
        "context, hardware, gemm and mapping must not be null, structs of a known "
        "version");
  s.hardware =
      s.library.Hardware(HardwareBytes({}));  // no array in front of its memory
  CHECK(s.Gemm(8, 8, 8, nullptr, &m) == SLUICE_UNSUPPORTED);
  CHECK(s.why() == "the hardware has no fanout, hence no array");
}

TEST_CASE("map: one layer's failure is the call's, one of several stands by itself") {
  Setting s;
  std::vector<sluice_layer_mapping_t> made;
  CHECK(s.Layers({7}, &made) == SLUICE_BAD_ARGUMENT);
  CHECK(s.why() == "there is no layer 7");
  REQUIRE(s.Layers({0, 7, 0}, &made) == SLUICE_OK);
  CHECK(made[0].status == SLUICE_OK);
  CHECK(made[0].operations == 8 * 4 * 8 * 72);
  CHECK(made[0].cycles >= made[0].operations / 4);
  CHECK(made[1].status == SLUICE_BAD_ARGUMENT);
  CHECK(made[1].operations == 0);
  CHECK(made[2].same_as == 0);
  CHECK(made[2].energy_pj == made[0].energy_pj);
}

TEST_CASE("map: directives are written where there is room for them and their NUL") {
  Setting s;
  std::vector<sluice_layer_mapping_t> made;
  REQUIRE(s.Layers({0}, &made) == SLUICE_OK);
  sluice_directives_t d = {sizeof d, 0, {"conv_a", "x", "w", "y"}, nullptr, 0};
  const auto print = [&](sluice_directives_t* to) {
    return sluice_mapping_directives(s.library.context.get(), s.hardware.get(),
                                     &made[0], to, &s.library.diagnostic);
  };
  REQUIRE(print(&d) == SLUICE_BUFFER_TOO_SMALL);
  const size_t size = d.text_bytes;
  std::vector<char> text(size, '#');
  d.text = text.data();
  d.text_bytes = size - 1;
  CHECK(print(&d) == SLUICE_BUFFER_TOO_SMALL);
  CHECK(d.text_bytes == size);
  REQUIRE(print(&d) == SLUICE_OK);
  REQUIRE(d.text_bytes == size);
  CHECK(text.back() == '\0');
  const std::string printed = text.data();
  CHECK(printed.size() + 1 == size);
  CHECK(printed.find("conv_a") != std::string::npos);
  CHECK(print(nullptr) == SLUICE_BAD_ARGUMENT);
  d.struct_size = 0;
  CHECK(print(&d) == SLUICE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace sluice_test
