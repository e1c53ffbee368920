// SPDX-License-Identifier: Apache-2.0
// minimalloc's CSV in and out, and `sluice place` as a whole.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/failure.h"
#include "cli/placement_csv.h"

namespace sluice::cli {
namespace {

std::string Temporary(const std::string& name, const std::string& text) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("sluice_place_" + std::to_string(getpid()) + "_" + name))
                               .string();
  std::ofstream(path) << text;
  return path;
}

std::string Content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Exit code and standard output of the tool.
int Tool(const std::string& arguments, std::string* out) {
  const std::string path = Temporary("out", "");
  const std::string command =
      std::string(SLUICE_TOOL) + " place " + arguments + " > " + path + " 2>&1";
  const int status = std::system(command.c_str());
  *out = Content(path);
  std::filesystem::remove(path);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("placement CSV: columns in any order, gaps, old ends, kept columns") {
  const std::string path = Temporary("columns.csv",
                                     "size,note,upper,id,lower,alignment,gaps,hint\r\n"
                                     "64,x,10,a,0,16,2-4 5-7@8:16,3\n\n"
                                     "32,,-1,b,-5,,,\n");
  const PlacementTable t = ReadPlacement(path);
  REQUIRE(t.buffers.size() == 2);
  CHECK(t.ids[0] == "a");
  CHECK(t.lines[2] == 4);
  CHECK(t.buffers[0].end == 10);
  CHECK(t.buffers[0].alignment == 16);
  CHECK(t.buffers[0].gap_count == 2);
  CHECK(t.gaps[1].begin == 5);
  CHECK(t.gaps[1].last_byte == 16);
  CHECK(t.buffers[1].begin == -5);
  CHECK(WithOffsets(t, {7, 8}) ==
        "size,note,upper,id,lower,alignment,gaps,hint,offset\n"
        "64,x,10,a,0,16,2-4 5-7@8:16,3,7\n32,,-1,b,-5,,,,8\n");
  const std::string old =
      Temporary("old.csv", "buffer,start,end,size,offset\n1,0,3,4,8\n2,4,4,4,\n");
  const PlacementTable u = ReadPlacement(old);
  CHECK(u.buffers[0].end == 4);  // the last moment is inside
  CHECK(u.buffers[0].flags == SLUICE_BUFFER_FIXED);
  CHECK(u.buffers[1].flags == 0);
  CHECK(WithOffsets(u, {8, 0}) ==
        "buffer,start,end,size,offset\n1,0,3,4,8\n2,4,4,4,0\n");
}

TEST_CASE("bad placement CSV is refused by line and column") {
  const std::pair<const char*, const char*> cases[] = {
      {"", " is empty"},
      {"\n", ":1: is empty: a header line is missing"},
      {"id,lower,upper\n1,2,3\n", ":1: no column 'size'"},
      {"id,lower,upper,size,begin\n", ":1: column 'begin' says what another one says"},
      {"id,lower,upper,size\n1,0,4,8\n2,0,x,8\n", ":3: upper 'x' is no integer"},
      {"id,lower,upper,size\n1,0,4\n", ":2: has 3 fields, the header has 4"},
      {"id,lower,upper,size\n1,0,4,8,9\n", ":2: has 5 fields, the header has 4"},
      {"id,lower,upper,size\n1,0,4,99999999999999999999\n",
       ":2: size '99999999999999999999' does not fit 64 bits"},
      {"id,lower,upper,size,gaps\n1,0,4,8,1+2\n",
       ":2: gap '1+2' is not of the form lo-hi or lo-hi@w0:w1"},
      {"id,lower,upper,size,alignment\n1,0,4,8,0\n",
       ":2: alignment 0 is no power of two"},
      {"id,start,end,size\n1,0,9223372036854775807,8\n",
       ":2: end does not fit 64 bits"},
  };
  for (const auto& [text, message] : cases) {
    const std::string path = Temporary("bad.csv", text);
    std::string what;
    try {
      ReadPlacement(path);
    } catch (const Failure& failure) {
      what = failure.what();
      CHECK(failure.code() == kBadInput);
    }
    CHECK(what == path + message);
  }
}

TEST_CASE("sluice place: offsets, proofs, pictures and errors with their line") {
  const std::string good =
      Temporary("good.csv", "id,lower,upper,size\na,0,4,10\nb,2,6,20\nc,5,9,10\n");
  const std::string placed = Temporary("placed.csv", "");
  const std::string svg = Temporary("picture.svg", "");
  std::string out;
  REQUIRE(Tool(good + " --capacity 30 --json -o " + placed + " --svg " + svg, &out) ==
          0);
  nlohmann::json json = nlohmann::json::parse(out);
  CHECK(json["ok"] == true);
  CHECK(json["peak_bytes"] == 30);
  CHECK(json["proved"] == true);
  CHECK(json["offsets"].size() == 3);
  CHECK(json.contains("solve_us"));
  CHECK(Content(svg).find("c: bytes") != std::string::npos);
  // The written file is a placement: every buffer is fixed at its offset.
  REQUIRE(Tool(placed + " --capacity 30", &out) == 0);
  CHECK(Tool(placed + " --capacity 30 --reserve 0:9:0:4", &out) == 2);
  CHECK(out.find("placed.csv:") != std::string::npos);
  REQUIRE(Tool(good + " --smallest --json", &out) == 0);
  CHECK(nlohmann::json::parse(out)["peak_bytes"] == 30);
  CHECK(Tool(good + " --capacity 29 --json", &out) == 1);
  json = nlohmann::json::parse(out);
  CHECK(json["ok"] == false);
  CHECK(json["conflict"] == nlohmann::json{"a", "b"});
  CHECK(json["irreducible"] == true);
  CHECK(Tool(good, &out) == 3);
  CHECK(Tool(good + " --capacity 30 --reserve 1:2", &out) == 3);
  CHECK(Tool("none.csv --capacity 30", &out) == 6);
  const std::pair<const char*, const char*> bad[] = {
      {"a,0,4,0,1,", ":2: buffer 0 has size 0 (id a)"},
      {"a,0,4,8,1,\nb,5,5,8,1,", ":3: buffer 1 has an inverted or empty lifetime 5..5"},
      {"a,0,4,8,12,", ":2: buffer 0 has alignment 12, which is no power of two"},
      {"a,0,4,8,1,0\nb,0,4,8,1,4", "buffer 1 is fixed over fixed buffer 0"},
      {"a,0,4,8,1,\nb,0,4,9223372036854775807,1,", ":3: buffer 1 brings the sizes"},
  };
  for (const auto& [rows, message] : bad) {
    const std::string path = Temporary(
        "bad.csv", std::string("id,lower,upper,size,alignment,offset\n") + rows + "\n");
    CHECK(Tool(path + " --capacity 64", &out) == 2);
    CHECK_MESSAGE(out.find(message) != std::string::npos, out);
  }
}

TEST_CASE("sluice place: a hundred thousand rows in a moment") {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 100000; ++i) {
    text += std::to_string(i) + "," + std::to_string(i) + "," +
            std::to_string(i + 1 + i * 7 % 12) + "," +
            std::to_string(64 + i % 50 * 64) + "\n";
  }
  const std::string path = Temporary("many.csv", text);
  std::string out;
  CHECK(Tool(path + " --capacity 1M --json", &out) == 0);
  CHECK(nlohmann::json::parse(out)["buffers"] == 100000);
}

}  // namespace
}  // namespace sluice::cli
