// SPDX-License-Identifier: Apache-2.0
// sluice for C++17: owners that keep alive the objects they depend on, results instead
// of status codes, builders for graphs and descriptors. One header; nothing to link but
// the C library, and no flatbuffers: the builders write the few bytes themselves.
//
//   auto context = sluice::Context::Create();
//   if (!context) return Complain(context.error().message());
//   auto graph = context->ReadGraph(bytes);
//   auto hardware = context->ReadHardware(descriptor.Bytes());
//   if (!graph || !hardware) ...
//   auto plan = context->Schedule(*graph, *hardware,
//                                 sluice::ScheduleOptions().Deadline(5ms));
//   if (plan) Submit(plan->stream().data(), plan->stream().size());
//
// Input    as sluice.h; builders take what graph.fbs and hardware.fbs hold
// Errors   Result<T>: a value or an Error with the diagnostic. Only standard containers
//          throw, when the host is out of memory
// Threads  as sluice.h: a Context serves one thread at a time, also when a Graph,
//          Hardware or Plan of it is destroyed, since their memory goes back to it. Many
//          threads may read the same one. Each keeps its Context alive.
// Cost     that of the C call; one reference count per object
#ifndef SLUICE_SLUICE_HPP_
#define SLUICE_SLUICE_HPP_

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sluice/ops.h"
#include "sluice/sluice.h"

namespace sluice {

// A view of bytes that it does not own, as std::span<const uint8_t> of C++20.
class View {
 public:
  View() = default;
  View(const void* data, size_t size) : data_(data), size_(size) {}
  View(const std::vector<uint8_t>& bytes) : View(bytes.data(), bytes.size()) {}
  View(std::string_view bytes) : View(bytes.data(), bytes.size()) {}
  const uint8_t* data() const { return static_cast<const uint8_t*>(data_); }
  size_t size() const { return size_; }
  const uint8_t* begin() const { return data(); }
  const uint8_t* end() const { return data() + size_; }

 private:
  const void* data_ = nullptr;
  size_t size_ = 0;
};

// The diagnostic of the C call: what failed, where, and the sizes involved.
class Error {
 public:
  Error() {
    diagnostic.struct_size = sizeof diagnostic;
    diagnostic.layer = diagnostic.tensor = diagnostic.instruction = SLUICE_NO_INDEX;
  }
  // What the call returned; SLUICE_OK in an Error that no call has filled.
  sluice_status_t status() const { return status_; }
  const char* status_name() const { return sluice_status_name(status_); }
  // A sentence for the user; valid as long as the Error.
  const char* message() const { return diagnostic.message; }
  // No plan fits this scratchpad; the diagnostic has the smallest that one fits.
  bool infeasible() const { return status_ == SLUICE_INFEASIBLE; }
  // The deadline or a cancellation came before there was a plan.
  bool stopped() const { return status_ == SLUICE_STOPPED; }

  sluice_diagnostic_t diagnostic = {};

 private:
  friend class Context;
  friend class Models;  // import.hpp
  template <typename>
  friend class Result;
  Error&& With(sluice_status_t status) && {
    status_ = status;
    return std::move(*this);
  }
  sluice_status_t status_ = SLUICE_OK;
};

// A value or an error, as std::expected<T, Error> of C++23.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  // Only for a result that has a value.
  T& value() & { return *Get(); }
  const T& value() const& { return *const_cast<Result*>(this)->Get(); }
  T&& value() && { return std::move(*Get()); }
  T& operator*() & { return *Get(); }
  const T& operator*() const& { return *const_cast<Result*>(this)->Get(); }
  T&& operator*() && { return std::move(*Get()); }
  T* operator->() { return Get(); }
  const T* operator->() const { return const_cast<Result*>(this)->Get(); }
  template <typename U>
  T value_or(U&& other) && {
    return has_value() ? std::move(*Get()) : static_cast<T>(std::forward<U>(other));
  }
  const Error& error() const {
    const Error* error = std::get_if<1>(&state_);
    assert(error != nullptr);
    return *error;
  }
  // Returns f(value), itself a Result; an error is passed on unchanged.
  template <typename F>
  auto and_then(F&& f) && -> decltype(f(std::declval<T>())) {
    if (!has_value()) return error();
    return std::forward<F>(f)(std::move(*Get()));
  }

