// SPDX-License-Identifier: Apache-2.0
// The delegate's entry points and the runtime's callbacks.
//
// Prepare finds the nodes that the machine can compute, lets the runtime group them
// into parts, and loads a plan for each part before it delegates the parts. Nodes for
// which this fails stay with the runtime's kernels. No exception leaves the delegate.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "kernel.h"
#include "sluice_delegate.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"

namespace sluice::delegate {
namespace {

struct Delegate {
  TfLiteDelegate runtime = {};  // first: the runtime's pointer is this object's
  std::shared_ptr<State> state;
  std::mutex mutex;   // serialises Prepare: one graph at a time
  bool host = false;  // nodes for the machine's host are taken, too
  KnownShapes known;  // of the graph being prepared
  // Parts after lowering and after loading; kept from Prepare until their kernels'
  // init.
  std::map<std::vector<int>, LoweredPart> lowered;
  std::map<std::vector<int>, std::unique_ptr<Kernel>> ready;
};

uint64_t Clock(clockid_t clock) {
  timespec t = {};
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(t.tv_nsec);
}

void Note(const Options& options, int level, const std::string& text) {
  if (options.verbosity >= level) {
    std::fprintf(stderr, "sluice delegate: %s\n", text.c_str());
  }
}

void NoteRefusal(TfLiteContext* context, int node, const std::string& reason,
                 const State& state) {
  if (state.options.verbosity < 2) return;
  Note(state.options, 2,
       "node " + std::to_string(node) + " (" + NameOf(context, node) +
           ") stays with the runtime: " + reason);
}

bool LowerOnce(TfLiteContext* context, const Part& part, Delegate* delegate,
               LoweredPart* out, std::string* reason) {
  {
    const std::lock_guard<std::mutex> lock(delegate->state->mutex);
    ++delegate->state->figures.lowered;
  }
  return LowerPart(context, SourceOf(context, part, delegate->known, delegate->host),
                   out, reason);
}

// The nodes that can be lowered. Whole parts are lowered first, and the results kept
// for LoadParts; only where a part fails, each of its nodes is lowered by itself.
std::vector<int> Supported(TfLiteContext* context, const std::vector<int>& plan,
                           Delegate* delegate) {
  const State& state = *delegate->state;
  std::vector<int> candidates, nodes;
  for (const int node : plan) {
    std::string reason;
    if (MayLower(context, node, delegate->known, &reason)) {
      candidates.push_back(node);
    } else {
      NoteRefusal(context, node, reason, state);
    }
  }
  std::vector<Part> parts;
  if (!PreviewWhole(context, delegate->known, &candidates, &parts)) return {};
  for (const Part& part : parts) {
    std::string reason;
    LoweredPart lowered;
    if (LowerOnce(context, part, delegate, &lowered, &reason)) {
      delegate->lowered[part.nodes] = std::move(lowered);
      nodes.insert(nodes.end(), part.nodes.begin(), part.nodes.end());
      continue;
    }
    for (const int node : part.nodes) {
      Bytes graph;
      if (delegate->known.folded.count(node) != 0 ||
          LowerNode(context, node, delegate->known, delegate->host, &graph, &reason)) {
        nodes.push_back(node);
      } else {
        NoteRefusal(context, node, reason, state);
      }
    }
  }
  return nodes;
}

std::unique_ptr<Kernel> MakeKernel(TfLiteContext* context, const Part& part,
                                   Delegate* delegate, uint64_t deadline_ns,
                                   std::string* reason) {
  LoweredPart& lowered = delegate->lowered[part.nodes];
  if (lowered.graph.empty() && !LowerOnce(context, part, delegate, &lowered, reason)) {
    return nullptr;
  }
  auto kernel = std::make_unique<Kernel>();
  kernel->state = delegate->state;
  kernel->nodes = part.nodes;
  kernel->deadline_ns = deadline_ns;
  return LoadPart(std::move(lowered), kernel.get(), reason) ? std::move(kernel)
                                                            : nullptr;
}

// Removes the nodes that prevent planning of a part: those that cannot be planned by
// themselves, since the machine does not support them; if there are none, all nodes.
// Returns the number of unsupported nodes.
size_t Weed(TfLiteContext* context, const Part& part, Delegate* delegate,
            const std::string& reason, std::vector<int>* nodes) {
  State* state = delegate->state.get();
  Options options = state->options;
  options.host = delegate->host;
  std::vector<int> bad;
  for (const int node : part.nodes) {
    Bytes graph;
    std::string ignored;
    if (delegate->known.folded.count(node) != 0) continue;
    if (!LowerNode(context, node, delegate->known, options.host, &graph, &ignored) ||
        !state->device->CanRun(options, graph)) {
      bad.push_back(node);
    }
  }
  const bool folds = std::all_of(part.nodes.begin(), part.nodes.end(), [&](int node) {
    return delegate->known.folded.count(node) != 0;
  });
  const size_t unsupported = folds ? part.nodes.size() : bad.size();
  if (bad.empty()) bad = part.nodes;
  for (const int node : bad) {
    NoteRefusal(context, node, reason, *state);
    nodes->erase(std::remove(nodes->begin(), nodes->end(), node), nodes->end());
  }
  return unsupported;
}

// Loads a plan for each part. Removes nodes that cannot be planned from `nodes`, and
// subtracts the unsupported ones from `supported`.
bool LoadParts(TfLiteContext* context, Delegate* delegate, std::vector<int>* nodes,
               size_t* supported) {
  State& state = *delegate->state;
  for (bool again = true; again;) {
    again = false;
    std::vector<Part> parts;
    const size_t before = nodes->size();
    if (!PreviewWhole(context, delegate->known, nodes, &parts)) return false;
    *supported -= before - nodes->size();
    size_t left = nodes->size();
    uint64_t time_left = state.options.deadline_ns;
    for (const Part& part : parts) {
      const size_t size = part.nodes.size();
      const uint64_t share = time_left / std::max<size_t>(left, 1) * size;
      left -= std::min(left, size);
      if (delegate->ready.count(part.nodes) != 0) continue;
      std::string reason;
      const uint64_t start = Clock(CLOCK_MONOTONIC);
      auto kernel = MakeKernel(context, part, delegate, share, &reason);
      const uint64_t took = Clock(CLOCK_MONOTONIC) - start;
      time_left -= std::min(time_left, took);
      if (kernel != nullptr) {
        delegate->ready[part.nodes] = std::move(kernel);
      } else {
        *supported -= Weed(context, part, delegate, reason, nodes);
        again = true;
      }
    }
  }
  return true;
}

void* InitKernel(TfLiteContext* context, const char* buffer, size_t) {
  return Guarded(static_cast<void*>(nullptr), [&]() -> void* {
    const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    auto* delegate = reinterpret_cast<Delegate*>(params.delegate);
    const auto list = [](const TfLiteIntArray* from) {
      return std::vector<int>(from->data, from->data + from->size);
    };
    const Part part = {list(params.nodes_to_replace), list(params.input_tensors),
                       list(params.output_tensors)};
    const auto found = delegate->ready.find(part.nodes);
    if (found != delegate->ready.end()) {
      Kernel* kernel = found->second.release();
      delegate->ready.erase(found);
      return kernel;
    }
    std::string reason;  // the runtime has grouped the nodes differently
    auto kernel = MakeKernel(context, part, delegate,
                             delegate->state->options.deadline_ns, &reason);
    if (kernel == nullptr)
      context->ReportError(context, "sluice: %s. ", reason.c_str());
    return kernel.release();
  });
}

void FreeKernel(TfLiteContext*, void* kernel) { delete static_cast<Kernel*>(kernel); }

TfLiteRegistration TheKernel() {
  TfLiteRegistration r = {};
  r.init = InitKernel;
  r.free = FreeKernel;
  r.prepare = PrepareKernel;
  r.invoke = InvokeKernel;
  r.builtin_code = kTfLiteBuiltinDelegate;
  r.custom_name = "sluice";
  r.version = 1;
  return r;
}

// Loads all parts for the machine, and counts nodes. false: the runtime does not tell
// how it groups nodes.
bool Load(TfLiteContext* context, const std::vector<int>& plan, Delegate* delegate,
          std::vector<int>* nodes, GraphFigures* graph) {
  *nodes = Supported(context, plan, delegate);
  graph->nodes = plan.size();
  graph->supported = nodes->size();
  if (!LoadParts(context, delegate, nodes, &graph->supported)) return false;
  graph->delegated = nodes->size();
  return true;
}

TfLiteStatus Apply(TfLiteContext* context, Delegate* delegate) {
  State& state = *delegate->state;
  const Options& options = state.options;
  const uint64_t start = Clock(CLOCK_MONOTONIC), cpu = Clock(CLOCK_THREAD_CPUTIME_ID);
  const std::vector<int> plan = ExecutionPlan(context);
  std::vector<int> nodes;
  GraphFigures graph;
  delegate->host = options.host;
  delegate->known = FindKnownShapes(context, plan);
  bool loaded = Load(context, plan, delegate, &nodes, &graph);
  if (loaded && nodes.empty() && !options.host && options.host_if_nothing_else &&
      options.device_library.empty()) {
    delegate->host = true;
    loaded = Load(context, plan, delegate, &nodes, &graph);
  }
  TfLiteStatus status = loaded ? kTfLiteOk : kTfLiteError;
  graph.partitions = delegate->ready.size();
  if (status == kTfLiteOk && !nodes.empty()) {
    const IntArray list(nodes);
    status = context->ReplaceNodeSubsetsWithDelegateKernels(
        context, TheKernel(), list.get(), &delegate->runtime);
  }
  delegate->ready.clear();
  delegate->lowered.clear();
  delegate->known = {};
  const uint64_t took = Clock(CLOCK_MONOTONIC) - start;
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.figures.graphs[context] = graph;
  state.figures.prepare_ns = took;
  state.figures.prepare_cpu_ns = Clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
  Note(state.options, 1,
       std::to_string(graph.delegated) + " of " + std::to_string(graph.nodes) +
           " nodes in " + std::to_string(graph.partitions) + " parts, " +
           std::to_string(took / 1000) + " us");
  return status;
}

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* runtime) {
  return Guarded(kTfLiteError, [&] {
    auto* delegate = reinterpret_cast<Delegate*>(runtime);
    const std::lock_guard<std::mutex> lock(delegate->mutex);
    return Apply(context, delegate);
  });
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  auto delegate = std::make_unique<Delegate>();
  delegate->state = std::make_shared<State>();
  State& state = *delegate->state;
  if (!ReadOptions(keys, values, count, &state.options, error)) return nullptr;
  state.device = Device::Open(state.options, error);
  if (state.device == nullptr) return nullptr;
  delegate->runtime.data_ = delegate.get();
  delegate->runtime.Prepare = PrepareDelegate;
  delegate->runtime.flags = state.options.dynamic
                                ? kTfLiteDelegateFlagsAllowDynamicTensors
                                : kTfLiteDelegateFlagsNone;
  return &delegate.release()->runtime;
}

std::string Report(const Figures& f) {
  std::string text = "{";
  const auto add = [&](const char* name, uint64_t value) {
    text += std::string(text.size() > 1 ? ", \"" : "\"") + name +
            "\": " + std::to_string(value);
  };
  GraphFigures all;
  for (const auto& [context, graph] : f.graphs) {
    all.nodes += graph.nodes;
    all.supported += graph.supported;
    all.delegated += graph.delegated;
    all.partitions += graph.partitions;
  }
  add("nodes", all.nodes);
  add("supported", all.supported);
  add("delegated", all.delegated);
  add("partitions", all.partitions);
  add("lowered", f.lowered);
  add("plans_made", f.made);
  add("plans_rescheduled", f.rescheduled);
  add("plans_cached", f.cached);
  add("prepare_ns", f.prepare_ns);
  add("prepare_cpu_ns", f.prepare_cpu_ns);
  add("planning_ns", f.planning_ns);
  add("invocations", f.invocations);
  add("faults", f.faults);
  add("cycles", f.cycles);
  return text + "}";
}

}  // namespace
}  // namespace sluice::delegate

TfLiteDelegate* tflite_plugin_create_delegate(char** keys, char** values, size_t count,
                                              void (*report_error)(const char*)) {
  using sluice::delegate::Create;
  std::string error = "no memory";
  TfLiteDelegate* made =
      sluice::delegate::Guarded(static_cast<TfLiteDelegate*>(nullptr),
                                [&] { return Create(keys, values, count, &error); });
  if (made == nullptr && report_error != nullptr) report_error(error.c_str());
  return made;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  delete reinterpret_cast<sluice::delegate::Delegate*>(delegate);
}

size_t sluice_delegate_report(const TfLiteDelegate* delegate, char* out, size_t room) {
  return sluice::delegate::Guarded(size_t{0}, [&] {
    const auto& state =
        *reinterpret_cast<const sluice::delegate::Delegate*>(delegate)->state;
    std::string text;
    {
      std::lock_guard<std::mutex> lock(const_cast<std::mutex&>(state.mutex));
      text = sluice::delegate::Report(state.figures);
    }
    if (out != nullptr && room > text.size()) {
      std::memcpy(out, text.c_str(), text.size() + 1);
    }
    return text.size() + 1;
  });
}
