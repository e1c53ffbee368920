// SPDX-License-Identifier: Apache-2.0
// `sluice map` and the C function behind it: the reference optima through the tool.
#include <doctest/doctest.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/hardware_files.h"
#include "cli/run_tool.h"
#include "sluice/experimental.h"
#include "solve/mapping/gemm/reference.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;
using sluice_tests::Int;
using sluice_tests::Real;
using sluice_tests::Row;

struct Answer {
  int code = -1;
  std::string text;
  Json json() const { return Json::parse(text, nullptr, false); }
};

Answer Tool(const std::string& arguments) {
  Answer answer;
  answer.code = RunTool(arguments, kWithoutComplaints, &answer.text);
  return answer;
}

std::string PresetOf(std::string name) {
  for (char& c : name) {
    if (c == '_') c = '-';
  }
  return name;
}

std::string Sizes(const Row& row) {
  return row.at("X") + " " + row.at("Y") + " " + row.at("Z");
}

double RelativeError(double got, double want) { return std::fabs(got - want) / want; }

TEST_CASE(
    "map: the tool finds the reference optima on the presets, with certificates") {
  const std::vector<Row> rows = sluice_tests::ReadCsv("reference/goma/optima.csv");
  if (rows.empty()) {
    MESSAGE("skipped: no reference/goma/optima.csv");
    return;
  }
  int count = 0;
  for (size_t i = 0; i < rows.size(); i += 7) {  // all variants, templates and GEMMs
    const Row& row = rows[i];
    const std::string variant = row.at("variant");
    const Answer answer =
        Tool("map " + Sizes(row) + " --hw " + PresetOf(row.at("hw")) +
             " --form paper --pe " + (variant == "eq" ? "exact" : "atmost") +
             " --objective " + (variant == "le_edp" ? "edp" : "energy") + " --json");
    CAPTURE(i);
    REQUIRE(answer.code == 0);
    const Json json = answer.json();
    CHECK(json["certificate_ok"] == true);
    CHECK(json["gap"] == 0.0);
    if (variant == "le_edp") {
      CHECK(RelativeError(json["edp_pj_cycles"], Real(row, "EDP_pJcycles")) < 1e-8);
    } else {
      CHECK(RelativeError(json["energy_pj_per_mac"], Real(row, "E_norm_pJ_per_MAC")) <
            1e-8);
    }
    if (variant == "eq") CHECK(json["pe_used"] == Int(row, "PE_used"));
    const char* axes[] = {"M", "N", "K"};
    const char* extents[] = {"X", "Y", "Z"};
    for (int d = 0; d < 3; ++d) {
      const int64_t middle = json["tiling"]["SRAM"][axes[d]];
      const int64_t inner = json["tiling"]["RF"][axes[d]];
      const int64_t spatial = json["spatial"][axes[d]];
      CHECK(Int(row, extents[d]) % middle == 0);
      CHECK(middle % (inner * spatial) == 0);
    }
    ++count;
  }
  CHECK(count == 14);
}

TEST_CASE("map: presets have the constants of the reference's templates") {
  const auto templates = sluice_tests::GemmTemplates();
  if (templates.empty()) {
    MESSAGE("skipped: no reference/goma/hardware.json");
    return;
  }
  CHECK(templates.size() == 4);
  for (const auto& [name, machine] : templates) {
    CAPTURE(name);
    const Json hardware = Tool("hw " + PresetOf(name)).json();
    REQUIRE(hardware["levels"].size() == 3);
    const auto pj = [&](int level, const char* field) {
      return 8 * hardware["levels"][level][field].get<double>();
    };
    CHECK(hardware["levels"][0]["capacity_bytes"] == machine.inner_words);
    CHECK(hardware["levels"][1]["capacity_bytes"] == machine.middle_words);
    CHECK(hardware["fanouts"][0]["extent"] == machine.pe_count);
    CHECK(pj(0, "read_pj_per_bit") == doctest::Approx(machine.inner_read_pj));
    CHECK(pj(0, "write_pj_per_bit") == doctest::Approx(machine.inner_write_pj));
    CHECK(pj(1, "read_pj_per_bit") == doctest::Approx(machine.middle_read_pj));
    CHECK(pj(1, "write_pj_per_bit") == doctest::Approx(machine.middle_write_pj));
    CHECK(pj(2, "read_pj_per_bit") == doctest::Approx(machine.outer_read_pj));
    CHECK(pj(2, "write_pj_per_bit") == doctest::Approx(machine.outer_write_pj));
    CHECK(hardware["mac_pj"] == doctest::Approx(machine.mac_pj));
  }
}

