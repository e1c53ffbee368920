// SPDX-License-Identifier: Apache-2.0
// What the tool says where it is given the wrong thing: what is wrong, where, and what
// would be right.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/failure.h"
#include "cli/files.h"
#include "cli/run_tool.h"

namespace sluice::cli {
namespace {

// A folder with a graph, its plan and a damaged graph.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("sluice-messages-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    Must("import \"" SLUICE_TESTS "/models/residual_cnn_int8.tflite\" -o " +
         At("m.slg"));
    Must("schedule " + At("m.slg") + " --hw mcu-256k -o " + At("p.slp"));
    Must("hw mcu-256k -o " + At("h.slh"));
    const Bytes graph = ReadFile(At("m.slg"));
    WriteFile(At("bad.slg"), graph.data(), 4000);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string At(const std::string& name) const { return (path_ / name).string(); }

 private:
  static void Must(const std::string& arguments) {
    std::string text;
    const int code = RunTool(arguments, kWithComplaints, &text);
    CAPTURE(text);
    REQUIRE(code == kDone);
  }

  std::filesystem::path path_;
};

// The first line that the tool says, which must end with this exit code.
std::string Said(const std::string& arguments, int want) {
  std::string text;
  CHECK(RunTool(arguments, kWithComplaints, &text) == want);
  return text.substr(0, text.find('\n'));
}

TEST_CASE("messages: an unknown command is named, with the one that was meant") {
  CHECK(Said("schedul m.slg", kUsage) ==
        "sluice: no command \"schedul\"; did you mean schedule?");
  CHECK(Said("verfiy p.slp --plan-only", kUsage) ==
        "sluice: no command \"verfiy\"; did you mean verify?");
  CHECK(Said("frobnicate", kUsage) ==
        "sluice: no command \"frobnicate\"; sluice --help lists the commands");
  std::string text;
  CHECK(RunTool("schedul m.slg --json", kWithComplaints, &text) == kUsage);
  const auto json = nlohmann::json::parse(text);
  CHECK(json["error"]["message"] == "no command \"schedul\"; did you mean schedule?");
}

TEST_CASE("messages: a file of another kind is named, with what is taken there") {
  const Folder folder;
  const std::string graph = folder.At("m.slg"), plan = folder.At("p.slp");
  const std::string machine = folder.At("h.slh");
  for (const char* command : {"schedule", "segments", "curve", "map", "coschedule"}) {
    CHECK(Said(std::string(command) + " " + plan + " --hw mcu-256k", kBadInput) ==
          "sluice: " + plan + " is a plan file; " + command + " takes a graph (.slg)");
  }
  CHECK(Said("schedule " + machine + " --hw mcu-256k", kBadInput) ==
        "sluice: " + machine + " is a machine; schedule takes a graph (.slg)");
  CHECK(Said("verify " + plan + " --graph " + plan, kBadInput) ==
        "sluice: " + plan + " is a plan file; --graph takes a graph (.slg)");
  CHECK(Said("schedule " + graph + " --hw " + graph, kBadInput) ==
        "sluice: " + graph +
            " is a graph; a machine is a preset, FILE.json or FILE.slh");
  CHECK(
      Said("dse " + graph + " -o " + folder.At("t.csv"), kBadInput) ==
      "sluice: " + graph +
          ": grid: this is no JSON object, or it nests too deeply; `sluice dse --help` "
          "shows one");
  CHECK(Said("hw " + plan, kBadInput) ==
        "sluice: " + plan +
            " is a plan file; a machine is a preset, FILE.json or FILE.slh");
}

TEST_CASE("messages: a damaged graph is named") {
  const Folder folder;
  const std::string bad = folder.At("bad.slg"), plan = folder.At("p.slp");
  const std::string why =
      "the buffer is truncated or corrupt: an offset or length is out of range";
  CHECK(Said("schedule " + bad + " --hw mcu-256k", kBadInput) ==
        "sluice: " + bad + ": " + why);
  for (const std::string& command :
       {"verify " + plan, "reschedule " + plan, "lower " + plan + " --target vta",
        "simulate " + plan, "plot " + plan + " -o x.svg",
        "report " + plan + " -o x.html"}) {
    CAPTURE(command);
    CHECK(Said(command + " --graph " + bad, kBadInput) ==
          "sluice: " + bad + ": " + why);
  }
}

