// SPDX-License-Identifier: Apache-2.0
// What an importer hands over: a graph, its figures, and what could not be expressed.
//
// Input    none: plain structs, filled by the importers
// Output   the lists of sluice_import_report_t, by import_c.cc
#ifndef SLUICE_IMPORT_IMPORT_RESULT_H_
#define SLUICE_IMPORT_IMPORT_RESULT_H_

#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "import/error.h"
#include "import/graph_rows.h"
#include "sluice/import.h"

namespace sluice::import {

// A graph file has less than 2 GiB, and needs some of them for what is no constant.
constexpr uint64_t kMostConstantBytes = (uint64_t{1} << 31) - (1u << 24);
// Reasons with what to do.
constexpr char kDependingExtents[] =
    "results whose extents depend on numbers: let the model end in front of it and do "
    "it "
    "behind";
constexpr char kRandomNumbers[] = "random numbers: make them an input of the model";
constexpr char kText[] = "text or tables of text: do it in front of the model";
constexpr char kCustom[] =
    "an operator of your own: with --allow-opaque the host calls a function of its "
    "name, "
    "which you give to the simulator and the driver";

struct UnsupportedOperator {
  std::string name;    // "CUSTOM:Foo"
  std::string reason;  // empty: the importer does not know the operator
  uint32_t count;
  std::string where = "";  // the first of them
};

struct ImportResult {
  std::list<Bytes> kept;  // constants computed at import
  GraphRows rows;         // may refer to these, and to bytes of the model
  uint32_t operators, layers, tensors, inputs, outputs;
  uint64_t constant_bytes;
  std::vector<UnsupportedOperator> opaque;
  // Operators that host functions compute. The import adds them to `opaque` at its end.
  std::vector<UnsupportedOperator> hosted;
  // Floating-point operators that became int8 layers of the same shapes with seeded
  // weights: plans and their costs are the model's, computed numbers are not. Empty:
  // the graph computes what the model computes.
  std::vector<UnsupportedOperator> shapes_only;
  // Operators whose layers compute the model's integers except beside ties: where the exact
  // result lies close to a tie between two integers, the model's runtime may give the other.
  std::vector<UnsupportedOperator> rounded;
  // Operators that left no layer: computed at import, or not needed by any output.
  std::vector<UnsupportedOperator> folded;
  // Layers that leave out rows and columns which no layer reads, by operator.
  std::vector<UnsupportedOperator> skipped;
  std::vector<std::string> interface;  // one line for each input and output
  bool
      quantised;  // floats became int8 numbers by given ranges, with the model's weights
};

// Reasons of operators in `folded`.
constexpr char kPartOfNeighbour[] = "part of another layer, or the same bytes";
constexpr char kComputedAtImport[] = "computed at import";
constexpr char kByHostFunction[] = "by a host function";
constexpr char kNotNeeded[] = "no output needs it";

// The report of a graph that was made without a model, with the figures of its rows. The
// caller gives it to sluice_import_report_destroy.
sluice_import_report* NewReport(ImportResult* made, size_t graph_bytes);

// Adds one operator to the list. Equal entries become one with a count.
void CountOperator(std::vector<UnsupportedOperator>* list, const std::string& name,
                   const std::string& reason, const std::string& where = "");
// The model uses operators that cannot be expressed, or (kBadInput) has dimensions that
// are not fixed or tensors without a range. Lists all of them.
class Refusal : public Error {
 public:
  // `name` is the list's number in the report (SLUICE_IMPORT_).
  Refusal(uint32_t name, std::string message, std::vector<UnsupportedOperator> list)
      : Error(name == SLUICE_IMPORT_REFUSED ? Fault::kUnsupported : Fault::kBadInput,
              std::move(message)),
        name_(name),
        list_(std::move(list)) {}
  uint32_t name() const { return name_; }
  const std::vector<UnsupportedOperator>& list() const { return list_; }

 private:
  uint32_t name_;
  std::vector<UnsupportedOperator> list_;
};

// Throws a Refusal that lists all these operators.
[[noreturn]] void FailUnsupported(const std::vector<UnsupportedOperator>& list);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_IMPORT_RESULT_H_
