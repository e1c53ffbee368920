// SPDX-License-Identifier: Apache-2.0
// Sweeps over machines: grids, the table that grows, heat maps.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/dse/grid.h"
#include "cli/dse/heat_map.h"
#include "cli/dse/table.h"
#include "cli/failure.h"
#include "cli/files.h"
#include "cli/hardware_files.h"

namespace sluice::cli {
namespace {

std::string ErrorOf(const std::string& grid) {
  try {
    ParseGrid(grid, "0");
    return "";
  } catch (const Failure& failure) {
    CHECK(failure.code() == kBadInput);
    return failure.what();
  }
}

TEST_CASE("grid: every combination is one point, and its machine is changed so") {
  const Grid grid = ParseGrid(R"({ // two of each
      "networks": ["resnet50", "randwire"], "batch": [1, 4], "hardware": "soma-edge",
      "dram_bytes_per_cycle": [8, "25/2"], "set": {"DRAM.read_pj_per_bit": [4, 10.5]},
      "buffer_bytes": ["4M", {"bytes": "8M", "read_pj_per_bit": 0.5}]})",
                              "1.2.3");
  CHECK(grid.points.size() == 32);
  CHECK(grid.hardware.size() == 8);
  CHECK(grid.x == std::vector<std::string>{"8", "25/2"});
  CHECK(grid.y.size() == 2);
  const GridPoint& last = grid.points.back();
  CHECK(last.network == "randwire");
  CHECK(last.batch == 4);
  const HardwareFacts facts = FactsOf(grid.hardware[last.hardware]);
  CHECK(facts.scratchpad_bytes == 8u << 20);
  CHECK(facts.dram_bytes_per_cycle == 12.5);
  const std::string json = HardwareAsJson(grid.hardware[last.hardware]);
  CHECK(json.find("\"read_pj_per_bit\": 0.5,") != std::string::npos);
  CHECK(HardwareAsJson(grid.hardware[0]).find("\"read_pj_per_bit\": 4.0") !=
        std::string::npos);
  // All keys differ; the energy that comes with a buffer is part of the key alone.
  std::vector<std::string> keys;
  for (const GridPoint& point : grid.points) {
    std::string key;
    for (const GridValue& value : point.key) key += value.value + "|";
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  CHECK(std::unique(keys.begin(), keys.end()) == keys.end());
  CHECK(last.panel == "randwire, batch 4, soma-edge, DRAM.read_pj_per_bit=10.5");
}

TEST_CASE("grid: what is left out stays as the machine has it") {
  const Grid grid =
      ParseGrid(R"({"networks": "resnet50", "hardware": "soma-cloud"})", "0");
  REQUIRE(grid.points.size() == 1);
  CHECK(grid.hardware[0] == LoadHardware("soma-cloud"));
  CHECK(grid.points[0].x == "128.0");
}

TEST_CASE("grid: an error names what is wrong") {
  const auto says = [](const std::string& grid, const std::string& words) {
    const std::string error = ErrorOf(grid);
    CAPTURE(error);
    CHECK(error.find(words) != std::string::npos);
  };
  says("[1, 2", "no JSON object");
  says(R"({"hardware": "soma-edge"})",
       "\"networks\" is missing; names of the zoo (sluice zoo --list) or files would "
       "be right");
  says(R"({"networks": "resnet50"})",
       "\"hardware\" is missing; presets (sluice hw --list)");
  says(R"({"networks": "resnet51", "hardware": "soma-edge"})",
       "no network is called resnet51; sluice zoo --list names them");
  says(R"({"networks": "resnet50", "hardware": "soma"})", "soma-edge");
  const auto with = [&](const std::string& more, const std::string& words) {
    says(R"({"networks": "resnet50", "hardware": "soma-edge", )" + more + "}", words);
  };
  with(R"("buffers": [1])", "no key \"buffers\"; there are networks, batch, hardware");
  with(R"("batch": [])",
       "\"batch\" is an empty list; a value or several would be right");
  with(R"("batch": [0])", "batch 0 is no whole number from 1 to 4096");
  with(R"("batch": [-1])", "batch -1 is no whole number from 1 to 4096");
  with(R"("seed": "x")", "seed \"x\" is no whole number from 0 to 1844674407370955161");
  with(R"("buffer_bytes": ["8X"])",
       "buffer_bytes \"8X\" is no size; a whole number above 0");
  with(R"("buffer_bytes": [0])", "buffer_bytes 0 is no size");
  with(R"("buffer_bytes": [{"read_pj_per_bit": 1}])",
       "has no \"bytes\"; {\"bytes\": 65536");
  with(R"("dram_bytes_per_cycle": ["1/0"])", "1/0");
  with(R"("dram_bytes_per_cycle": [2.5])", "2.5");
  with(R"("set": 3)",
       "\"set\" 3 is no object of fields; {\"macs_per_cycle\": [256, 512]}");
  with(R"("set": {"mac_speed": [1]})",
       "the machine has no number mac_speed; there are ");
  with(R"("set": {"mac_speed": [1]})", "macs_per_cycle, ");
  with(R"("set": {"name": [1]})", "the machine has no number name; there are ");
  with(R"("set": {"HBM.read_pj_per_bit": [1]})",
       "HBM.read_pj_per_bit: the machine has no level HBM; it has ");
  with(R"("set": {"DRAM.speed": [1]})",
       "the machine has no number DRAM.speed; there are ");
  with(R"("set": {"macs_per_cycle": ["many"]})",
       "macs_per_cycle \"many\" is no number");
  with(R"("solver": "magic")",
       "solver \"magic\" is none of default, baseline, fusion, cocco, soma");
  with(R"("objective": ["edp"])", "objective [\"edp\"] is none of edp");
  with(R"("set": {"macs_per_cycle": [-1]})",
       "grid: macs_per_cycle: -1 is no whole number");
  CHECK(ErrorOf(R"({"networks": "resnet50", "hardware": "soma-edge",
                    "set": {"macs_per_cycle": [-1]}})")
            .find("line") == std::string::npos);
  with(R"("objective": "beauty")",
       "objective \"beauty\" is none of edp, latency, energy");
  with(R"("deadline": "soon")", "deadline \"soon\" is no time; a number with its unit");
}

