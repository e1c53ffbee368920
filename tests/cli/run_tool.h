// SPDX-License-Identifier: Apache-2.0
// Runs the tool as a user does.
//
// Input    its arguments, as a shell reads them; where its complaints go
// Output   what it printed; its exit code, or -1
#ifndef SLUICE_TESTS_CLI_RUN_TOOL_H_
#define SLUICE_TESTS_CLI_RUN_TOOL_H_

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace sluice::cli {

constexpr char kWithComplaints[] = " 2>&1";
constexpr char kWithoutComplaints[] = " 2>/dev/null";

inline int RunTool(const std::string& arguments, const char* complaints,
                   std::string* text) {
  FILE* pipe = popen(("\"" SLUICE_TOOL "\" " + arguments + complaints).c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  text->clear();
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    text->append(buffer, n);
  }
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace sluice::cli

#endif  // SLUICE_TESTS_CLI_RUN_TOOL_H_