 private:
  T* Get() {
    T* value = std::get_if<0>(&state_);
    assert(value != nullptr);
    return value;
  }
  std::variant<T, Error> state_;
};

struct Done {};  // the value of a Result without data

// Options of Context::Create; each has a default.
struct ContextOptions : sluice_context_options_t {
  ContextOptions() : sluice_context_options_t{} {
    struct_size = sizeof(sluice_context_options_t);
  }
  ContextOptions& MaxBytes(uint64_t bytes) {
    max_bytes = bytes;
    return *this;
  }
  // A block for all memory of the context and for the context itself; must outlive it.
  ContextOptions& Block(void* memory, uint64_t bytes) {
    block = memory;
    block_bytes = bytes;
    return *this;
  }
  // The clock of deadlines and of progress (sluice_context_options_t::now_ns).
  ContextOptions& Clock(uint64_t (*now)(void* user), void* user = nullptr) {
    now_ns = now;
    clock_user = user;
    return *this;
  }
  // Must outlive the context.
  ContextOptions& Allocator(const sluice_allocator_t* custom) {
    allocator = custom;
    return *this;
  }
};

// The fields of sluice_schedule_options_t, with setters of C++ types.
struct ScheduleOptions : sluice_schedule_options_t {
  ScheduleOptions() : sluice_schedule_options_t{} {
    struct_size = sizeof(sluice_schedule_options_t);
  }
  ScheduleOptions& Solver(uint32_t which) {
    solver = which;
    return *this;
  }
  ScheduleOptions& Scratchpad(uint64_t bytes) {
    scratchpad_bytes = bytes;
    return *this;
  }
  ScheduleOptions& Deadline(std::chrono::nanoseconds time) {
    // At least 1, since 0 means no deadline.
    deadline_ns = time.count() > 0 ? static_cast<uint64_t>(time.count()) : 1;
    return *this;
  }
  ScheduleOptions& MaxIterations(uint64_t n) {
    max_iterations = n;
    return *this;
  }
  ScheduleOptions& Seed(uint64_t value) {
    seed = value;
    return *this;
  }
  // Set to nonzero by any thread to stop; must outlive the call.
  ScheduleOptions& Cancel(const std::atomic<uint32_t>* word) {
    static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
                      std::atomic<uint32_t>::is_always_lock_free,
                  "is a word");
    cancel = reinterpret_cast<const uint32_t*>(word);
    return *this;
  }
  // SLUICE_GRANULARITY_
  ScheduleOptions& Granularity(uint32_t which) {
    granularity = which;
    return *this;
  }
  ScheduleOptions& Objective(uint32_t energy, uint32_t delay) {
    energy_exponent = energy;
    delay_exponent = delay;
    return *this;
  }
};

namespace detail {

// An object of the C library; keeps the objects it depends on alive.
template <typename T, void (*Destroy)(T*)>
class Owned {
 public:
  Owned(std::shared_ptr<sluice_context_t> context, T* object)
      : context_(std::move(context)), object_(object) {}
  Owned(Owned&& other) noexcept
      : context_(std::move(other.context_)),
        object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ != nullptr) Destroy(object_);
  }
  // The raw object for calls of the C interface; ownership stays here.
  T* get() const { return object_; }

 protected:
  std::shared_ptr<sluice_context_t> context_;
  T* object_;
};

}  // namespace detail

// A network that was read: sluice_graph_t.
class Graph : public detail::Owned<sluice_graph_t, sluice_graph_destroy> {
 public:
  using Owned::Owned;
  sluice_graph_counts_t counts() const {
    sluice_graph_counts_t counts = {};
    counts.struct_size = sizeof counts;
    (void)sluice_graph_count(object_, &counts);
    return counts;
  }
};

// A machine that was read: sluice_hardware_t.
class Hardware : public detail::Owned<sluice_hardware_t, sluice_hardware_destroy> {
 public:
  using Owned::Owned;
};

// A schedule of a graph on a machine: sluice_plan_t.
class Plan : public detail::Owned<sluice_plan_t, sluice_plan_destroy> {
 public:
  using Owned::Owned;
  // plan.fbs; valid as long as the plan.
  View bytes() const { return Ask(sluice_plan_bytes); }
  // The image of stream.h.
  View stream() const { return Ask(sluice_plan_stream); }
  sluice_report_t report() const {
    sluice_report_t report = {};
    report.struct_size = sizeof report;
    (void)sluice_plan_report(object_, &report);
    return report;
  }
  // What the report's bounds are made of; its layers are valid as long as the plan.
  sluice_certificate_t certificate() const {
    sluice_certificate_t certificate = {};
    certificate.struct_size = sizeof certificate;
    (void)sluice_plan_certificate(object_, &certificate);
    return certificate;
  }