TEST_CASE("csv: cells of any text survive, but for line breaks") {
  const Cells cells = {"", "a,b", "say \"x\"", "plain", "\"", ","};
  std::string line = CsvLine(cells);
  CHECK(line.back() == '\n');
  line.pop_back();
  Cells read;
  CHECK(ParseCsvLine(line, &read));
  CHECK(read == cells);
  CHECK(CsvLine({"a\nb"}) == "\"a b\"\n");
  CHECK(!ParseCsvLine("\"a", &read));
  CHECK(!ParseCsvLine("\"a\"b", &read));
  CHECK(!ParseCsvLine("a\"b\"", &read));
}

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("sluice_dse_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string File(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string TextOf(const std::string& path) {
  const Bytes bytes = ReadFile(path);
  return std::string(bytes.begin(), bytes.end());
}

ExitCode CodeOfOpen(const std::string& path, const Cells& columns) {
  try {
    SweepTable table(path, columns, 1);
    return kDone;
  } catch (const Failure& failure) {
    return failure.code();
  }
}

TEST_CASE("table: rows are there after a kill at any byte, whole ones only") {
  const Folder folder;
  const std::string path = folder.File("t.csv");
  const Cells columns = {"key", "value"};
  {
    SweepTable table(path, columns, 1);
    table.Append({"a,1", "one"});
    table.Append({"b", "two"});
    CHECK(CodeOfOpen(path, columns) == kIo);  // in use
  }
  const std::string whole = TextOf(path);
  CHECK(whole == "key,value\n\"a,1\",one\nb,two\n");
  for (size_t size = 0; size <= whole.size(); ++size) {
    CAPTURE(size);
    WriteFile(path, whole.data(), size);
    {
      SweepTable table(path, columns, 1);
      CHECK((table.Find({"a,1"}) != nullptr) == (size >= 20));
      CHECK((table.Find({"b"}) != nullptr) == (size >= whole.size()));
      table.Append({"c", "three"});
    }
    const std::string now = TextOf(path);
    CHECK(now.substr(now.size() - 8) == "c,three\n");
    CHECK(CodeOfOpen(path, columns) == kDone);
  }
}