TEST_CASE("map: the exact optimum is never above the one-shot assignment") {
  for (const char* preset : {"eyeriss-like", "gemmini-like", "a100-like"}) {
    for (const char* sizes : {"1024 2048 2048", "1 2048 512", "1023 7 1009"}) {
      const std::string common = std::string("map ") + sizes + " --json --hw " + preset;
      const Answer cosa = Tool(common + " --solver cosa");
      const Answer exact = Tool(common + " --solver exact --pe atmost");
      CAPTURE(common);
      REQUIRE(cosa.code == 0);
      REQUIRE(exact.code == 0);
      CHECK(exact.json()["energy_pj_per_mac"].get<double>() <=
            cosa.json()["energy_pj_per_mac"].get<double>() * (1 + 1e-12));
      CHECK(cosa.json()["certificate_ok"].is_null());
    }
  }
}

TEST_CASE("map: what cannot be mapped ends with a code and a reason") {
  // No split uses 256 PEs.
  CHECK(Tool("map 7 11 13 --hw eyeriss-like --pe exact").code == 1);
  CHECK(Tool("map 7 11 13 --hw eyeriss-like --solver exact").code == 1);
  CHECK(Tool("map 7 11 13 --hw eyeriss-like --pe atmost").code == 0);
  CHECK(Tool("map 0 1 1 --hw eyeriss-like").code == 2);
  CHECK(Tool("map 4294967296 1 1 --hw eyeriss-like").code == 2);
  CHECK(Tool("map 8 8 8 --hw soma-edge --solver exact").code == 2);  // five levels
  CHECK(Tool("map 64 64 64 --hw mcu-256k").code == 0);
  CHECK(Tool("map 64 64 64 --hw mcu-256k --solver cosa").code == 2);  // limited axes
  CHECK(Tool("map 8 8 --hw eyeriss-like").code == 3);
  CHECK(Tool("map 8 8 8 --hw eyeriss-like --solver magic").code == 3);
}

TEST_CASE(
    "map: a product has a mapping on every preset, and one that does not divide") {
  const Json list = Tool("hw --list --json").json();
  size_t presets = 0;
  for (const Json& preset : list["hardware"]) {
    const std::string name = preset["name"].get<std::string>();
    INFO(name);
    ++presets;
    CHECK(Tool("map 64 48 32 --json --hw " + name).code == 0);
  }
  CHECK(presets > 10);
  // With tiles that divide the extents it costs 140.5 mJ.
  const Json ragged = Tool("map 127 8191 2053 --json --hw eyeriss-like").json();
  CHECK(ragged["layers"][0]["energy_pj"].get<double>() < 14e9);
}