 private:
  template <typename F>
  View Ask(F function) const {
    const void* data = nullptr;
    size_t size = 0;
    (void)function(object_, &data, &size);
    return View(data, size);
  }
};

// A new plan, and what it kept of the previous plan.
struct Rescheduled {
  Plan plan;
  sluice_change_t change;
};

// What makes graphs, machines and plans, and counts their memory: sluice_context_t.
class Context {
 public:
  static Result<Context> Create(const ContextOptions& options = ContextOptions()) {
    Error why;
    sluice_context_t* context = nullptr;
    const sluice_status_t status =
        sluice_context_create(&options, &context, &why.diagnostic);
    if (status != SLUICE_OK) return std::move(why).With(status);
    return Context(std::shared_ptr<sluice_context_t>(context, sluice_context_destroy));
  }

  // The bytes are copied.
  Result<Graph> ReadGraph(View bytes) const {
    return Make<Graph, sluice_graph_t>(sluice_graph_create, bytes.data(), bytes.size());
  }
  Result<Hardware> ReadHardware(View bytes) const {
    return Make<Hardware, sluice_hardware_t>(sluice_hardware_create, bytes.data(),
                                             bytes.size());
  }
  Result<Plan> ReadPlan(View bytes) const {
    return Make<Plan, sluice_plan_t>(sluice_plan_create, bytes.data(), bytes.size());
  }
  Result<Plan> Schedule(const Graph& graph, const Hardware& hardware,
                        const ScheduleOptions& options = ScheduleOptions()) const {
    return Make<Plan, sluice_plan_t>(sluice_schedule, graph.get(), hardware.get(),
                                     &options);
  }
  // Plans a changed graph, machine or scratchpad from `previous`.
  Result<Rescheduled> Reschedule(const Plan& previous, const Graph& graph,
                                 const Hardware& hardware,
                                 const ScheduleOptions& options = ScheduleOptions(),
                                 bool minimise_changes = false) const {
    Error why;
    sluice_reschedule_options_t how = {};
    how.struct_size = sizeof how;
    how.minimise_changes = minimise_changes ? 1 : 0;
    how.previous = previous.get();
    how.schedule = &options;
    sluice_change_t change = {};
    change.struct_size = sizeof change;
    how.change = &change;
    sluice_plan_t* plan = nullptr;
    const sluice_status_t status = sluice_reschedule(
        context_.get(), graph.get(), hardware.get(), &how, &plan, &why.diagnostic);
    if (status != SLUICE_OK) return std::move(why).With(status);
    return Rescheduled{Plan(context_, plan), change};
  }
  Result<Done> Verify(const Graph& graph, const Hardware& hardware,
                      const Plan& plan) const {
    Error why;
    const sluice_status_t status = sluice_verify(
        context_.get(), graph.get(), hardware.get(), plan.get(), &why.diagnostic);
    if (status != SLUICE_OK) return std::move(why).With(status);
    return Done{};
  }
  sluice_memory_stats_t memory() const {
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    (void)sluice_context_memory(context_.get(), &stats);
    return stats;
  }
  // For calls of the C interface; ownership stays here.
  sluice_context_t* get() const { return context_.get(); }

 private:
  explicit Context(std::shared_ptr<sluice_context_t> context)
      : context_(std::move(context)) {}
  template <typename Owner, typename T, typename F, typename... Arguments>
  Result<Owner> Make(F function, Arguments... arguments) const {
    Error why;
    T* object = nullptr;
    const sluice_status_t status =
        function(context_.get(), arguments..., &object, &why.diagnostic);
    if (status != SLUICE_OK) return std::move(why).With(status);
    return Owner(context_, object);
  }
  std::shared_ptr<sluice_context_t> context_;
};

namespace detail {

// The part of the flatbuffers format that graphs and descriptors need: tables of
// scalars, strings and vectors, written front to back. Every field is written, defaults
// too.
class FlatWriter {
 public:
  using Bytes = std::vector<uint8_t>;
  static constexpr size_t kNowhere = ~size_t{0};

