// Every block of the documentation. `sh` and `yaml` are read as their commands would, and not run. `ts` and `js`
// run: those of a page are the cells of one notebook, in an empty folder. Blocks with a file name are files: the
// tests named below follow those pages. Blocks that need a server, a browser or hours are marked `no-run`; what
// they import must exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { parse } from "yaml";
import { checkOptions } from "../../common/options/check-options.js";
import { seeds as parseSeeds } from "../../apps/cli/terminal/values.js";
import { arpoLab } from "../../apps/cli/program.js";
import type { ConfigPreset } from "../../src/run/config/presets.js";
import { loadConfig } from "../../src/api/index.js";
import { loadSftConfig } from "../../src/run/sft/sft-config.js";
import { planOf } from "../../src/run/sweep/plan.js";
import { sweepRules } from "../../src/run/sweep/sweep-options.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-blocks-"));
after(() => rmSync(folder, { recursive: true }));

const pages = [
  ...["README.md", "notebooks/README.md"],
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter(
      (name) =>
        name.endsWith(".md") && !/^docs\/(internal\/|site\/|api-report|CHANGELOG)/.test(name),
    ),
];

/** Pages that a test of their own follows. */
const followed: Readonly<Record<string, string>> = {
  "docs/capture.md": "tests/docs/capture.test.ts",
  "docs/environments.md": "tests/docs/environments.test.ts",
  "docs/mcp.md": "tests/docs/interop.test.ts",
  "docs/openenv.md": "tests/python/openenv.slow.test.ts",
  "docs/own.md": "tests/docs/own.slow.test.ts",
  "docs/project.md": "tests/docs/own.slow.test.ts",
  "docs/rewards.md": "tests/docs/own.slow.test.ts",
  "docs/rollout.md": "tests/docs/interop.test.ts",
  "docs/serve.md": "tests/serve/docs.test.ts",
  "docs/structured-outputs.md": "tests/docs/interop.test.ts",
  "docs/verifiers.md": "tests/docs/interop.test.ts",
};

/** The same program at a size for a test. */
const smaller: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  "docs/branch-values.md": [
    [/train: 40/, "train: 2"],
    [/K: 16/, "K: 2"],
  ],
  "docs/models.md": [[/"models\/SmolLM2[^"]*"/, '"data/models/tiny"']],
  "docs/sweeps.md": [
    [/budget\.tokens=20000/, "budget.tokens=1200"],
    [/tokens_per_step=2500/, "tokens_per_step=600"],
    [/seeds: \[1, 2, 3, 4, 5\]/, "seeds: [1, 2]"],
    [/at: 18_000/, "at: 1_000"],
  ],
};

interface Block {
  language: string;
  /** What stands behind the language: a file's name, or `no-run`. */
  label: string;
  code: string;
}
const blocksOf = (page: string): Block[] =>
  [
    ...readFileSync(join(root, page), "utf8").matchAll(
      /^```(ts|js)(?: (\S+)[^\n]*)?\n([^]*?)^```$/gm,
    ),
  ].map(([, language = "", label = "", code = ""]) => ({ language, label, code }));

let skipped = 0;
for (const page of pages) {
  const blocks = blocksOf(page);
  const file = blocks.find(({ label }) => label.includes("."));
  const follower = followed[page];
  if (file || follower) {
    test(`${page}: a test follows it`, () => {
      assert.ok(follower, `no test writes and runs ${file?.label}`);
      const name = page.replace(/^docs\//, "").replace(/\.md$/, "");
      assert.ok(readFileSync(join(root, follower), "utf8").includes(name), follower);
    });
  }
  const idle = blocks.filter(({ label }) => label === "no-run");
  skipped += idle.length;
  if (idle.length > 0) {
    test(`${page}: what its ${idle.length} unrun blocks import exists`, async () => {
      for (const { code } of idle) {
        for (const [, names = "", from = ""] of code.matchAll(
          /import (?:type )?\{([^}]*)\} from "(arpo-lab[^"]*)"/g,
        )) {
          const there = (await import(from)) as object;
          for (const name of names.split(",").map((one) => one.trim()))
            assert.ok(name in there, `${from} has no ${name}`);
        }
      }
    });
  }
  const cells = follower && !file ? [] : blocks.filter(({ label }) => label === "");
  if (cells.length === 0) continue;
  test(`${page}: its ${cells.length} blocks run in a notebook, in their order`, () => {
    const name = page.replace(/\W+/g, "-");
    const sources = cells.map(({ code }) =>
      (smaller[page] ?? []).reduce((text, [from, to]) => text.replace(from, to), code),
    );
    const notebook = {
      ...{ nbformat: 4, nbformat_minor: 5 },
      metadata: { kernelspec: { name: "arpo-lab", display_name: "", language: "typescript" } },
      cells: sources.map((source, i) => ({
        ...{
          cell_type: "code",
          id: `c${i}`,
          metadata: {},
          outputs: [],
          execution_count: null,
          source,
        },
      })),
    };
    writeFileSync(join(folder, `${name}.ipynb`), JSON.stringify(notebook));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "apps/cli/bin/arpo-lab.mjs"), "run", `${name}.ipynb`, "--out", "out.ipynb"],
      { cwd: folder, encoding: "utf8" },
    );
    assert.equal(status, 0, stdout + stderr);
  });
}

