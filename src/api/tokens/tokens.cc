// SPDX-License-Identifier: Apache-2.0
// A stream's waits as tokens. A build without them has src/absent/tokens.cc instead.
#include "lower/tokens.h"

#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "sluice/lowering.h"

struct sluice_token_lists {
  explicit sluice_token_lists(sluice::Memory* memory) : arena(memory) {}
  sluice::Arena arena;
  sluice::TokenLists lists;
};

sluice_status_t sluice_tokens(sluice_context_t* context, const void* stream,
                              size_t stream_size, const sluice_token_options_t* options,
                              sluice_token_lists_t** out_lists,
                              sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  if (out_lists != nullptr) *out_lists = nullptr;
  sluice_token_options_t own;
  if (context == nullptr || stream == nullptr || out_lists == nullptr ||
      !sluice::ReadStruct(options, &own) ||
      (own.channels == nullptr && own.channel_count != 0) ||
      own.channel_count > SLUICE_TOKEN_CHANNELS_MAX) {
    return report.BadArgument(
        "context, stream and output pointer must not be null, channels at most 64, "
        "options of a known version");
  }
  const sluice::TokenCall call = {{static_cast<const uint8_t*>(stream), stream_size},
                                  {own.channels, own.channel_count}};
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  return report.Done(
      sluice::Make(context, out_lists, [&](sluice_token_lists_t* object) {
        return sluice::MakeTokens(call, &object->arena, &object->lists, report.get());
      }));
}

void sluice_token_lists_destroy(sluice_token_lists_t* lists) { sluice::Destroy(lists); }

sluice_status_t sluice_token_lists_view(const sluice_token_lists_t* lists,
                                        sluice_token_view_t* out_view) {
  if (lists == nullptr) return SLUICE_BAD_ARGUMENT;
  const sluice::TokenLists& from = lists->lists;
  sluice_token_view_t view = {};
  view.struct_size = sizeof view;
  view.instructions = static_cast<uint32_t>(from.instruction.size());
  view.relays = static_cast<uint32_t>(from.relay.size());
  view.channels = static_cast<uint32_t>(from.channel.size());
  view.common_depth = from.common_depth;
  view.instruction = from.instruction.data();
  view.relay = from.relay.data();
  view.visits = static_cast<uint32_t>(from.visit.size());
  view.visit = from.visit.data();
  view.channel = from.channel.data();
  return sluice::WriteStruct(view, out_view);
}