  explicit FlatWriter(const char (&identifier)[5]) : bytes_(8) {
    memcpy(&bytes_[4], identifier, 4);
  }

  // Fields of one table, by id in the order of the calls.
  class Fields {
   public:
    Fields& U8(uint64_t v) { return Add(1, v); }
    Fields& U32(uint64_t v) { return Add(4, v); }
    Fields& U64(uint64_t v) { return Add(8, v); }
    Fields& F64(double v) {
      uint64_t bits;
      memcpy(&bits, &v, 8);
      return Add(8, bits);
    }
    Fields& Reference() { return Add(4, 0); }
    Fields& Absent() { return Add(0, 0); }

   private:
    friend class FlatWriter;
    struct Field {
      uint32_t size;
      uint64_t bits;
    };
    Fields& Add(uint32_t size, uint64_t bits) {
      fields_.push_back({size, bits});
      return *this;
    }
    std::vector<Field> fields_;
  };

  // Appends a table that the reference at `from` (kNowhere: the root) points to;
  // returns where each field lies.
  std::vector<size_t> Table(size_t from, const Fields& fields) {
    const auto& list = fields.fields_;
    Align(2);
    const size_t vtable = bytes_.size();
    Put(vtable, 2, 4 + 2 * list.size());
    for (size_t i = 0; i <= list.size(); ++i) Put(bytes_.size(), 2, 0);
    Align(4);
    const size_t table = bytes_.size();
    Put(table, 4, table - vtable);
    std::vector<size_t> at(list.size(), kNowhere);
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].size == 0) continue;
      Align(list[i].size);
      at[i] = bytes_.size();
      Put(at[i], list[i].size, list[i].bits);
      Put(vtable + 4 + 2 * i, 2, at[i] - table);
    }
    Put(vtable + 2, 2, bytes_.size() - table);
    Point(from == kNowhere ? 0 : from, table);
    return at;
  }

  template <typename T>
  void Vector(size_t from, const std::vector<T>& items) {
    Align(4);
    while ((bytes_.size() + 4) % sizeof(T) != 0) bytes_.push_back(0);
    Point(from, bytes_.size());
    Put(bytes_.size(), 4, items.size());
    for (const T& item : items) {
      uint64_t bits = 0;
      memcpy(&bits, &item, sizeof(T));  // host order is little-endian, as the wire's
      Put(bytes_.size(), sizeof(T), bits);
    }
  }

  // A vector of n references; returns where they lie.
  std::vector<size_t> References(size_t from, size_t n) {
    Vector(from, std::vector<uint32_t>(n));
    std::vector<size_t> at(n);
    for (size_t i = 0; i < n; ++i) at[i] = bytes_.size() - 4 * (n - i);
    return at;
  }

  void String(size_t from, const std::string& text) {
    Align(4);
    Point(from, bytes_.size());
    Put(bytes_.size(), 4, text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.push_back(0);
  }

  Bytes Take() && {
    Align(8);
    return std::move(bytes_);
  }

 private:
  void Align(size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }
  void Put(size_t at, size_t size, uint64_t bits) {
    if (at + size > bytes_.size()) bytes_.resize(at + size);
    for (size_t i = 0; i < size; ++i)
      bytes_[at + i] = static_cast<uint8_t>(bits >> 8 * i);
  }
  void Point(size_t from, size_t to) { Put(from, 4, to - from); }

  Bytes bytes_;
};

}  // namespace detail

// A graph, tensor by tensor and layer by layer in a topological order. Nothing is
// checked here: ReadGraph says what is wrong and where.
class GraphBuilder {
 public:
  using Dims = std::vector<int32_t>;
  explicit GraphBuilder(std::string name = "") : name_(std::move(name)) {}

