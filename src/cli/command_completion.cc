// SPDX-License-Identifier: Apache-2.0
// Scripts that complete commands, options and their values, for three shells. A value
// without a known list is completed as a file name.
#include <iostream>

#include "cli/commands.h"
#include "cli/option_text.h"

namespace sluice::cli {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// Escapes text for single quotes of the shell.
std::string Quoted(const std::string& text, const char* quote) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string(quote) : std::string(1, c);
  return out;
}

std::vector<std::string> NamesOf(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  return names;
}

// Completions of a command: options, subcommands, and known values of positionals.
std::vector<std::string> WordsOf(const CommandText& command) {
  std::vector<std::string> words = NamesOf(command.commands);
  for (const OptionText& option : command.options) {
    const std::vector<std::string> more =
        option.positional ? KnownValues(command.name, option) : option.names;
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

void WriteBash(const CommandText& app) {
  std::cout
      << "# Completion for bash, written by `sluice completion bash`.\n"
         "_sluice() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command=${COMP_WORDS[1]} words= files=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '"
      << Joined(WordsOf(app))
      << "' -- \"$word\"))\n    return\n  fi\n  case $command:$before in\n";
  for (const CommandText& command : app.commands) {
    for (const OptionText& option : command.options) {
      if (option.positional || option.value.empty()) continue;
      std::string pattern;
      for (const std::string& name : option.names) {
        pattern += (pattern.empty() ? "" : " | ") + command.name + ":" + name;
      }
      const bool closed = !option.choices.empty();
      std::cout << "    " << pattern << ") words='"
                << Joined(KnownValues(command.name, option))
                << "' files=" << (closed ? "" : "1") << " ;;\n";
    }
  }
  std::cout << "    *)\n      case $command in\n";
  for (const CommandText& command : app.commands) {
    std::cout << "        " << command.name << ") words='" << Joined(WordsOf(command))
              << "' files=1 ;;\n";
  }
  std::cout << "      esac ;;\n  esac\n"
               "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
               "  if [ -n \"$files\" ] && [ \"${word#-}\" = \"$word\" ]; then\n"
               "    COMPREPLY+=($(compgen -f -- \"$word\"))\n  fi\n}\n"
               "complete -o filenames -F _sluice sluice\n";
}

// Escapes colons, brackets and quotes for an argument of zsh's _arguments.
std::string ZshText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string ZshValues(const CommandText& command, const OptionText& option) {
  const std::vector<std::string> known = KnownValues(command.name, option);
  if (known.empty()) return "_files";
  const std::string list = "(" + Joined(known) + ")";
  if (!option.choices.empty()) return list;
  return "{ compadd -- " + Joined(known) + "; _files }";
}

void WriteZsh(const CommandText& app) {
  std::cout << "#compdef sluice\n# Completion for zsh, written by `sluice completion "
               "zsh`.\n_sluice() {\n  local -a commands\n  commands=(\n";
  for (const CommandText& command : app.commands) {
    std::cout << "    '" << command.name << ":" << ZshText(command.description)
              << "'\n";
  }
  std::cout << "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n"
               "    return\n  fi\n  local command=$words[2]\n  shift words\n"
               "  (( CURRENT-- ))\n  case $command in\n";
  for (const CommandText& command : app.commands) {
    std::cout << "    " << command.name << ")\n      _arguments";
    for (const OptionText& option : command.options) {
      if (option.positional) continue;
      for (const std::string& name : option.names) {
        std::cout << " \\\n        '*" << name << "[" << ZshText(option.description)
                  << "]";
        if (!option.value.empty()) {
          std::cout << ":" << ZshText(option.value) << ":"
                    << ZshValues(command, option);
        }
        std::cout << "'";
      }
    }
    std::vector<std::string> known = NamesOf(command.commands);
    for (const OptionText& option : command.options) {
      if (!option.positional) continue;
      for (const std::string& value : KnownValues(command.name, option)) {
        known.push_back(value);
      }
    }
    std::cout << " \\\n        '*:file:"
              << (known.empty() ? "_files"
                                : "{ compadd -- " + Joined(known) + "; _files }")
              << "' ;;\n";
  }
  std::cout << "  esac\n}\n_sluice \"$@\"\n";
}

void WriteFish(const CommandText& app) {
  std::cout << "# Completion for fish, written by `sluice completion fish`.\n";
  const auto text = [](const std::string& words) { return Quoted(words, "\\'"); };
  for (const CommandText& command : app.commands) {
    std::cout << "complete -c sluice -f -n __fish_use_subcommand -a " << command.name
              << " -d '" << text(command.description) << "'\n";
    const std::string when =
        "complete -c sluice -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const std::string& name : NamesOf(command.commands)) {
      std::cout << when << " -a " << name << "\n";
    }
    for (const OptionText& option : command.options) {
      const std::string known = Joined(KnownValues(command.name, option));
      if (option.positional) {
        if (!known.empty()) std::cout << when << " -a '" << known << "'\n";
        continue;
      }
      std::cout << when;
      for (const std::string& name : option.names) {
        const size_t dashes = name.compare(0, 2, "--") == 0 ? 2 : 1;
        std::cout << (dashes == 2 ? " -l " : " -s ") << name.substr(dashes);
      }
      if (!option.value.empty()) std::cout << (option.choices.empty() ? " -r" : " -x");
      if (!known.empty()) std::cout << " -a '" << known << "'";
      std::cout << " -d '" << text(option.description) << "'\n";
    }
  }
}

}  // namespace

void Run(const CompletionCommand& command) {
  const CommandText app = TextOf(*command.app);
  if (command.shell == "bash") return WriteBash(app);
  if (command.shell == "zsh") return WriteZsh(app);
  WriteFish(app);
}

}  // namespace sluice::cli
