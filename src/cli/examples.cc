// SPDX-License-Identifier: Apache-2.0
#include "cli/examples.h"

namespace sluice::cli {
namespace {

struct Example {
  const char* command;
  const char* lines;
};

constexpr Example kExamples[] = {
    {"import",
     R"(  sluice import model.tflite -o model.slg             # a model becomes a graph
  sluice import model.tflite -o model.slg --allow-opaque  # the host does the rest)"},
    {"hw",
     R"(  sluice hw --list                    # machines that come along
  sluice hw soma-edge > my.json       # one to change
  sluice hw check my.json             # as it was understood)"},
    {"schedule",
     R"(  sluice schedule model.slg --hw mcu-256k -o plan.slp
  sluice schedule model.slg --hw my.json --deadline 50ms
  sluice schedule model.slg --hw mcu-256k --budget 128K --layers layers.csv
  sluice schedule model.slg --hw mcu-256k --explain --notation segments.json)"},
    {"reschedule",
     R"(  sluice reschedule plan.slp --budget 200K -o next.slp
  sluice reschedule plan.slp --graph model.slg --hw mcu-256k)"},
    {"verify", R"(  sluice verify plan.slp)"},
    {"lower",
     R"(  sluice schedule model.slg --hw gemmini-16x16 -o gemmini.slp
  sluice lower gemmini.slp --target gemmini -o commands.txt)"},
    {"simulate",
     R"(  sluice simulate plan.slp --functional
  sluice simulate plan.slp --trace t.json  # for Perfetto)"},
    {"plot", R"(  sluice plot plan.slp -o plan.svg)"},
    {"report",
     R"(  sluice report plan.slp -o report.html
  sluice report plan.slp --against next.slp -o both.html)"},
    {"zoo",
     R"(  sluice zoo --list
  sluice zoo mobilenet_v1 --batch 4 -o zoo.slg)"},
    {"map",
     R"(  sluice map 1024 2048 2048 --hw eyeriss-like  # one GEMM, proved
  sluice map model.slg --layer all --hw kapla-edge)"},
    {"dse",
     R"(  sluice dse grid.json -o table.csv --svg maps.svg
  sluice dse grid.json -o 1.csv --shard 1/2            # two machines, a share each,
  sluice dse grid.json -o 2.csv --shard 2/2
  sluice dse grid.json -o all.csv --merge 1.csv 2.csv  # and everything together)"},
    {"place",
     R"(  sluice place buffers.csv --capacity 64K -o offsets.csv --svg places.svg)"},
    {"evaluate",
     R"(  sluice evaluate model.slg --hw mcu-256k --schedule schedule.json
  sluice evaluate model.slg --hw mcu-256k --schedule segments.json -o plan.json)"},
    {"curve", R"(  sluice curve model.slg --hw mcu-256k --points 4 -o curve.svg)"},
    {"coschedule",
     R"(  sluice coschedule model.slg model.slg --hw soma-edge --points 3 -o both)"},
    {"segments", R"(  sluice segments model.slg --hw kapla-4x4 --deadline 2s)"},
    {"doctor", R"(  sluice doctor)"},
    {"manual", R"(  sluice manual > sluice.1  # man -l sluice.1 shows it)"},
    {"completion", R"(  sluice completion bash > sluice.bash && . ./sluice.bash)"},
};

}  // namespace

std::string ExamplesOf(const std::string& command) {
  for (const Example& example : kExamples) {
    if (command == example.command) return example.lines;
  }
  return "";
}

std::string FirstSteps() {
  return "Examples:\n"
         "  sluice import model.tflite -o model.slg\n"
         "  sluice schedule model.slg --hw soma-edge -o plan.slp\n"
         "  sluice report plan.slp -o report.html\n"
         "sluice COMMAND --help has the options and examples of each.";
}

}  // namespace sluice::cli
