// SPDX-License-Identifier: Apache-2.0
// Numbers for people: aligned lines with units.
#ifndef SLUICE_CLI_REPORT_H_
#define SLUICE_CLI_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice::cli {

std::string Grouped(uint64_t value);        // 1,234,567
std::string BytesText(uint64_t bytes);      // 1.21 MiB
std::string EnergyText(double picojoules);  // 3.45 uJ
std::string TimeText(double seconds);       // 1.23 ms
std::string Hex64(uint64_t value);          // 16 digits
std::string Fixed(double value, int decimals);

// One heading and lines of label, value and remark, columns aligned.
class Report {
 public:
  explicit Report(std::string heading) : heading_(std::move(heading)) {}
  void Line(std::string label, std::string value, std::string remark = {});
  std::string Text() const;

 private:
  struct Row {
    std::string label, value, remark;
  };
  std::string heading_;
  std::vector<Row> rows_;
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_REPORT_H_