TEST_CASE("table: merged in any order it is the same, and in the order of the keys") {
  const Folder folder;
  const Cells columns = {"key", "value"};
  const std::vector<std::vector<Cells>> parts = {{{"c", "3"}, {"a", "12"}},
                                                 {{"x", "9"}, {"b", "2"}, {"a", "11"}}};
  std::vector<std::string> made;
  for (const std::string& name : {folder.File("1.csv"), folder.File("2.csv")}) {
    SweepTable table(name, columns, 1);
    for (const Cells& row : parts[made.size()]) table.Append(row);
    made.push_back(name);
  }
  const std::string one = folder.File("one.csv"), other = folder.File("other.csv");
  for (const std::string& path : {one, other}) {
    SweepTable table(path, columns, 1);
    CHECK(table.Merge(made[path == one ? 0 : 1]) == (path == one ? 2 : 3));
    CHECK(table.Merge(made[path == one ? 1 : 0]) == (path == one ? 2 : 1));
    table.Order({{"a"}, {"b"}, {"c"}, {"none"}});
  }
  CHECK(TextOf(one) == "key,value\na,11\nb,2\nc,3\nx,9\n");
  CHECK(TextOf(other) == TextOf(one));
  CHECK(!std::filesystem::exists(one + ".ordered"));
  SweepTable again(one, columns, 1);  // which a killed run may also have left behind
  std::filesystem::create_directory(one + ".ordered");
  again.Append({"b0", "5"});
  again.Order({{"a"}});
  CHECK(TextOf(one) == "key,value\na,11\nb,2\nc,3\nx,9\nb0,5\n");  // as it came
}

TEST_CASE("table: other columns, broken rows and full disks are refused") {
  const Folder folder;
  const std::string path = folder.File("t.csv");
  const Cells columns = {"key", "value"};
  const auto code = [&](const std::string& text) {
    WriteFile(path, text.data(), text.size());
    const ExitCode result = CodeOfOpen(path, columns);
    CHECK(TextOf(path) == text);  // untouched
    return result;
  };
  CHECK(code("key,other\n") == kBadInput);
  CHECK(code("key,other\na,1\nhalf of a line") == kBadInput);
  CHECK(code("{\"key\": \"a file without a line\"}") == kBadInput);
  CHECK(code("key,value\na\n") == kBadInput);
  CHECK(code("key,value\n\"a,b\n") == kBadInput);
  CHECK(code("key,value\na,b\n") == kDone);
  CHECK(CodeOfOpen(folder.File("none") + "/t.csv", columns) == kIo);
  if (std::filesystem::exists("/dev/full")) {
    CHECK(CodeOfOpen("/dev/full", columns) == kIo);
  }
}

TEST_CASE("heat maps: a panel per name, ratios to its best, gaps said so") {
  HeatMaps maps;
  maps.title = "edp <of> 3";
  maps.x = {"8", "16"};
  maps.y = {"4 MiB"};
  maps.cells = {{"net", "8", "4 MiB", 30, "tip"},
                {"net", "16", "4 MiB", 20, ""},
                {"other", "8", "4 MiB", 0, "no plan"}};
  const std::string svg = HeatMapSvg(maps);
  CHECK(svg == HeatMapSvg(maps));
  CHECK(svg.find("edp &lt;of&gt; 3") != std::string::npos);
  CHECK(svg.find(">1.50</text>") != std::string::npos);
  CHECK(svg.find(">1.00</text>") != std::string::npos);
  CHECK(svg.find(">none</text>") != std::string::npos);
  size_t panels = 0;
  for (size_t at = svg.find("class=\"panel\""); at != std::string::npos;
       at = svg.find("class=\"panel\"", at + 1)) {
    ++panels;
  }
  CHECK(panels == 2);
}

}  // namespace
}  // namespace sluice::cli
