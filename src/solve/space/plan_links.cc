// SPDX-License-Identifier: Apache-2.0
#include "solve/space/plan_links.h"

#include <string.h>

#include <initializer_list>

#include "base/checked.h"

namespace sluice {
namespace {

// Copies what a link holds to where it stays.
Status TakeRoom(Span<const Held> held, PlanLink* link, PlanLinks* links) {
  link->room = {};
  for (size_t i = links->free.size();
       i-- > 0 && link->room.empty() && i + 8 > links->free.size();) {
    if (links->free[i].size() < held.size()) continue;
    link->room = links->free[i];
    links->free[i] = links->free[links->free.size() - 1];
    links->free.Truncate(links->free.size() - 1);
  }
  if (link->room.empty())
    SLUICE_TRY(links->arena->Allocate(held.size() + 4, &link->room));
  for (size_t h = 0; h < held.size(); ++h) link->room[h] = held[h];
  link->node.held = link->room.Slice(0, held.size());
  return Status::kOk;
}

}  // namespace

bool IsLater(const SpaceNode& than, const SpaceNode& node) {
  const int64_t by = node.compute - than.compute;
  bool is = node.dma - than.dma == by && node.stored - than.stored == by &&
            node.window_size == than.window_size;
  for (int k = 0; is && k < node.window_size; ++k) {
    is = node.window[k].start - than.window[k].start == by &&
         node.window[k].free == than.window[k].free;
  }
  return is;
}

void Delay(int64_t by, double energy_pj, SpaceNode* node) {
  for (int64_t* clock : {&node->compute, &node->dma, &node->stored}) *clock += by;
  for (int k = 0; k < node->window_size; ++k) node->window[k].start += by;
  node->energy_pj += energy_pj;
}

void TakeNodes(const Sequence<SpaceNode>& nodes, uint32_t last, PlanLinks* links) {
  uint32_t i = last;
  for (; nodes[i].before != kNone; i = nodes[i].before) ++links->count;
  links->start = nodes[i];
  i = last;
  for (size_t k = links->count; k-- > 0; i = nodes[i].before) {
    links->all[k].node = nodes[i];
  }
}

Status PriceLinks(SegmentMemo* segments, const Prices& prices, PlanLinks* links) {
  for (size_t k = 0; k < links->count; ++k) {
    PlanLink* link = &links->all[k];
    const SpaceNode& node = link->node;
    if (!segments->Make({links->Before(k).held, node.first, node.last, node.loops})) {
      return Status::kInternal;
    }
    link->cost = segments->cost();
    link->times = prices.TimesOf(link->cost);
  }
  return Status::kOk;
}

void ListLinks(const PlanLinks& links, Span<KnownSegment> segments) {
  for (KnownSegment& known : segments) known.last = 0;
  for (size_t k = 0; k < links.count; ++k) {
    const SpaceNode& node = links.all[k].node;
    segments[node.first] = {node.last, node.loops};
  }
}

Status ReplaceLinks(size_t i, size_t replaced, Span<const PlanLink> fresh,
                    PlanLinks* links) {
  const Span<PlanLink> all = links->all;
  for (size_t k = i; k < i + replaced; ++k) {
    if (!all[k].room.empty()) SLUICE_TRY(links->free.Push(all[k].room));
  }
  const size_t rest = links->count > i + replaced ? links->count - i - replaced : 0;
  if (fresh.size() != replaced && rest != 0) {
    memmove(&all[i + fresh.size()], &all[i + replaced], rest * sizeof(PlanLink));
  }
  links->count = i + fresh.size() + rest;
  for (size_t k = 0; k < fresh.size(); ++k) {
    all[i + k] = fresh[k];
    SLUICE_TRY(TakeRoom(fresh[k].node.held, &all[i + k], links));
  }
  return Status::kOk;
}

void SetClocks(const Prices& prices, size_t k, bool hasty, PlanLinks* links) {
  for (; k < links->count; ++k) {
    SpaceNode node = links->Before(k);
    const SpaceNode was = links->all[k].node;
    prices.Advance(links->all[k].cost, links->all[k].times, &node);
    node.first = was.first;
    node.last = was.last;
    node.loops = was.loops;
    node.held = was.held;
    links->all[k].node = node;
    if (!hasty || !IsLater(was, node)) continue;
    while (++k < links->count) {
      Delay(node.compute - was.compute, node.energy_pj - was.energy_pj,
            &links->all[k].node);
    }
  }
}

}  // namespace sluice