  // A tensor that the caller fills. Like all that add one, returns its index.
  uint32_t Input(std::string name, Dims dims, uint8_t dtype = SLUICE_DTYPE_INT8) {
    return Tensor(std::move(name), dims, dtype, SLUICE_TENSOR_INPUT);
  }
  // A tensor that the caller reads after a run.
  uint32_t Output(std::string name, Dims dims, uint8_t dtype = SLUICE_DTYPE_INT8) {
    return Tensor(std::move(name), dims, dtype, SLUICE_TENSOR_OUTPUT);
  }
  // A tensor between two layers, which no caller sees.
  uint32_t Intermediate(std::string name, Dims dims,
                        uint8_t dtype = SLUICE_DTYPE_INT8) {
    return Tensor(std::move(name), dims, dtype, SLUICE_TENSOR_INTERMEDIATE);
  }
  // A tensor that keeps its contents from one run to the next.
  uint32_t State(std::string name, Dims dims, uint8_t dtype = SLUICE_DTYPE_INT8) {
    return Tensor(std::move(name), dims, dtype, SLUICE_TENSOR_STATE);
  }
  // A constant with its bytes, row-major and little-endian.
  uint32_t Constant(std::string name, Dims dims, uint8_t dtype, View bytes) {
    data_.resize((data_.size() + 15) / 16 * 16);
    const uint64_t offset = data_.size();
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    return Source(std::move(name), dims, dtype, SLUICE_SOURCE_INLINE, offset);
  }
  // A constant whose bytes are generated from a seed (ops.h); enough for costs and
  // tests.
  uint32_t Seeded(std::string name, Dims dims, uint8_t dtype, uint64_t seed) {
    return Source(std::move(name), dims, dtype, SLUICE_SOURCE_SEEDED, seed);
  }

  // Weights take so many bytes off chip, where a LOAD decodes them.
  void Encoded(uint32_t tensor, uint64_t bytes) {
    encoded_.resize(dtype_.size());
    encoded_[tensor] = bytes;
  }

  // op and attributes as ops.h has them; a missing tail of the attributes is zero.
  uint32_t Layer(std::string name, uint16_t op, const std::vector<uint32_t>& inputs,
                 const std::vector<uint32_t>& outputs,
                 const std::vector<int32_t>& attributes = {}) {
    layer_name_.push_back(Name(std::move(name)));
    op_.push_back(op);
    Append(inputs, &inputs_, &input_begin_);
    Append(outputs, &outputs_, &output_begin_);
    Append(attributes, &attributes_, &attribute_begin_);
    return static_cast<uint32_t>(op_.size() - 1);
  }
  // A number that each run chooses in [min, max]; layers name it by the index returned.
  uint32_t Parameter(std::string name, int32_t min, int32_t max) {
    parameter_name_.push_back(Name(std::move(name)));
    parameter_min_.push_back(min);
    parameter_max_.push_back(max);
    return static_cast<uint32_t>(parameter_min_.size() - 1);
  }

  // graph.fbs.
  std::vector<uint8_t> Bytes() const {
    detail::FlatWriter w("SLG1");
    detail::FlatWriter::Fields fields;
    fields.U32(0);
    for (int i = 1; i <= 24; ++i) {
      const bool absent = i == 8 || i == 9;  // zero points and scales: information only
      absent ? fields.Absent() : fields.Reference();
    }
    if (!encoded_.empty()) fields.Reference();
    const std::vector<size_t> at = w.Table(detail::FlatWriter::kNowhere, fields);
    w.String(at[1], name_);
    const std::vector<size_t> names = w.References(at[2], names_.size());
    for (size_t i = 0; i < names.size(); ++i) w.String(names[i], names_[i]);
    w.Vector(at[3], tensor_name_);
    w.Vector(at[4], dtype_);
    w.Vector(at[5], kind_);
    w.Vector(at[6], dim_begin_);
    w.Vector(at[7], dims_);
    w.Vector(at[10], source_);
    w.Vector(at[11], source_offset_);
    w.Vector(at[12], std::vector<uint32_t>(dtype_.size(), SLUICE_NO_INDEX));
    w.Vector(at[14], layer_name_);
    w.Vector(at[15], op_);
    w.Vector(at[16], input_begin_);
    w.Vector(at[17], inputs_);
    w.Vector(at[18], output_begin_);
    w.Vector(at[19], outputs_);
    w.Vector(at[20], attribute_begin_);
    w.Vector(at[21], attributes_);
    w.Vector(at[22], parameter_name_);
    w.Vector(at[23], parameter_min_);
    w.Vector(at[24], parameter_max_);
    if (!encoded_.empty()) {
      std::vector<uint64_t> encoded = encoded_;
      encoded.resize(dtype_.size());
      w.Vector(at[25], encoded);
    }
    w.Vector(at[13], data_);
    return std::move(w).Take();
  }

