// SPDX-License-Identifier: Apache-2.0
// The C functions of zoo.h.
#include "import/border.h"
#include "import/graph_writer.h"
#include "import/training/training.h"
#include "import/unread_pixels.h"
#include "sluice/zoo.h"
#include "zoo/zoo.h"

using sluice::zoo::ZooEntries;

uint32_t sluice_zoo_count(void) { return static_cast<uint32_t>(ZooEntries().size()); }

const char* sluice_zoo_name(uint32_t index) {
  return index < ZooEntries().size() ? ZooEntries()[index].name : nullptr;
}

const char* sluice_zoo_text(uint32_t index) {
  return index < ZooEntries().size() ? ZooEntries()[index].text : nullptr;
}

sluice_status_t sluice_zoo_graph(const char* name, const sluice_zoo_options_t* options,
                                 sluice_bytes_t* out_graph,
                                 sluice_diagnostic_t* diagnostic) {
  using namespace sluice::import;
  if (out_graph != nullptr) *out_graph = {nullptr, 0};
  return Guarded(diagnostic, "zoo", [&] {
    MustBeThere(name, "name");
    MustBeThere(out_graph, "out_graph");
    const sluice_zoo_options_t known = Complete(options, "options");
    sluice::zoo::ZooOptions sizes;
    sizes.batch = known.batch == 0 ? 1 : known.batch;
    sizes.seq = known.seq;
    sizes.context = known.context;
    sizes.blocks = known.blocks;
    if (known.out_report != nullptr) *known.out_report = nullptr;
    ImportResult made = {};
    Bytes graph = sluice::zoo::MakeZooGraph(name, sizes);
    if (known.training != 0 && known.skip_unread != 0) {
      throw Error(
          Fault::kBadArgument,
          "skip_unread: a training step reads all pixels; leave one of the two out");
    }
    if (known.training != 0) graph = MakeTrainingGraph(graph);
    if (known.skip_unread != 0) {
      GraphWriter writer(graph);
      made.skipped = SkipUnreadPixels(&writer);
      graph = writer.Finish();
    }
    HandOver(graph, known.allocator, out_graph);
    if (known.out_report == nullptr) return;
    made.rows = ReadRows(graph);
    *known.out_report = NewReport(&made, graph.size());
  });
}