test("few blocks are not run", () => {
  assert.ok(skipped > 0 && skipped <= 20, `${skipped} blocks`);
});

/** The words of a line of the shell, as far as the documentation's lines need it. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/["']/g, ""));

interface FoundCommand {
  text: string;
  /** It is named in a sentence, where what it takes may be left out. */
  inline: boolean;
}

/** Every command of a page, in its shell blocks and between backticks, without what it is joined with. */
function commandsOf(page: string): FoundCommand[] {
  const blocks = [...page.matchAll(/^```(?:sh|bash)[^\n]*\n([^]*?)^```$/gm)];
  // A usage line (`[options]`) is no command.
  const named = [...page.matchAll(/(?<!`)`((?:npx )?(?:arpo-lab|npm run) [^`[\n]+)`(?!`)/g)];
  const split = (code: string, inline: boolean) =>
    code
      .replace(/\\\n\s*/g, " ")
      .replace(/ ?>+ ?\S+/g, "")
      .split("\n")
      .map((line) => line.replace(/(^|\s)#.*/, ""))
      .flatMap((line) => line.split(/&&|\|\||[|;&()]|\bdo\b|\bdone\b/))
      .map((text) => ({ text: text.trim().replace(/^([A-Z_]+=\S* )+|^npx /g, ""), inline }));
  return [
    ...blocks.flatMap(([, code = ""]) => split(code, false)),
    ...named.flatMap(([, code = ""]) => split(code.replace(" key=value", ""), true)),
  ];
}

/** Parses a command as `arpo-lab` would and runs nothing: unknown commands, options and keys throw. */
async function tryCommand(words: readonly string[], strict = true): Promise<void> {
  let found: Command | undefined;
  const program = arpoLab();
  const quiet = (command: Command) => {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    if (command.commands.length === 0) command.action(() => void (found = command));
    command.commands.forEach(quiet);
  };
  quiet(program);
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (/help|version/i.test(code)) return;
    if (!strict && /missing(Argument|MandatoryOptionValue)|optionMissingArgument/.test(code))
      return;
    throw error;
  }
  const at = found?.registeredArguments.findIndex((one) => one.name().includes("overrides")) ?? -1;
  if (!found || at < 0 || found.name() === "sft") return;
  const overrides = (found.processedArgs[at] as string[]).filter((one) =>
    /^[+~\w.]+(=|$)/.test(one),
  );
  const keys = overrides.filter((one) => !/\.ya?ml$/.test(one));
  await loadConfig({ preset: (found.opts().preset ?? []) as ConfigPreset[], overrides: keys });
}

test("every command in the shell blocks exists, with its options and keys", async () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const faults: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const { text, inline } of commandsOf(readFileSync(join(root, page), "utf8"))) {
      const [name, ...words] = wordsOf(text.replace(/\$\{?\w+\}?/g, "1"));
      if (name === "npm" && words[0] === "run") {
        count++;
        if (!(words[1]! in scripts)) faults.push(`${page}: ${text}: no such script`);
      }
      if (name !== "arpo-lab") continue;
      count++;
      await tryCommand(words, !inline).catch((error: Error) =>
        faults.push(`${page}: ${text}: ${error.message}`),
      );
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(count > 100, `${count} commands`);
});

/** Reads a YAML block as the command that its keys belong to would. */
async function tryYaml(text: string): Promise<void> {
  const value = parse(text) as Record<string, unknown>;
  if ("arms" in value) {
    const { seeds, compare, ...given } = value;
    const options = { ...given, seeds: typeof seeds === "string" ? parseSeeds(seeds) : seeds };
    checkOptions("sweep", { folder, ...options } as never, sweepRules);
    await planOf({ folder, ...options } as never);
    checkOptions("compare", compare as never, { at: "number?", margin: "number?" } as never);
  } else if ("model_name_or_path" in value) {
    const file = join(folder, "block.yaml");
    writeFileSync(file, text);
    await loadSftConfig(file, []);
  } else {
    const tools = { actor_rollout_ref: { rollout: { tools: value } } };
    await loadConfig({ values: ("tool_instances" in value ? tools : value) as never });
  }
}

test("every YAML block is read by the command that it is for", async () => {
  const faults: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const [, code = ""] of readFileSync(join(root, page), "utf8").matchAll(
      /^```ya?ml[^\n]*\n([^]*?)^```$/gm,
    )) {
      count++;
      await tryYaml(code).catch((error: Error) => faults.push(`${page}: ${error.message}`));
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(count >= 5, `${count} blocks`);
});

test("a command, an option, a key or a YAML key that does not exist is refused", async () => {
  for (const line of [
    "trian --preset arpo",
    "eval data/models/tiny --smaples 2",
    "train --preset arpo trainer.total_steps=4",
    "convert only-one",
  ]) {
    await assert.rejects(tryCommand(wordsOf(line)), line);
  }
  for (const text of [
    "arms: { a: { presett: grpo } }\nseeds: 1..2\n",
    "model_name_or_path: x\nlearnig_rate: 1\n",
    "trainer: { total_steps: 2 }\n",
  ]) {
    await assert.rejects(tryYaml(text), text);
  }
});
