// SPDX-License-Identifier: Apache-2.0
// The HTML page of a report: it holds the plan's data, and no name can end its script.
// bindings/python/tests opens it in a browser.
#include "cli/plan_page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/hardware_files.h"
#include "cli/session.h"
#include "tests/cli/tiny_addition.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

// A tiny model's plan; the machine's name has characters that HTML must escape.
PlanFiles TinyPlan() {
  PlanFiles files;
  files.graph = TinyAddition();
  files.hardware = LoadHardware("mcu-256k");
  files.hardware_name = "</script><b>\\";
  Session session(0);
  session.LoadGraph(files.graph);
  session.LoadHardware(files.hardware);
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  session.Schedule(options);
  files.plan = session.PlanBytes();
  return files;
}

// The JSON that the page's script reads.
Json DataOf(const std::string& page) {
  const std::string start = "<script type=\"application/json\" id=\"data\">";
  const size_t from = page.find(start) + start.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST_CASE("page: its data are the plan's, the same twice") {
  const PlanFiles files = TinyPlan();
  const std::string page = PlanPage({files});
  CHECK(page == PlanPage({files}));
  const Json data = DataOf(page);
  REQUIRE(data.size() == 1);
  const Json& plan = data[0];
  uint64_t bytes = 0, busy = 0;
  for (const Json& traffic : plan["traffic"]) bytes += traffic["bytes"].get<uint64_t>();
  CHECK(bytes == plan["report"]["dram_read_bytes"].get<uint64_t>() +
                     plan["report"]["dram_write_bytes"].get<uint64_t>());
  for (const Json& row : plan["rows"]) {
    for (const Json& bar : row["bars"]) busy += bar[4].get<uint64_t>();
  }
  CHECK(busy > 0);
  CHECK(!plan["layers"].empty());
  CHECK(!plan["buffers"][0]["pieces"].empty());
  CHECK(!plan["map"].empty());
}

TEST_CASE("page: no name ends the script, and nothing is asked of a network") {
  const std::string page = PlanPage({TinyPlan(), TinyPlan()});
  const Json data = DataOf(page);
  REQUIRE(data.size() == 2);
  CHECK(data[1]["title"].get<std::string>().find("</script><b>") != std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  for (const char* word : {"http:", "https:", "//cdn", "@import", "src="}) {
    CHECK_MESSAGE(page.find(word) == std::string::npos, word);
  }
}

}  // namespace
}  // namespace sluice::cli