 private:
  uint32_t Name(std::string name) {
    if (name.empty()) return SLUICE_NO_INDEX;
    names_.push_back(std::move(name));
    return static_cast<uint32_t>(names_.size() - 1);
  }
  uint32_t Tensor(std::string name, const Dims& dims, uint8_t dtype, uint8_t kind) {
    tensor_name_.push_back(Name(std::move(name)));
    dtype_.push_back(dtype);
    kind_.push_back(kind);
    Append(dims, &dims_, &dim_begin_);
    source_.push_back(SLUICE_SOURCE_NONE);
    source_offset_.push_back(0);
    return static_cast<uint32_t>(dtype_.size() - 1);
  }
  uint32_t Source(std::string name, const Dims& dims, uint8_t dtype, uint8_t source,
                  uint64_t offset) {
    const uint32_t tensor =
        Tensor(std::move(name), dims, dtype, SLUICE_TENSOR_CONSTANT);
    source_.back() = source;
    source_offset_.back() = offset;
    return tensor;
  }
  template <typename T>
  static void Append(const std::vector<T>& items, std::vector<T>* all,
                     std::vector<uint32_t>* begin) {
    all->insert(all->end(), items.begin(), items.end());
    begin->push_back(static_cast<uint32_t>(all->size()));
  }

  std::string name_;
  std::vector<std::string> names_;
  std::vector<uint32_t> tensor_name_, dim_begin_{0}, layer_name_, input_begin_{0},
      inputs_;
  std::vector<uint32_t> output_begin_{0}, outputs_, attribute_begin_{0},
      parameter_name_;
  std::vector<uint8_t> dtype_, kind_, source_, data_;
  std::vector<int32_t> dims_, attributes_, parameter_min_, parameter_max_;
  std::vector<uint64_t> source_offset_, encoded_;
  std::vector<uint16_t> op_;
};

// The processor that executes HOST calls. Declared outside of HardwareBuilder, because
// std::optional needs a complete type.
struct HardwareHost {
  uint64_t call_cycles = 0;
  uint64_t bytes_per_cycle_numerator = 0, bytes_per_cycle_denominator = 1;
  uint64_t ops_per_cycle_numerator = 0, ops_per_cycle_denominator = 1;
  double pj_per_cycle = 0;
  bool uses_port = false;  // of DRAM, for the bytes of every call
};

// A descriptor: the fields of hardware.fbs with its defaults. Nothing is checked here:
// ReadHardware says what is wrong.
struct HardwareBuilder {
  // One memory of the hierarchy.
  struct Level {
    std::string name;
    uint64_t capacity_bytes = 0;  // 0 = unbounded (DRAM)
    double read_pj_per_bit = 0, write_pj_per_bit = 0;
    uint64_t bytes_per_cycle_numerator = 0, bytes_per_cycle_denominator = 1;
    uint32_t instances = 1, alignment_bytes = 1;
    uint32_t may_hold = 7, must_hold = 0;  // 1 input, 2 weight, 4 output
    bool sliding = false;
  };
  // Parallel units below a level.
  struct Fanout {
    std::string name;
    uint32_t level = 0, extent = 1;
    uint32_t may_unroll = 127;  // sum of 1 N, 2 K, 4 C, 8 P, 16 Q, 32 R, 64 S
    bool multicast = true, reduction = true, forwarding = false;
    double transfer_pj_per_bit = 0, forward_pj_per_bit = 0;
  };

  // Granules of the MAC array; k 0: the descriptor has none.
  struct Array {
    uint32_t k = 0, c = 1, p = 1;  // output channels, input channels, pixels
    bool crosses_rows = true, packs_filter = false;
    uint32_t demands = 0;  // bits 1 k, 2 c, 4 p
    uint32_t fill_cycles = 0, drain_cycles = 0;
  };
  // An engine that executes instructions one after the other.
  struct Queue {
    std::string name;
    uint32_t operations = 3;  // bits 1 load, 2 store, 4 forward, 8 compute
    uint32_t roles = 31;      // SLUICE_ROLE_ bits that it loads and stores
    bool per_node = false;
    uint64_t latency_cycles = 0;
    uint32_t burst_bytes = 1;
    uint32_t max_row_bytes = 0, max_rows = 0, max_axes = 0;  // of one descriptor
    uint32_t descriptor_cycles = 0;
  };

