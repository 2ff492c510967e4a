import { Argument, Command } from "commander";
import { say } from "../terminal/say.js";

/** What may follow each command's words: its commands and long options. */
function candidates(command: Command, words = ""): [words: string, next: string[]][] {
  const commands = command.commands.filter(
    (one) => !(one as Command & { _hidden?: boolean })._hidden,
  );
  const options = command.options.map(({ long }) => long).filter((long) => long != null);
  const next = [...commands.map((one) => one.name()), ...options, "--help"];
  return [
    [words, next],
    ...commands.flatMap((one) => candidates(one, `${words} ${one.name()}`.trim())),
  ];
}

/** A shell's completion script, from the commands as they are; files are completed where nothing else fits. */
export function completions(shell: "bash" | "zsh" | "fish", program: Command): string {
  const all = candidates(program);
  if (shell === "fish") {
    return all
      .map(([words, next]) => {
        const seen = words
          .split(" ")
          .filter(Boolean)
          .map((word) => `__fish_seen_subcommand_from ${word}; and `);
        const none = words === "" ? "__fish_use_subcommand; and " : "";
        return `complete -c arpo-lab -n '${none}${seen.join("")}true' -a '${next.join(" ")}'`;
      })
      .join("\n");
  }
  const cases = all.map(([words, next]) => `    "${words}") next="${next.join(" ")}" ;;`);
  const known = all.map(([words]) => `"${words}"`).filter((words) => words !== '""');
  const script = [
    "_arpo_lab() {",
    '  local path="" word next="" i',
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    '    word="${path:+$path }${COMP_WORDS[i]}"',
    `    case "$word" in ${known.join("|")}) path="$word" ;; esac`,
    "  done",
    '  case "$path" in',
    ...cases,
    "  esac",
    '  COMPREPLY=($(compgen -W "$next" -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -o default -F _arpo_lab arpo-lab",
  ];
  const zsh = [
    "autoload -U +X compinit && compinit",
    "autoload -U +X bashcompinit && bashcompinit",
  ];
  return [...(shell === "zsh" ? zsh : []), ...script].join("\n");
}

/** `arpo-lab completions SHELL`: completes commands and options in a shell. */
export function completionsCommand(program: Command): Command {
  return new Command("completions")
    .description("print a shell's completion script")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .action((shell: "bash" | "zsh" | "fish") => say(completions(shell, program)));
}
