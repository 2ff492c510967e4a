import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { completions } from "./commands/completions.js";
import { examples, leavesOf, wordsOf } from "./examples.js";
import { arpoLab } from "./program.js";

const program = arpoLab();
const page = fileURLToPath(new URL("../../../docs/cli.md", import.meta.url));
const leaves = leavesOf(program).filter((command) => command.name() !== "sidecar");

/** The command that a line of the shell calls. */
function called(line: string): Command {
  const [, ...words] = line.split(" ");
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (!next) break;
    command = next;
  }
  return command;
}

test("every command's help shows an example, and examples use options that exist", () => {
  assert.deepEqual(Object.keys(examples).sort(), leaves.map(wordsOf).sort());
  for (const [words, lines] of Object.entries(examples)) {
    for (const line of lines) {
      const command = called(line);
      assert.ok(words.startsWith(wordsOf(command)), `${words}: ${line}`);
      for (const [, option] of line.replace(/ -- .*/, "").matchAll(/ (--[a-z-]+)/g)) {
        const own = leaves.find((one) => wordsOf(one) === words)!.options;
        assert.ok(
          own.some(({ long }) => long === option),
          `${line} has no option ${option}`,
        );
      }
    }
  }
  let help = "";
  const train = program.commands.find((command) => command.name() === "train")!;
  train.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  assert.match(help, /\nExamples:\n {2}arpo-lab train --preset arpo/);
});

test("help shows no empty default", () => {
  for (const command of leaves) {
    assert.doesNotMatch(command.helpInformation(), /default: (\{\}|\[\])/, wordsOf(command));
  }
});

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

function section(command: Command): string {
  const help = command.createHelp();
  const rows = [
    ...help
      .visibleArguments(command)
      .map((one) => [help.argumentTerm(one), help.argumentDescription(one)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help")
      .map((one) => [help.optionTerm(one), help.optionDescription(one)]),
  ];
  return [
    `## ${wordsOf(command)}`,
    `${help.commandDescription(command).replace(/^./, (first) => first.toUpperCase())}.`,
    ["```sh", ...examples[wordsOf(command)]!, "```"].join("\n"),
    `Usage: \`${help.commandUsage(command)}\``,
    ...(rows.length === 0
      ? []
      : [
          [
            "| argument or option | meaning |",
            "| --- | --- |",
            ...rows.map(
              ([term, text]) => `| \`${term!.replaceAll("|", "\\|")}\` | ${cell(text!)} |`,
            ),
          ].join("\n"),
        ]),
  ].join("\n\n");
}

test("docs/cli.md is what the commands say; ARPO_LAB_UPDATE=1 writes it anew", () => {
  const text = [
    "# Command line",
    "```sh\nnpx arpo-lab --help          # all commands\nnpx arpo-lab train --help    # one command\n```",
    "Every command prints its options and examples with `--help`. This page is generated from the commands\n(`apps/cli/program.test.ts`). `arpo-lab completions bash`, `zsh` or `fish` prints a completion script.",
    "<!-- prettier-ignore-start -->",
    ...leaves.map(section),
    "<!-- prettier-ignore-end -->",
  ].join("\n\n");
  if (process.env["ARPO_LAB_UPDATE"]) writeFileSync(page, `${text}\n`);
  assert.equal(readFileSync(page, "utf8"), `${text}\n`);
});

test(
  "completions offer commands and options by what was typed, as bash runs them",
  { skip: process.platform === "win32" },
  () => {
    const complete = (...words: string[]) => {
      const typed = ["arpo-lab", ...words].map((word) => `'${word}'`).join(" ");
      const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _arpo_lab; echo "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync(
        "bash",
        ["-c", `${completions("bash", program)}\n${ask}`],
        {
          encoding: "utf8",
        },
      );
      assert.equal(stderr, "");
      return stdout.trim().split(" ");
    };
    assert.deepEqual(complete("tr"), ["train", "train-tiny"]);
    assert.ok(!complete("").includes("sidecar"));
    assert.deepEqual(complete("jobs", "st"), ["stop"]);
    assert.deepEqual(complete("train", "--preset", "arpo", "--o"), ["--out"]);
    for (const shell of ["zsh", "fish"] as const) {
      const script = completions(shell, program);
      for (const command of leaves) assert.match(script, new RegExp(`\\b${command.name()}\\b`));
    }
    assert.match(completions("fish", program), /seen_subcommand_from jobs; and .*-a '.*--help'/);
  },
);