TEST_CASE("map: the Timeloop set has the mapping's trip counts and capacities") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("sluice_timeloop_" + std::to_string(getpid()));
  const Answer answer = Tool("map 96 64 48 --hw eyeriss-like --json --timeloop \"" +
                             folder.string() + "\"");
  REQUIRE(answer.code == 0);
  const auto read = [&](const char* name) {
    std::ifstream in(folder / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string problem = read("problem.yaml"), arch = read("arch.yaml");
  const std::string mapping = read("mapping.yaml");
  fs::remove_all(folder);
  for (const char* line : {"    M: 96\n", "    N: 64\n", "    K: 48\n"}) {
    CHECK(problem.find(line) != std::string::npos);
  }
  CHECK(arch.find("name: PE[0..255]") != std::string::npos);
  CHECK(arch.find("entries: 424\n") != std::string::npos);
  // The unit is a hundredth of a pJ, so that the MAC's 0.25 pJ are an integer.
  CHECK(arch.find("1e-2 pJ") != std::string::npos);
  // In hundredths of a pJ: 4.56 for a word of the scratchpad, to read as to write.
  CHECK(arch.find("    - name: read\n      energy: 456\n") != std::string::npos);
  CHECK(arch.find("    - name: write\n      energy: 456\n") != std::string::npos);
  CHECK(arch.find(" energy: 25\n") != std::string::npos);
  // Trip counts of all four nests multiply to the extents.
  int64_t product[3] = {1, 1, 1};
  int nests = 0;
  for (size_t at = mapping.find("factors:"); at != std::string::npos;
       at = mapping.find("factors:", at + 1)) {
    long factor[3];
    REQUIRE(std::sscanf(mapping.c_str() + at, "factors: M=%ld N=%ld K=%ld", &factor[0],
                        &factor[1], &factor[2]) == 3);
    for (int d = 0; d < 3; ++d) product[d] *= factor[d];
    ++nests;
  }
  CHECK(nests == 4);
  CHECK(product[0] == 96);
  CHECK(product[1] == 64);
  CHECK(product[2] == 48);
}

// Checks a subset of YAML: "key: value" or "- item", two spaces per level, keys once.
void CheckYaml(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::set<std::string>> keys(1);
  size_t depth = 0;
  bool opened = true;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.find('\t') == std::string::npos);
    if (line.empty() || line[0] == '#') continue;
    size_t indent = line.find_first_not_of(' ');
    REQUIRE(indent != std::string::npos);
    CHECK(indent % 2 == 0);
    const bool item = line.compare(indent, 2, "- ") == 0;
    CHECK((indent <= depth || opened));  // only an open key may be indented below
    CHECK((indent <= depth || indent == depth + 2));
    if (item) {
      indent += 2;
      keys.resize(indent / 2);
    }
    keys.resize(indent / 2 + 1);
    const size_t colon = line.find(':', indent);
    REQUIRE(colon != std::string::npos);
    CHECK(keys.back().insert(line.substr(indent, colon - indent)).second);
    CHECK((colon + 1 == line.size() || line[colon + 1] == ' '));
    CHECK(std::count(line.begin(), line.end(), '[') ==
          std::count(line.begin(), line.end(), ']'));
    opened = colon + 1 == line.size();
    depth = indent;
  }
}

TEST_CASE("map: the Timeloop set is well formed on every template, by both solvers") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("sluice_timeloop_all_" + std::to_string(getpid()));
  for (const char* hardware :
       {"eyeriss-like", "gemmini-like", "a100-like --pe atmost",
        "tpuv1-like --pe atmost", "eyeriss-like --solver cosa"}) {
    INFO(std::string(hardware));
    REQUIRE(Tool("map 1024 768 512 --json --hw " + std::string(hardware) +
                 " --timeloop \"" + folder.string() + "\"")
                .code == 0);
    int64_t product[3] = {1, 1, 1};
    for (const char* name : {"problem.yaml", "arch.yaml", "mapping.yaml"}) {
      std::ifstream in(folder / name);
      const std::string text(std::istreambuf_iterator<char>(in), {});
      REQUIRE(!text.empty());
      CheckYaml(text);
      for (size_t at = text.find("factors:"); at != std::string::npos;
           at = text.find("factors:", at + 1)) {
        long f[3];
        REQUIRE(std::sscanf(text.c_str() + at, "factors: M=%ld N=%ld K=%ld", &f[0],
                            &f[1], &f[2]) == 3);
        for (int d = 0; d < 3; ++d) product[d] *= f[d];
      }
    }
    CHECK(product[0] == 1024);
    CHECK(product[1] == 768);
    CHECK(product[2] == 512);
  }
  fs::remove_all(folder);
}

