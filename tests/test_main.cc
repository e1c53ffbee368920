// SPDX-License-Identifier: Apache-2.0
// The main program of all doctest tests. A test case that cannot run says so with
// MESSAGE("skipped: why"). When every case that was asked for has said so without
// checking anything, the program ends with 77, which ctest shows as "Skipped".
// A failure is always a failure, whatever was skipped beside it. A run that selects no
// case is a failure too: a misspelt name must not look like a test that passes.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int kSkipped = 77;
bool has_run = false;  // stays false where names are only listed
int cases = 0;
int skipped_cases = 0;

class SkipListener : public doctest::IReporter {
 public:
  explicit SkipListener(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData&) override { says_skipped_ = false; }
  void log_message(const doctest::MessageData& message) override {
    const char* text = message.m_string.c_str();
    if (std::strncmp(text, "skipped: ", 9) != 0) return;
    says_skipped_ = true;
    std::snprintf(why_, sizeof why_, "%s", text + 9);
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    ++cases;
    if (!says_skipped_) return;
    if (stats.numAssertsCurrentTest > 0) {
      std::printf("skipped in part: %s\n", why_);
    } else {
      std::printf("skipped: %s\n", why_);
      ++skipped_cases;
    }
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override { has_run = true; }
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  bool says_skipped_ = false;
  char why_[400] = "";
};

REGISTER_LISTENER("skips", 1, SkipListener);

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (result != 0 || !has_run) return result;
  if (cases == 0) {
    std::printf("no test case was selected by:");
    for (int i = 1; i < argc; ++i) std::printf(" '%s'", argv[i]);
    std::printf("\n");
    return 1;
  }
  return skipped_cases == cases ? kSkipped : 0;
}
