// SPDX-License-Identifier: Apache-2.0
#include "cli/option_text.h"
#include "sluice/presets.h"
#include "sluice/zoo.h"

namespace sluice::cli {
namespace {

// Splits CLI11's type text: "TEXT:{edp,latency}" has choices, "UINT:INT in [1 - 8]"
// only a type.
void SplitType(const std::string& type, OptionText* text) {
  const size_t colon = type.find(':');
  text->value = type.substr(0, colon);
  if (colon == std::string::npos || type[colon + 1] != '{' || type.back() != '}')
    return;
  std::string choice;
  for (size_t i = colon + 2; i < type.size(); ++i) {
    if (type[i] != ',' && i + 1 != type.size()) {
      choice += type[i];
      continue;
    }
    text->choices.push_back(choice);
    choice.clear();
  }
}

OptionText TextOf(const CLI::Option& option) {
  OptionText text;
  text.positional = option.get_positional();
  text.required = option.get_required();
  text.description = option.get_description();
  text.standard = option.get_default_str();
  if (text.positional) {
    text.names.push_back(option.get_name(true, false));
  } else {
    for (const std::string& name : option.get_snames())
      text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
      text.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() != 0) SplitType(option.get_type_name(), &text);
  return text;
}

}  // namespace

CommandText TextOf(const CLI::App& app) {
  CommandText text;
  text.name = app.get_name();
  text.description = app.get_description();
  text.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    text.options.push_back(TextOf(*option));
  }
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    text.commands.push_back(TextOf(*sub));
  }
  return text;
}

std::vector<std::string> KnownValues(const std::string& command,
                                     const OptionText& option) {
  const std::string& name = option.names.back();
  std::vector<std::string> known = option.choices;
  if (name == "--hw" || name == "--against-hw" || (command == "hw" && name == "name")) {
    for (uint32_t i = 0; i < sluice_preset_count(); ++i) {
      known.push_back(sluice_preset_name(i));
    }
  }
  if (command == "zoo" && name == "name") {
    for (uint32_t i = 0; i < sluice_zoo_count(); ++i) {
      known.push_back(sluice_zoo_name(i));
    }
  }
  return known;
}

}  // namespace sluice::cli
