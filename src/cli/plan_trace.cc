// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/session.h"
#include "cli/stream_tables.h"

namespace sluice::cli {
namespace {

using sluice_sim::TraceEvent;

constexpr uint32_t kShared = 1;           // process of shared engines; node n is 2 + n
constexpr uint32_t kProcesses = 1 << 17;  // room for those of a run

// Converts cycles to whole nanoseconds, which is what viewers keep, and these to
// microseconds with decimals. A viewer that rounded begin and duration would let a slice
// end after the next begins, and drop that one.
class Clock {
 public:
  explicit Clock(uint64_t hz) : hz_(hz == 0 ? 1'000'000'000 : hz) {}

  // Rounds down. Whole seconds are converted separately, so that nothing overflows.
  uint64_t Nanoseconds(uint64_t cycles) const {
    const uint64_t rest = cycles % hz_;
    const long double part = static_cast<long double>(rest) * 1e9L;
    return cycles / hz_ * 1'000'000'000 +
           static_cast<uint64_t>(part / static_cast<long double>(hz_));
  }
  std::string At(uint64_t cycles) const { return Text(Nanoseconds(cycles)); }
  // A duration whose end is exactly the start of an event at `to`.
  std::string Between(uint64_t from, uint64_t to) const {
    return Text(Nanoseconds(to) - Nanoseconds(from));
  }
  // The last nanosecond of what runs from `from` to `to`.
  std::string LastOf(uint64_t from, uint64_t to) const {
    const uint64_t begin = Nanoseconds(from), end = Nanoseconds(to);
    return Text(end > begin ? end - 1 : begin);
  }

 private:
  static std::string Text(uint64_t nanoseconds) {
    std::string part = std::to_string(nanoseconds % 1'000);
    part.insert(0, 3 - part.size(), '0');
    return std::to_string(nanoseconds / 1'000) + "." + part;
  }
  uint64_t hz_;
};

std::string Quoted(const std::string& text) { return JsonText(Json(text)); }

const char* KindOf(const TraceEvent& e) {
  switch (e.opcode) {
    case SLUICE_OPCODE_LOAD:
      return "load";
    case SLUICE_OPCODE_STORE:
      return "store";
    case SLUICE_OPCODE_FORWARD:
      return "forward";
    case SLUICE_OPCODE_HOST:
      return "host";
    default:
      return "compute";
  }
}

// The text, record by record.
struct Writer {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  bool first = true;

  // body: the fields after phase and process.
  void Record(const char* phase, uint32_t process, const std::string& body) {
    text += first ? "\n" : ",\n";
    first = false;
    text += "{\"ph\":\"" + std::string(phase) +
            "\",\"pid\":" + std::to_string(process) + "," + body + "}";
  }
};

struct Tracer {
  const PlanFiles& files;
  const sluice_sim::SimulateResult& result;
  const Clock clock;
  const Stream stream;
  bool many_nodes = false;
  std::string prefix = {};              // of the run's processes
  uint32_t first = 0;                   // number before these
  uint64_t arrows = 0;                  // of all runs
  std::vector<TraceEvent> events = {};  // of the run, by start, then engine
  Writer out = {};

  uint32_t Shared() const { return first + kShared; }
  uint32_t ProcessOf(uint32_t engine) const {
    if (!many_nodes) return Shared();
    const auto e = stream.At<sluice_engine_t>(stream.header().engine_offset, engine);
    return e.node == SLUICE_ALL_NODES ? Shared() : Shared() + 1 + uint32_t{e.node};
  }
};

void WriteNames(Tracer* t) {
  std::set<uint32_t> engines, processes;
  for (const TraceEvent& e : t->events) engines.insert(e.engine);
  for (const uint32_t engine : engines) {
    const uint32_t process = t->ProcessOf(engine);
    if (processes.insert(process).second) {
      const std::string name = process != t->Shared()
                                   ? "node " + std::to_string(process - t->Shared() - 1)
                                   : t->files.hardware_name;
      t->out.Record("M", process,
                    "\"name\":\"process_name\",\"args\":{\"name\":" +
                        Quoted(t->prefix + name) + "}");
      t->out.Record("M", process,
                    "\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" +
                        std::to_string(process) + "}");
    }
    const std::string thread = "\"tid\":" + std::to_string(engine + 1) + ",\"name\":";
    t->out.Record("M", process,
                  thread + "\"thread_name\",\"args\":{\"name\":" +
                      Quoted(t->result.engine_names.at(engine)) + "}");
    t->out.Record("M", process,
                  thread + "\"thread_sort_index\",\"args\":{\"sort_index\":" +
                      std::to_string(engine) + "}");
  }
}

// Writes one slice per instruction, named by its layer; a tile has its number within
// the layer.
void WriteSlices(Tracer* t) {
  std::map<uint32_t, std::string> names;
  std::map<uint32_t, uint64_t> tiles;
  for (const TraceEvent& e : t->events) {
    std::string name = KindOf(e), more;
    if (e.layer != sluice_sim::kNowhere) {
      auto [at, added] = names.try_emplace(e.layer);
      if (added) {
        at->second =
            "L" + std::to_string(e.layer) + " " + LayerName(t->files.graph, e.layer);
      }
      if (e.opcode == SLUICE_OPCODE_COMPUTE) {
        name.clear();
      } else {
        name += " ";
      }
      name += at->second;
      more += ",\"layer\":" + std::to_string(e.layer);
      if (e.opcode == SLUICE_OPCODE_COMPUTE) {
        const uint64_t tile = tiles[e.layer]++;
        name += " tile ";
        name += std::to_string(tile);
        more += ",\"tile\":" + std::to_string(tile);
      }
    }
    if (e.bytes != 0) more += ",\"bytes\":" + std::to_string(e.bytes);
    t->out.Record(
        "X", t->ProcessOf(e.engine),
        "\"tid\":" + std::to_string(e.engine + 1) + ",\"ts\":" + t->clock.At(e.start) +
            ",\"dur\":" + t->clock.Between(e.start, e.end) + ",\"cat\":\"" + KindOf(e) +
            "\",\"name\":" + Quoted(name) + ",\"args\":{\"cycle\":" +
            std::to_string(e.start) + ",\"cycles\":" + std::to_string(e.end - e.start) +
            ",\"instance\":" + std::to_string(e.instance) +
            ",\"visit\":" + std::to_string(e.visit) +
            ",\"instruction\":" + std::to_string(e.instruction) + more + "}");
  }
}

// Writes a counter's values. `changes` are in units of 1 / `parts`.
void WriteCounter(Tracer* t, uint32_t process, const std::string& name,
                  const std::map<uint64_t, int64_t>& changes, int64_t parts = 1) {
  int64_t sum = 0;
  for (const auto& [cycle, change] : changes) {
    sum += change;
    const Json value =
        parts == 1 ? Json(sum)
                   : Json(static_cast<double>(sum) / static_cast<double>(parts));
    t->out.Record("C", process,
                  "\"ts\":" + t->clock.At(cycle) + ",\"name\":\"" + name +
                      "\",\"args\":{\"value\":" + value.dump() + "}");
  }
}

void WriteCounters(Tracer* t, const BufferHistory& history) {
  for (size_t node = 0; node < history.nodes.size(); ++node) {
    std::map<uint64_t, int64_t> bytes;
    for (const PlotPiece& piece : history.nodes[node]) {
      bytes[piece.start] += static_cast<int64_t>(piece.high - piece.low);
      bytes[piece.end] -= static_cast<int64_t>(piece.high - piece.low);
    }
    const uint32_t process =
        t->many_nodes ? t->Shared() + 1 + static_cast<uint32_t>(node) : t->Shared();
    WriteCounter(t, process, "scratchpad bytes", bytes);
  }
  // Rates are integers, in thousandths, so that a transfer that ends subtracts exactly what
  // it has added.
  std::map<uint64_t, int64_t> rates;
  for (const TraceEvent& e : t->events) {
    const bool moves =
        e.opcode == SLUICE_OPCODE_LOAD || e.opcode == SLUICE_OPCODE_STORE;
    if (!moves || e.end == e.start) continue;
    const auto rate = static_cast<int64_t>(1000.0 * static_cast<double>(e.bytes) /
                                           static_cast<double>(e.end - e.start));
    rates[e.start] += rate;
    rates[e.end] -= rate;
  }
  WriteCounter(t, t->Shared(), "DRAM bytes per cycle", rates, 1000);
}

// The instructions of each engine, in the order of its list.
using Lists = std::map<uint32_t, std::vector<const TraceEvent*>>;

// The instruction whose completion satisfies a wait; nullptr: the wait needs none.
const TraceEvent* AwaitedBy(const Lists& lists, const TraceEvent& e,
                            const sluice_wait_t& wait) {
  const auto list = lists.find(wait.engine);
  if (list == lists.end()) return nullptr;
  const auto& all = list->second;
  const auto first = std::partition_point(
      all.begin(), all.end(), [&](const TraceEvent* x) { return x->visit < e.visit; });
  const auto before = static_cast<uint64_t>(first - all.begin());
  if (wait.before != 0 && wait.count >= before) return nullptr;
  const uint64_t ended = wait.before != 0 ? before - wait.count : before + wait.count;
  return ended == 0 || ended > all.size() ? nullptr : all[ended - 1];
}

void WriteArrows(Tracer* t) {
  Lists lists;
  for (const TraceEvent& e : t->events) lists[e.engine].push_back(&e);
  const auto end = [&](const char* phase, const TraceEvent& e, const std::string& time,
                       const char* more) {
    t->out.Record(phase, t->ProcessOf(e.engine),
                  "\"tid\":" + std::to_string(e.engine + 1) + ",\"ts\":" + time +
                      ",\"id\":" + std::to_string(t->arrows) +
                      ",\"cat\":\"wait\",\"name\":\"wait\"" + more);
  };
  for (const TraceEvent& e : t->events) {
    const auto block = t->stream.Block(t->stream.Instance(e.instance).block);
    const auto instruction =
        t->stream.At<sluice_instruction_t>(block.instruction_offset, e.instruction);
    for (uint32_t w = 0; w < instruction.wait_count; ++w) {
      const auto wait = t->stream.At<sluice_wait_t>(
          block.wait_offset, uint64_t{instruction.first_wait} + w);
      const TraceEvent* awaited = AwaitedBy(lists, e, wait);
      if (awaited == nullptr || awaited->engine == e.engine ||
          awaited->end != e.start) {
        continue;
      }
      // The format binds an arrow to the slice around its end point.
      end("s", *awaited, t->clock.LastOf(awaited->start, awaited->end), "");
      end("f", e, t->clock.At(e.start), ",\"bp\":\"e\"");
      ++t->arrows;
    }
  }
}

}  // namespace

std::string TraceOf(const PlanFiles& files, std::vector<TracedRun> runs,
                    const sluice_sim::SimulateResult& result) {
  if (runs.empty() || runs[0].events.empty()) return "{\"traceEvents\":[]}\n";
  Session session(0);
  session.LoadPlan(files.plan);
  const void* image = nullptr;
  size_t size = 0;
  if (sluice_plan_stream(session.plan(), &image, &size) != SLUICE_OK) {
    throw Failure(kBadInput, "the plan has no stream");
  }
  Tracer t = {files, result, Clock(FactsOf(files.hardware).clock_hz),
              Stream(image, size)};
  t.many_nodes =
      uint64_t{t.stream.header().node_cols} * t.stream.header().node_rows > 1;
  for (TracedRun& run : runs) {
    t.prefix = run.name.empty() ? "" : run.name + ": ";
    t.events = std::move(run.events);
    std::sort(t.events.begin(), t.events.end(),
              [](const TraceEvent& a, const TraceEvent& b) {
                return a.start != b.start ? a.start < b.start : a.engine < b.engine;
              });
    WriteNames(&t);
    WriteSlices(&t);
    if (result.ok) {
      WriteCounters(&t, FollowBuffers(image, size, t.events));
      WriteArrows(&t);
    }
    t.first += kProcesses;
  }
  return t.out.text + "\n]}\n";
}

}  // namespace sluice::cli
