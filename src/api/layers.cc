// SPDX-License-Identifier: Apache-2.0
// What each layer of a plan costs.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "plan/layer_costs.h"
#include "sluice/experimental.h"

sluice_status_t sluice_plan_layers(sluice_context_t* context,
                                   const sluice_graph_t* graph,
                                   const sluice_hardware_t* hardware,
                                   const sluice_plan_t* plan, sluice_layer_list_t* list,
                                   sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_layer_list_t own;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      plan == nullptr || list == nullptr || !sluice::ReadStruct(list, &own)) {
    return report.BadArgument(
        "context, graph, hardware, plan and list must not be null, structs of a known "
        "version");
  }
  own.count = static_cast<uint32_t>(graph->graph.layers.size());
  const bool room = own.costs != nullptr && own.capacity >= own.count;
  (void)sluice::WriteStruct(own, list);
  if (!room) return SLUICE_BUFFER_TOO_SMALL;
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena scratch(&context->memory);
  return report.Done(sluice::CostLayers(
      {graph->graph, hardware->hardware, plan->plan, plan->judged}, &scratch,
      sluice::Span<sluice_layer_cost_t>(own.costs, own.count), report.get()));
}
