// SPDX-License-Identifier: Apache-2.0
// COSMA's fourteen networks at three budgets: what a plan moves, and the four schemes.
//
// Input   networks of the zoo; how they are read; what is measured
// Output  a row of JSON per network, setting and budget; mean reductions over rows
// Source  COSMA V-A; Fig. 3, Fig. 4, Table II
#ifndef SLUICE_TESTS_BENCH_COSMA_EVALUATION_H_
#define SLUICE_TESTS_BENCH_COSMA_EVALUATION_H_

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tests/bench/cosma_networks.h"
#include "tests/solve/placement/spill/schemes.h"

namespace sluice_bench {

struct Subject {
  const char* zoo;
  const char* title;  // as the paper calls it
  bool searched;      // by architecture search
  // The least peaks that an earlier search found, without parameters and with them, where
  // they were higher: M_H and M_P were more. 0: the same.
  int64_t earlier_peaks[2] = {0, 0};
};
constexpr Subject kSubjects[] = {
    {"resnet50", "ResNet-50", false},
    {"densenet121", "DenseNet", false},
    {"resnext50", "ResNeXt", false},
    {"r2plus1d_18", "R(2+1)D", false},
    {"s3d", "S3D", false},
    {"fcn", "FCN", false},
    {"lraspp", "L-RASPP", false},
    {"deeplabv3", "DeepLabV3", false},
    {"transformer", "Transformer", false, {2293760, 3348480}},
    {"vit_b_16", "ViT", false},
    {"pnasnet5", "PNASNet-5", true},
    {"amoebanet_d", "AmoebaNet-D", true},
    {"nasnet_a", "NASNet-A", true},
    {"darts", "DARTS", true}};

constexpr std::pair<const char*, sluice_test::Fit> kFits[] = {
    {"first fit", sluice_test::Fit::kFirst},
    {"best fit", sluice_test::Fit::kBest},
    {"next fit", sluice_test::Fit::kNext}};

// What a row tells besides the plan's bytes, the schemes' and the check.
enum class Tells {
  kFigures,  // bounds that took longer, in place, operators that run again, fixed orders
  kSchemes   // the schemes with each way of fitting alone
};

class Evaluation {
 public:
  using Json = nlohmann::ordered_json;

  explicit Evaluation(Tells tells, NetOptions options = {})
      : tells_(tells), options_(options) {}

  void Add(const Subject& subject, bool parameters);

  const Json& rows() const { return rows_; }

  // Mean of 1 - ours / scheme over the rows that qualify and over the schemes that move
  // bytes. `what` names the field of the row that is ours, `against` that of the
  // schemes; only: those of these whose names begin so.
  template <typename Qualifies>
  double Reduction(Qualifies qualifies, const char* what = "bytes",
                   const char* against = "schemes", const char* only = nullptr) const {
    double sum = 0;
    int count = 0;
    for (const Json& row : rows_) {
      if (!qualifies(row)) continue;
      const double ours = row[what].template get<double>();
      for (const auto& [name, bytes] : row[against].items()) {
        if (bytes.template get<double>() == 0 ||
            (only != nullptr && name.rfind(only, 0) != 0)) {
          continue;
        }
        sum += 1 - ours / bytes.template get<double>();
        ++count;
      }
    }
    return count == 0 ? 0 : 100 * sum / count;
  }

  // The reduction of the bytes of all rows and schemes together.
  template <typename Qualifies>
  double ReductionOfSums(Qualifies qualifies, const char* what) const {
    double ours = 0, theirs = 0;
    for (const Json& row : rows_) {
      if (!qualifies(row)) continue;
      for (const Json& bytes : row["schemes"]) {
        ours += row[what].template get<double>();
        theirs += bytes.template get<double>();
      }
    }
    return theirs == 0 ? 0 : 100 * (1 - ours / theirs);
  }

 private:
  Json Row(const Subject& subject, const sluice_test::Net& net, int64_t capacity,
           const std::vector<uint32_t>& by_peak, bool parameters) const;
  void AddFigures(const Subject& subject, const std::vector<uint8_t>& graph,
                  bool parameters, const std::vector<uint32_t>& by_peak,
                  Json* row) const;

  const Tells tells_;
  const NetOptions options_;
  Json rows_ = Json::array();
};

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_COSMA_EVALUATION_H_