TEST_CASE("map: a Timeloop mapping that is read costs what it cost when written") {
  namespace fs = std::filesystem;
  const std::string stem =
      (fs::temp_directory_path() / ("sluice_timeloop_in_" + std::to_string(getpid())))
          .string();
  const std::string graph = stem + ".slg", folder = stem + ".d";
  REQUIRE(Tool("zoo squeezenet -o \"" + graph + "\"").code == 0);
  int read = 0;
  for (const char* machine : {"kapla-edge", "simba", "soma-edge", "gemmini-16x16"}) {
    for (int layer = 0; layer < 3; ++layer) {
      CAPTURE(machine);
      CAPTURE(layer);
      const std::string map = "map \"" + graph + "\" --layer " + std::to_string(layer) +
                              " --json --hw " + machine;
      const Answer found = Tool(map + " --timeloop \"" + folder + "\"");
      if (found.code != 0) continue;
      const Json wrote = found.json()["layers"][0];
      const Json back =
          Tool(map + " --import \"" + folder + "/mapping.yaml\"").json()["layers"][0];
      CHECK(back["energy_pj"] == wrote["energy_pj"]);
      CHECK(back["cycles"] == wrote["cycles"]);
      CHECK(back["levels"] == wrote["levels"]);
      CHECK(back["objective"].get<double>() >= back["bound"].get<double>());
      ++read;
    }
  }
  CHECK(read >= 8);
  // A product's own dims and data.
  REQUIRE(Tool("map 96 64 48 --hw eyeriss-like --timeloop \"" + folder + "\"").code ==
          0);
  const std::string import = " --import \"" + folder + "/mapping.yaml\"";
  const Json product = Tool("map 96 64 48 --hw eyeriss-like --json" + import).json();
  CHECK(product["layers"][0]["macs"] == 96 * 64 * 48);
  // What cannot be read is an error with its line.
  CHECK(Tool("map 96 64 50 --hw eyeriss-like" + import).code != 0);
  const auto refused = [&](const std::string& text) {
    std::ofstream(folder + "/mapping.yaml") << text;
    std::string said;
    CHECK(RunTool("map 96 64 48 --hw eyeriss-like" + import, kWithComplaints, &said) !=
          0);
    return said;
  };
  CHECK(
      refused("mapping:\n- target: L9\n  type: temporal\n").find(":2: no memory L9") !=
      std::string::npos);
  CHECK(refused("mapping:\n- target: DRAM\n  type: temporal\n  factors: M=0\n")
            .find(":4: a factor") != std::string::npos);
  CHECK(refused("mapping:\n- target: DRAM\n  type: spatial\n  factors: M=2\n")
            .find(":4: the array") != std::string::npos);
  CHECK(refused("architecture:\n").find("no list") != std::string::npos);
  fs::remove_all(folder);
  fs::remove(graph);
}

TEST_CASE("map: the Timeloop sets of a graph's layers cover their loops") {
  namespace fs = std::filesystem;
  const std::string stem =
      (fs::temp_directory_path() / ("sluice_timeloop_net_" + std::to_string(getpid())))
          .string();
  const std::string graph = stem + ".slg", folder = stem + ".d";
  REQUIRE(Tool("zoo mobilenet_v1 -o \"" + graph + "\"").code == 0);
  REQUIRE(Tool("map \"" + graph +
               "\" --layer all --hw kapla-edge --json --timeloop \"" + folder + "\"")
              .code == 0);
  size_t sets = 0;
  for (const fs::directory_entry& set : fs::directory_iterator(folder)) {
    INFO(set.path().string());
    ++sets;
    std::string text[3];
    const char* names[3] = {"problem.yaml", "arch.yaml", "mapping.yaml"};
    for (int i = 0; i < 3; ++i) {
      std::ifstream in(set.path() / names[i]);
      text[i] = std::string(std::istreambuf_iterator<char>(in), {});
      REQUIRE(!text[i].empty());
      CheckYaml(text[i]);
    }
    CHECK(text[1].find("GBUF") != std::string::npos);
    const std::string dims = "NKCPQRSG";
    int64_t product[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t at = text[2].find("factors:"); at != std::string::npos;
         at = text[2].find("factors:", at + 1)) {
      std::istringstream in(text[2].substr(at + 8, text[2].find('\n', at) - at - 8));
      for (std::string factor; in >> factor;) {
        product[dims.find(factor[0])] *= std::stoll(factor.substr(2));
      }
    }
    for (size_t d = 0; d < 8; ++d) {
      const std::string line = std::string("\n    ") + dims[d] + ": ";
      const size_t at = text[0].find(line);
      REQUIRE(at != std::string::npos);
      CHECK(std::stoll(text[0].substr(at + line.size())) == product[d]);
      const size_t of = text[0].find("# of which ", at);
      if (of != std::string::npos && of < text[0].find('\n', at + 1)) {
        CHECK(std::stoll(text[0].substr(of + 11)) < product[d]);
      }
    }
  }
  CHECK(sets > 15);
  fs::remove_all(folder);
  fs::remove(graph);
}

