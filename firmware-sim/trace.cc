// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <set>

#include "sim.h"
#include "sluice/ops.h"
#include "sluice/stream.h"

namespace sluice_sim {
namespace {

const char* EventName(const TraceEvent& event) {
  switch (event.opcode) {
    case SLUICE_OPCODE_LOAD:
      return "load";
    case SLUICE_OPCODE_STORE:
      return "store";
    case SLUICE_OPCODE_FORWARD:
      return "forward";
    default:
      break;
  }
  switch (event.op) {
#define SLUICE_SIM_OP_NAME(constant, code, name) \
  case code:                                     \
    return name;
    SLUICE_OPS(SLUICE_SIM_OP_NAME)
#undef SLUICE_SIM_OP_NAME
    default:
      return "unknown";
  }
}

// A text between the quotes of JSON.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

}  // namespace

void WriteTrace(const std::vector<TraceEvent>& events,
                const std::vector<std::string>& names, std::ostream& out) {
  std::set<uint32_t> engines;
  for (const TraceEvent& e : events) engines.insert(e.engine);
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char* separator = "\n";
  for (uint32_t engine : engines) {
    out << separator << "{\"ph\":\"M\",\"pid\":1,\"tid\":" << engine
        << ",\"name\":\"thread_name\",\"args\":{\"name\":\""
        << Escaped(names.at(engine)) << "\"}}";
    separator = ",\n";
  }
  for (const TraceEvent& e : events) {
    out << separator << "{\"ph\":\"X\",\"pid\":1,\"tid\":" << e.engine
        << ",\"ts\":" << e.start << ",\"dur\":" << e.end - e.start << ",\"name\":\""
        << EventName(e) << "\",\"args\":{\"instance\":" << e.instance
        << ",\"instruction\":" << e.instruction;
    if (e.layer != kNowhere) out << ",\"layer\":" << e.layer;
    if (e.bytes != 0) out << ",\"bytes\":" << e.bytes;
    out << "}}";
    separator = ",\n";
  }
  out << "\n]}\n";
}

}  // namespace sluice_sim