// A plan file with these bytes in the place of others; `graph` and `machine` are where its
// parts begin.
struct Changed {
  explicit Changed(const Folder& from) : folder(from) {
    file = ReadFile(folder.At("p.slp"));
    uint64_t sizes[2];
    std::memcpy(sizes, file.data() + file.size() - 32, sizeof sizes);
    graph = (sizes[0] + 7) / 8 * 8;
    machine = graph + (sizes[1] + 7) / 8 * 8;
  }
  // The first line that a command says of the file with one byte turned over.
  std::string Said(const std::string& command, size_t at, int want) const {
    Bytes bytes = file;
    bytes[at] ^= 1;
    return SaidOf(command, bytes, want);
  }
  std::string SaidOf(const std::string& command, const Bytes& bytes, int want) const {
    WriteFile(folder.At("c.slp"), bytes.data(), bytes.size());
    return cli::Said(command + " " + folder.At("c.slp") +
                         (command == "report" ? " -o " + folder.At("c.html") : ""),
                     want);
  }

  const Folder& folder;
  Bytes file;
  size_t graph, machine;
};

TEST_CASE(
    "messages: of a damaged plan file the part is named, with what would be right") {
  const Folder folder;
  const Changed changed(folder);
  const std::string path = folder.At("c.slp");
  const std::string anew = "; `sluice schedule` writes a new plan file";
  for (const char* command : {"report", "verify", "simulate", "reschedule"}) {
    CAPTURE(command);
    const auto id = [&](size_t part, const char* name, const char* expected) {
      CHECK(changed.Said(command, part + 4, kBadInput) ==
            "sluice: " + path + ": its " + name +
                " is damaged: wrong file identifier at byte 4; expected " + expected +
                anew);
    };
    id(changed.graph, "graph", "SLG1");
    id(changed.machine, "machine", "SLH1");
    CHECK(changed.Said(command, 4, kBadInput)
              .rfind("sluice: " + path + " is no plan file, which `sluice schedule ",
                     0) == 0);
    CHECK(changed.Said(command, changed.file.size() - 32, kBadInput) ==
          "sluice: " + path + ": the sizes at its end do not add up to the file's" +
              anew);
    const Bytes cut(changed.file.begin(), changed.file.end() - 10);
    CHECK(changed.SaidOf(command, cut, kUsage) ==
          "sluice: " + path +
              " holds a plan alone, or ends too early; say what the plan was made for: "
              "--graph GRAPH.slg --hw MACHINE");
  }
}

TEST_CASE(
    "messages: a plan is drawn and run for what it was made for, and if it is right") {
  const Folder folder;
  const std::string plan = folder.At("p.slp");
  Said("zoo mlp_l -o " + folder.At("other.slg"), kDone);
  for (const std::string& command :
       {"simulate " + plan, "plot " + plan + " -o " + folder.At("x.svg"),
        "report " + plan + " -o " + folder.At("x.html")}) {
    CAPTURE(command);
    CHECK(
        Said(command + " --graph " + folder.At("other.slg"), kBadInput) ==
        "sluice: " + plan + ": the plan was made for another graph than " +
            folder.At("other.slg") +
            "; --graph names the right one, `sluice reschedule` makes a plan for this");
    CHECK(Said(command + " --hw soma-edge", kBadInput) ==
          "sluice: " + plan +
              ": the plan was made for another machine than soma-edge; --hw names the "
              "right one, `sluice reschedule` makes a plan for this");
  }
  // A byte of the stream: its hash tells.
  const Changed changed(folder);
  CHECK(changed.Said("report", changed.graph / 2, kRejected)
            .rfind("sluice: " + folder.At("c.slp") +
                       ": the plan is wrong, and no page is made of it; `sluice "
                       "schedule` makes another plan: ",
                   0) == 0);
}