TEST_CASE("map: a GEMM from any level, past others, over fanouts in a row") {
  namespace fs = std::filesystem;
  const fs::path file =
      fs::temp_directory_path() / ("sluice_deep_" + std::to_string(getpid()) + ".json");
  const auto write = [&](const char* middle) {
    std::ofstream(file) << R"({ "name": "deep", "levels": [
      { "name": "RF", "capacity_bytes": 424, "instances": 256,
        "read_pj_per_bit": 0.06225, "write_pj_per_bit": 0.06225 },)"
                        << middle << R"(
      { "name": "SRAM", "capacity_bytes": 165888,
        "read_pj_per_bit": 0.57, "write_pj_per_bit": 0.57 },
      { "name": "DRAM", "read_pj_per_bit": 8, "write_pj_per_bit": 8,
        "bytes_per_cycle_numerator": 1048576 } ],
      "scratchpad_level": 2,
      "fanouts": [ { "level": 2, "extent": 16 }, { "level": 1, "extent": 16 } ],
      "macs_per_cycle": 256, "mac_pj": 0.25,
      "vector_ops_per_cycle": 256, "vector_op_pj": 0.25 })";
  };
  // Fanouts of 16 and 16 with an expensive memory between them, which every operand
  // bypasses: as good as one fanout of 256.
  write(R"({ "name": "row", "capacity_bytes": 64, "instances": 16,
             "read_pj_per_bit": 9, "write_pj_per_bit": 9 },)");
  const std::string hw = " --json --hw \"" + file.string() + "\"";
  const Answer flat = Tool("map 1024 2048 2048 --json --hw eyeriss-like");
  const Answer deep = Tool("map 1024 2048 2048" + hw);
  REQUIRE(deep.code == 0);
  CHECK(deep.json()["energy_pj_per_mac"] == flat.json()["energy_pj_per_mac"]);
  CHECK(deep.json()["certificate_ok"] == true);
  CHECK(Tool("map 1024 2048 2048 --solver exact --pe atmost" + hw).code ==
        2);  // not every split fits
  // Mapped from the scratchpad on: DRAM costs nothing.
  const Answer below = Tool("map 1024 2048 2048 --from 2" + hw);
  REQUIRE(below.code == 0);
  CHECK(below.json()["energy_pj_per_mac"].get<double>() <
        flat.json()["energy_pj_per_mac"].get<double>());
  CHECK(below.json()["certificate_ok"] == true);
  CHECK(Tool("map 8 8 8 --from 9" + hw).code == 2);
  write(R"({ "name": "row", "capacity_bytes": 64, "instances": 16, "must_hold": 1,
             "read_pj_per_bit": 9, "write_pj_per_bit": 9 },)");
  CHECK(Tool("map 1024 2048 2048 --solver exact" + hw).code == 2);
  fs::remove(file);
}

TEST_CASE("map: the C function checks its arguments and gives all memory back") {
  const Bytes bytes = LoadHardware("eyeriss-like");
  sluice_context_options_t context_options = {};
  context_options.struct_size = sizeof context_options;
  sluice_context_t* context = nullptr;
  sluice_hardware_t* hardware = nullptr;
  REQUIRE(sluice_context_create(&context_options, &context, nullptr) == SLUICE_OK);
  REQUIRE(sluice_hardware_create(context, bytes.data(), bytes.size(), &hardware,
                                 nullptr) == SLUICE_OK);
  const auto live = [&] {
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    REQUIRE(sluice_context_memory(context, &stats) == SLUICE_OK);
    return stats.live_bytes;
  };
  const uint64_t before = live();
  sluice_gemm_mapping_t mapping = {};
  const auto map = [&](const sluice_gemm_options_t* options) {
    const sluice_gemm_t gemm = {512, 512, 512};
    return sluice_map_gemm(context, hardware, &gemm, options, &mapping, nullptr);
  };
  CHECK(map(nullptr) == SLUICE_BAD_ARGUMENT);  // struct_size 0
  mapping.struct_size = 12;
  CHECK(map(nullptr) == SLUICE_OK);
  CHECK(mapping.struct_size == 12);
  CHECK(mapping.proved == 1);
  CHECK(mapping.macs == 0);  // beyond the caller's struct
  mapping.struct_size = sizeof mapping;
  sluice_gemm_options_t options = {};
  CHECK(map(&options) == SLUICE_BAD_ARGUMENT);
  options.struct_size = sizeof options;
  options.solver = 2;
  CHECK(map(&options) == SLUICE_BAD_ARGUMENT);
  options.solver = SLUICE_GEMM_EXACT;
  options.certify = 1;
  CHECK(map(&options) == SLUICE_OK);
  CHECK(mapping.certificate == SLUICE_CERTIFICATE_ACCEPTED);
  CHECK(mapping.macs == 512 * 512 * 512);
  CHECK(mapping.objective == mapping.bound);
  const uint32_t cancelled = 1;
  options.cancel = &cancelled;
  CHECK(map(&options) == SLUICE_STOPPED);
  CHECK(live() == before);
  sluice_hardware_destroy(hardware);
  sluice_context_destroy(context);
}

}  // namespace
}  // namespace sluice::cli