  // A memory off chip beside the last level.
  struct Memory {
    std::string name;
    uint32_t regions = 0;    // SLUICE_MEMORY_HOLDS_ bits of build.h; each in one memory
    bool read_only = false;  // holds constants alone
    uint64_t capacity_bytes = 0, latency_cycles = 0;
    uint64_t bytes_per_cycle_numerator = 0, bytes_per_cycle_denominator = 1;
    double read_pj_per_bit = 0, write_pj_per_bit = 0;
  };

  // What the compute engines can do of one operator.
  struct OpSupport {
    uint32_t op = 0;          // SLUICE_OP_
    uint32_t dtypes = 62;     // bits 1 << SLUICE_DTYPE_
    uint32_t requantise = 7;  // bits 1 none, 2 per tensor, 4 per channel
    uint32_t arithmetic = 1;  // bits 1 exactly as ops.h, 2 float, 4 shifts
    uint32_t zero_points =
        7;  // that may differ from 0: bits 1 input 0, 2 input 1, 4 output
    uint32_t max_kernel_h = 0, max_kernel_w = 0, max_stride = 0, max_dilation = 0;
  };

  using Host = HardwareHost;

  std::string name;
  uint64_t clock_hz = 1000000000;
  std::vector<Level> levels;  // nearest the MACs first, DRAM last
  uint32_t scratchpad_level = 0;
  std::vector<Fanout> fanouts;
  uint64_t macs_per_cycle = 0, vector_ops_per_cycle = 0;
  double mac_pj = 0, vector_op_pj = 0, leakage_pj_per_cycle = 0;
  Array array;
  uint64_t dma_latency_cycles = 0;  // 0 where there are queues
  uint32_t dram_granule_bytes = 1;
  uint32_t node_cols = 1, node_rows = 1;
  double hop_pj_per_bit = 0;
  uint64_t hop_latency_cycles = 1;
  uint64_t link_bytes_per_cycle_numerator = 0, link_bytes_per_cycle_denominator = 1;
  uint32_t accumulator_bytes = 4;
  std::vector<Queue> queues;     // empty: one that loads and stores everything
  std::vector<OpSupport> ops;    // empty: every operator
  std::optional<Host> host;      // none: for OPAQUE layers alone
  std::vector<Memory> memories;  // empty: everything lies in the last level

  // hardware.fbs.
  std::vector<uint8_t> Bytes() const {
    detail::FlatWriter w("SLH1");
    detail::FlatWriter::Fields fields;
    fields.U32(0).Reference().U64(clock_hz).Reference().U32(scratchpad_level);
    fields.Reference().U64(macs_per_cycle).F64(mac_pj).U64(vector_ops_per_cycle);
    fields.F64(vector_op_pj).F64(leakage_pj_per_cycle);
    if (array.k != 0) {
      fields.Reference();
    } else {
      fields.Absent();
    }
    fields.U64(dma_latency_cycles).U32(dram_granule_bytes);
    fields.U32(node_cols).U32(node_rows).F64(hop_pj_per_bit).U64(hop_latency_cycles);
    fields.U64(link_bytes_per_cycle_numerator).U64(link_bytes_per_cycle_denominator);
    fields.U32(accumulator_bytes);
    const size_t lists = !memories.empty() ? 4
                         : host            ? 3
                         : !ops.empty()    ? 2
                         : !queues.empty() ? 1
                                           : 0;
    if (lists >= 1) fields.Absent();
    if (lists >= 1) queues.empty() ? fields.Absent() : fields.Reference();
    if (lists >= 2) ops.empty() ? fields.Absent() : fields.Reference();
    if (lists >= 3) host ? fields.Reference() : fields.Absent();
    if (lists >= 4) fields.Reference();
    const std::vector<size_t> at = w.Table(detail::FlatWriter::kNowhere, fields);
    w.String(at[1], name);
    const std::vector<size_t> level_at = w.References(at[3], levels.size());
    for (size_t i = 0; i < levels.size(); ++i) Write(levels[i], level_at[i], &w);
    const std::vector<size_t> fanout_at = w.References(at[5], fanouts.size());
    for (size_t i = 0; i < fanouts.size(); ++i) Write(fanouts[i], fanout_at[i], &w);
    if (array.k != 0) Write(array, at[11], &w);
    if (!queues.empty()) {
      const std::vector<size_t> queue_at = w.References(at[22], queues.size());
      for (size_t i = 0; i < queues.size(); ++i) Write(queues[i], queue_at[i], &w);
    }
    if (!ops.empty()) {
      const std::vector<size_t> op_at = w.References(at[23], ops.size());
      for (size_t i = 0; i < ops.size(); ++i) Write(ops[i], op_at[i], &w);
    }
    if (host) Write(*host, at[24], &w);
    if (!memories.empty()) {
      const std::vector<size_t> memory_at = w.References(at[25], memories.size());
      for (size_t i = 0; i < memories.size(); ++i) Write(memories[i], memory_at[i], &w);
    }
    return std::move(w).Take();
  }

