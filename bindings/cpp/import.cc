// SPDX-License-Identifier: Apache-2.0
// Imports a TensorFlow Lite file, schedules it and prints the report: import
// MODEL.tflite
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sluice/import.hpp>

int Complain(const sluice::Error& error) {
  std::printf("%s: %s\n", error.status_name(), error.message());
  return 1;
}

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "model.tflite", std::ios::binary);
  const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  auto model = sluice::Models::Import(bytes);
  if (!model) return Complain(model.error());
  auto context = sluice::Context::Create();
  if (!context) return Complain(context.error());
  auto graph = context->ReadGraph(model->graph);
  if (!graph) return Complain(graph.error());
  auto hardware = context->ReadHardware(sluice::Models::Preset("mcu-256k").value());
  if (!hardware) return Complain(hardware.error());
  auto plan = context->Schedule(*graph, *hardware);
  if (!plan) return Complain(plan.error());
  const sluice_report_t report = plan->report();
  std::printf("%llu cycles, %.0f pJ, %llu bytes from DRAM and %llu to it\n",
              static_cast<unsigned long long>(report.latency_cycles), report.energy_pj,
              static_cast<unsigned long long>(report.dram_read_bytes),
              static_cast<unsigned long long>(report.dram_write_bytes));
  return 0;
}
