// SPDX-License-Identifier: Apache-2.0
// The manual page, in the macros of man(7).
#include <iostream>

#include "cli/commands.h"
#include "cli/option_text.h"
#include "sluice/sluice.h"

namespace sluice::cli {
namespace {

constexpr char kHowItEnds[] = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
Infeasible: proved that there is no plan.
.TP
.B 2
Bad input.
.TP
.B 3
Wrong usage.
.TP
.B 4
Stopped by a limit, without a result.
.TP
.B 5
A judge said no.
.TP
.B 6
Input, output or memory.
.SH SIGNALS
SIGINT and SIGTERM end the searches of schedule, reschedule, map, segments, place, curve,
coschedule and dse. The command prints and writes the best that it has found until then, says so
(in JSON: "interrupted"), and ends with 0; with 4 where there is no result yet, and where
combinations of dse are open, which the same command goes on with. A second signal ends it at
once, as the first one ends other commands.
.SH ENVIRONMENT
.TP
.B NO_COLOR
If it is set, nothing is coloured, on terminals either.
)";

// Escapes text for roff: no line is taken as a request, hyphens stay ASCII.
std::string Roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string Joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}

void WriteOption(const OptionText& option) {
  std::cout << ".TP\n";
  for (size_t i = 0; i < option.names.size(); ++i) {
    std::cout << (i == 0 ? "" : ", ") << "\\fB" << Roff(option.names[i]) << "\\fR";
  }
  if (!option.positional && !option.value.empty()) {
    std::cout << " \\fI" << Roff(option.value) << "\\fR";
  }
  std::string text = option.description;
  if (!option.choices.empty()) text += " (" + Joined(option.choices, ", ") + ")";
  if (!option.standard.empty()) text += " [" + option.standard + "]";
  if (option.required && !option.positional) text += "; required";
  std::cout << "\n" << (text.empty() ? "\\&" : Roff(Capital(text))) << "\n";
}

void WriteCommand(const CommandText& command, const std::string& above) {
  std::string line = above + " " + command.name;
  for (const OptionText& option : command.options) {
    if (!option.positional) continue;
    line += option.required ? " " + option.names[0] : " [" + option.names[0] + "]";
  }
  std::cout << ".SS \"" << Roff(line) << "\"\n"
            << Roff(Capital(command.description)) << ".\n";
  for (const OptionText& option : command.options) WriteOption(option);
  if (!command.footer.empty()) {
    std::cout << ".PP\n.nf\n" << Roff(command.footer) << "\n.fi\n";
  }
  for (const CommandText& sub : command.commands) {
    WriteCommand(sub, above + " " + command.name);
  }
}

}  // namespace

void Run(const ManualCommand& command) {
  const CommandText text = TextOf(*command.app);
  std::cout
      << ".\\\" Written by `sluice manual`.\n.TH SLUICE 1 \"\" \"sluice "
      << sluice_version() << "\" \"User Commands\"\n.SH NAME\nsluice \\- "
      << Roff("schedules quantised neural networks on accelerators")
      << "\n.SH SYNOPSIS\n.B sluice\n.I COMMAND\n[options]\n.SH DESCRIPTION\n"
      << Roff(text.description)
      << "\nEach command takes \\fB\\-\\-help\\fR; most take \\fB\\-\\-json\\fR.\n"
      << ".SH OPTIONS\n";
  for (const OptionText& option : text.options) WriteOption(option);
  std::cout << ".SH COMMANDS\n";
  for (const CommandText& sub : text.commands) WriteCommand(sub, text.name);
  std::cout << kHowItEnds;
}

}  // namespace sluice::cli