TEST_CASE("messages: memory that does not hold the graph has a number beside it") {
  const Folder folder;
  const std::string schedule = "schedule " + folder.At("m.slg") + " --hw mcu-256k";
  const std::string said = Said(schedule + " --memory 10K", kIo);
  CAPTURE(said);
  CHECK(said.rfind(
            "sluice: --memory 10.0 KiB is too small to read the graph; that takes ",
            0) == 0);
  std::string text;
  CHECK(RunTool(schedule + " --memory 10K --json", kWithComplaints, &text) == kIo);
  const uint64_t needed = nlohmann::json::parse(text)["error"]["required_bytes"];
  CHECK(needed > 10240);
  // With that much the graph is read, and the plan says what it needs.
  CHECK(Said(schedule + " --memory " + std::to_string(2 * needed), kIo)
            .find(" needs a context of ") != std::string::npos);
}

TEST_CASE("messages: quantities say what they look like") {
  CHECK(Said("schedule m.slg --hw mcu-256k --budget abc", kUsage) ==
        "--budget: abc is not of the form BYTES (64K, 1M)");
  CHECK(Said("schedule m.slg --hw mcu-256k --deadline abc", kUsage) ==
        "--deadline: abc is not of the form TIME (50ms, 2s)");
  for (const std::string wrong : {"-1", "1.5", "many", "1e3", "+1"}) {
    CHECK(Said("schedule m.slg --hw mcu-256k --iterations " + wrong, kUsage) ==
          "--iterations: " + wrong + " is no whole number, 0 or more");
    CHECK(Said("dse grid.json -o x.csv --jobs " + wrong, kUsage) ==
          "--jobs: " + wrong + " is no whole number, 0 or more");
  }
  CHECK(Said("segments m.slg --hw kapla-4x4 --top 99", kUsage) ==
        "--top: Value 99 not in range 1 to 64");
}

TEST_CASE("messages: sizes that a network does not have are refused") {
  CHECK(Said("zoo mobilenet_v1 --seq 3 -o x.slg", kUsage) ==
        "sluice: mobilenet_v1 takes no seq: that is the prompt of GPT-2");
  CHECK(Said("zoo resnet50 --context 5 -o x.slg", kUsage) ==
        "sluice: resnet50 takes no context: that is the KV cache of GPT-2");
  CHECK(Said("zoo resnet50 --blocks 2 -o x.slg", kUsage) ==
        "sluice: resnet50 takes no blocks: those are of a transformer");
}

TEST_CASE("messages: zoo says what --skip-unread leaves out") {
  const Folder folder;
  const std::string to = " --skip-unread -o " + folder.At("z.slg");
  std::string text;
  CHECK(RunTool("zoo resnet50" + to, kWithComplaints, &text) == kDone);
  CHECK(text.find("fewer pixels  6 conv, 3 add: rows and") != std::string::npos);
  CHECK(RunTool("zoo mlp_l" + to, kWithComplaints, &text) == kDone);
  CHECK(text.find("fewer pixels  none") != std::string::npos);
  CHECK(RunTool("zoo resnet50 --json" + to, kWithComplaints, &text) == kDone);
  const nlohmann::json skipped = nlohmann::json::parse(text)["skipped"];
  REQUIRE(skipped.size() == 2);
  CHECK(skipped[0]["count"] == 6);
  CHECK(Said("zoo resnet50 --training" + to, kUsage) ==
        "sluice: --skip-unread: a training step reads all pixels; leave --training or "
        "--skip-unread out");
}

TEST_CASE("messages: segments say what a machine of one node lacks") {
  const Folder folder;
  CHECK(Said("segments " + folder.At("m.slg") + " --hw soma-edge", kBadInput) ==
        "sluice: a node of soma-edge has no loop nest for a layer, which segments need "
        "for each; sluice schedule plans such machines: the exact mapper takes 2 or 3 "
        "levels, not 5");
}

TEST_CASE("messages: a plan of which nothing is left says so") {
  const Folder folder;
  Said("zoo mlp_l -o " + folder.At("other.slg"), kDone);
  std::string text;
  CHECK(RunTool("reschedule " + folder.At("p.slp") + " --graph " +
                    folder.At("other.slg") + " --hw soma-edge",
                kWithComplaints, &text) == kDone);
  CAPTURE(text);
  CHECK(text.find("nothing of the earlier plan could be used") != std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