 private:
  static void Write(const Array& array, size_t from, detail::FlatWriter* w) {
    detail::FlatWriter::Fields fields;
    fields.U32(array.k).U32(array.c).U32(array.p).U8(array.crosses_rows ? 1 : 0);
    fields.U8(array.packs_filter ? 1 : 0).U32(array.demands);
    fields.U32(array.fill_cycles).U32(array.drain_cycles);
    w->Table(from, fields);
  }
  static void Write(const Queue& queue, size_t from, detail::FlatWriter* w) {
    detail::FlatWriter::Fields fields;
    fields.Reference().U32(queue.operations).U32(queue.roles);
    fields.U8(queue.per_node ? 1 : 0).U64(queue.latency_cycles).U32(queue.burst_bytes);
    fields.U32(queue.max_row_bytes).U32(queue.max_rows).U32(queue.max_axes);
    fields.U32(queue.descriptor_cycles);
    w->String(w->Table(from, fields)[0], queue.name);
  }
  static void Write(const Memory& m, size_t from, detail::FlatWriter* w) {
    detail::FlatWriter::Fields fields;
    fields.Reference().U32(m.regions).U8(m.read_only ? 1 : 0).U64(m.capacity_bytes);
    fields.U64(m.latency_cycles).U64(m.bytes_per_cycle_numerator);
    fields.U64(m.bytes_per_cycle_denominator);
    fields.F64(m.read_pj_per_bit).F64(m.write_pj_per_bit);
    w->String(w->Table(from, fields)[0], m.name);
  }
  static void Write(const OpSupport& row, size_t from, detail::FlatWriter* w) {
    detail::FlatWriter::Fields fields;
    fields.U32(row.op).U32(row.arithmetic).U32(row.dtypes).U32(row.requantise);
    fields.U32(row.zero_points).U32(row.max_kernel_h).U32(row.max_kernel_w);
    fields.U32(row.max_stride).U32(row.max_dilation);
    w->Table(from, fields);
  }
  static void Write(const Host& h, size_t from, detail::FlatWriter* w) {
    detail::FlatWriter::Fields fields;
    fields.U64(h.call_cycles).U64(h.bytes_per_cycle_numerator);
    fields.U64(h.bytes_per_cycle_denominator).U64(h.ops_per_cycle_numerator);
    fields.U64(h.ops_per_cycle_denominator).F64(h.pj_per_cycle);
    fields.U8(h.uses_port ? 1 : 0);
    w->Table(from, fields);
  }
  static void Write(const Level& level, size_t from, detail::FlatWriter* w) {
    detail::FlatWriter::Fields fields;
    fields.Reference().U64(level.capacity_bytes).U32(level.instances);
    fields.F64(level.read_pj_per_bit).F64(level.write_pj_per_bit);
    fields.U64(level.bytes_per_cycle_numerator).U64(level.bytes_per_cycle_denominator);
    fields.U32(level.alignment_bytes);
    fields.U32(level.may_hold).U32(level.must_hold).U8(level.sliding ? 1 : 0);
    w->String(w->Table(from, fields)[0], level.name);
  }
  static void Write(const Fanout& fanout, size_t from, detail::FlatWriter* w) {
    detail::FlatWriter::Fields fields;
    fields.U32(fanout.level).U32(fanout.extent).U32(fanout.may_unroll);
    fields.U8(fanout.multicast ? 1 : 0).U8(fanout.reduction ? 1 : 0);
    fields.U8(fanout.forwarding ? 1 : 0).Reference();
    fields.F64(fanout.transfer_pj_per_bit).F64(fanout.forward_pj_per_bit);
    w->String(w->Table(from, fields)[6], fanout.name);
  }
};

}  // namespace sluice

#endif  // SLUICE_SLUICE_HPP_
