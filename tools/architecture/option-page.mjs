// docs/options.md from the tables of options: the name, the functions that take it, its default, its key in a configuration,
// and the sentence that stands beside it in the table.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { parse } from "./imports.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = "docs/options.md";
const built = (path) => import(join(root, "dist", path.replace(/\.ts$/, ".js")));

/** Functions that take what `trainOn` takes, besides their own. */
const run = "`trainOn`";
const losses = "src/learn/losses/base/options.ts";

/** The tables by section: file, name, the functions that take it, what stands before a name. */
const sections = [
  [
    "Rollouts",
    ["src/rollout/settings.ts", "rolloutSettings", `\`rollout\`, ${run}`],
    ["src/rollout/settings.ts", "dynamicTable", `\`rollout\`, ${run}`, "dynamicRollouts."],
    ["src/rollout/options.ts", "callOptions", "`rollout`"],
  ],
  ["Advantages", ["src/learn/advantage-settings.ts", "advantageTable", `\`advantages\`, ${run}`]],
  [
    "Updates",
    ["src/learn/update/update-settings.ts", "updateTable", `\`update\`, ${run}`],
    ["src/learn/distillation/options.ts", "distillationTable", `\`update\`, ${run}`],
    ...[
      "clipTable",
      "aggregationTable",
      "arithmeticTable",
      "balanceTable",
      "rowTable",
      "termTable",
    ].map((table) => [losses, table, `\`update\`, ${run}`]),
    ["src/learn/update/critic-settings.ts", "criticTable", "`Critic`"],
  ],
  [
    "Runs in a cell",
    ["src/run/config/run-table.ts", "runTable", run],
    ["src/run/staleness/options.ts", "stalenessTable", run],
    ["src/run/config/run-table.ts", "budgetTable", run, "budget."],
    ["src/run/config/run-table.ts", "warmupTable", run, "warmup."],
  ],
  [
    "Fine-tuning",
    ["src/learn/sft/train.ts", "sftTable", "`fineTune`"],
    ["src/learn/sft/fine-tune.ts", "cellTable", "`fineTune`"],
  ],
  [
    "Evaluation",
    ["src/eval/evaluate-tasks.ts", "taskTable", "`evaluate` of tasks"],
    ["src/eval/infer/options.ts", "inferenceTable", "`evaluate` of benchmarks"],
    ["src/eval/infer/infer.ts", "samplesTable", "`evaluate` of benchmarks"],
    ["src/eval/evaluate-benchmarks.ts", "benchmarksTable", "`evaluate` of benchmarks"],
  ],
];

/** Choices whose options stand in no table. */
const choices = {
  Advantages: ["estimator", "`advantages`", "`grpo`", "How scores become advantages."],
  Updates: ["loss", "`update`", "`vanilla`", "What the update minimises."],
};

/** The sentence of a comment, and the default that it says. */
function words(comment) {
  const text = comment
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/\s*\n\s*\* ?/g, " ")
    .trim()
    .replace(/^@default (.*)/, "Default: $1.");
  const [, before = "", usual = "", after = ""] =
    /^(.*?)\s*Default:? (.+?)\.?(?=$|(?<=\.) (?=[A-Z`])(.*))/s.exec(text.trim()) ?? [];
  return usual === ""
    ? { sentence: text, usual }
    : { sentence: `${before} ${after}`.trim(), usual };
}

/** The comments of a table's options, by name. */
function commentsOf(path, table) {
  const source = parse(path);
  const text = source.getFullText();
  const found = new Map();
  const visit = (node) => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === table) {
      for (const member of node.initializer.properties ?? []) {
        if (!member.name) continue;
        const comment = (ts.getLeadingCommentRanges(text, member.getFullStart()) ?? [])
          .map(({ pos, end }) => text.slice(pos, end))
          .findLast((one) => one.startsWith("/**"));
        if (comment) found.set(member.name.getText(), words(comment));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const cell = (text) => text.replaceAll("|", "\\|").replace(/\s+/g, " ").trim();
const row = ({ name, taken, usual, path, sentence }) =>
  `| \`${name}\` | ${taken} | ${cell(usual)} | ${path ? `\`${path}\`` : ""} | ${cell(sentence)} |`;
const heading =
  "| option | taken by | default | key | what it does |\n| --- | --- | --- | --- | --- |";
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The rows of a table. */
async function rowsOf([path, table, taken, before = ""], { ofOneCall, ofRun, faults }) {
  const { [table]: options = {} } = await built(path);
  const { choiceOptions: keyOf } = await built("src/run/config/option-keys.ts");
  return [...commentsOf(path, table)].map(([name, said]) => {
    const only = ofOneCall.has(name) ? taken.replace(`, ${run}`, "") : taken;
    const { key, complete } = options[name] ?? {};
    const place = key?.path ?? (taken.includes(run) || ofRun.has(name) ? keyOf[name] : "");
    const by = complete?.(undefined);
    if (said.usual === "" && by !== undefined) said.usual = `\`${by}\``;
    if (said.sentence === "")
      faults.push(`${path}: ${table}.${name}: its comment must say what it does`);
    const shown = place?.replace(/^sft\./, "");
    return row({ ...said, name: before + name, taken: only, path: shown });
  });
}

/** Settings of choices: of losses, estimators and rules. */
async function choiceRows() {
  const { lossRegistry } = await built("src/learn/losses/registry.ts");
  const { familyDefinitions, optionName } = await built("src/learn/estimators/registry.ts");
  const { ruleDefinitions } = await built("src/rollout/rules/registry.ts");
  const shown = (value) => (value === null ? "open" : `\`${JSON.stringify(value)}\``);
  const ofLosses = lossRegistry.built.flatMap(({ name: loss, options = {} }) =>
    Object.entries(options).map(([name, { key, complete }]) => {
      const usual = complete?.(undefined);
      const said = key ? key.said.replace(`${loss}: `, "") : "";
      const sentence = `Loss \`${loss}\`${said && `: ${said}`}.`;
      const by = usual === undefined ? "the loss's" : shown(usual);
      return row({ name, taken: `\`update\`, ${run}`, usual: by, path: key?.path, sentence });
    }),
  );
  const settings = (owner, table, taken, nameOf, pathOf) =>
    Object.entries(table).map(([name, { value, says }]) =>
      row({
        ...{ name: nameOf(name), taken, usual: shown(value), path: pathOf(snake(name)) },
        sentence: `${owner}: ${says}.`,
      }),
    );
  const ofEstimators = familyDefinitions().flatMap(({ name, settings: table }) =>
    settings(
      `Estimator \`${name}\``,
      table,
      `\`advantages\`, ${run}`,
      (one) => `${optionName(name)}.${one}`,
      (one) => `lab.credit.${name}.${one}`,
    ),
  );
  const ofRules = ruleDefinitions.flatMap(({ name, settings: table }) =>
    settings(
      `Rule \`${name}\``,
      table,
      `\`rollout\`, ${run}`,
      (one) => `expand.${one}`,
      (one) => `lab.expand.${one}`,
    ),
  );
  return [
    ["Losses", ofLosses],
    ["Estimators", ofEstimators],
    ["Rules that look at what was written", ofRules],
  ];
}

async function page() {
  const { cellRules } = await built("src/run/trainer/cell-options.ts");
  const { rolloutSettings } = await built("src/rollout/settings.ts");
  const { updateTable } = await built("src/learn/update/update-settings.ts");
  const taken = cellRules({});
  const ofOneCall = new Set(
    Object.keys({ ...rolloutSettings, ...updateTable }).filter((name) => !(name in taken)),
  );
  const inCells = new Set(["rule", "expand", "preset", "tools", "environment", "signal"]);
  for (const name of ["promptsAtOnce", "refillsAhead"]) inCells.add(name);
  const { choiceOptions: keyOf } = await built("src/run/config/option-keys.ts");
  const [parts, faults] = [[], []];
  for (const [title, ...tables] of sections) {
    const rows = [];
    if (choices[title]) {
      const [name, taken, usual, sentence] = choices[title];
      rows.push(row({ name, taken: `${taken}, ${run}`, usual, path: keyOf[name], sentence }));
    }
    for (const table of tables)
      rows.push(...(await rowsOf(table, { ofOneCall, ofRun: inCells, faults })));
    const own = rows.map((line) => {
      const [, name] = /^\| `(\w+)` \| `rollout` \|/.exec(line) ?? [];
      return inCells.has(name) ? line.replace("| `rollout` |", `| \`rollout\`, ${run} |`) : line;
    });
    parts.push(`## ${title}\n\n<!-- prettier-ignore -->\n${heading}\n${own.join("\n")}`);
  }
  for (const [title, rows] of await choiceRows())
    parts.push(`## ${title}\n\n<!-- prettier-ignore -->\n${heading}\n${rows.join("\n")}`);
  const text = `# Options

\`\`\`ts
import { trainOn, Policy } from "arpo-lab";

const policy = await Policy.load("data/models/tiny");
const tasks = [{ prompt: "What is 6 times 7?", groundTruth: "42" }];
const options = { preset: "arpo", klLossCoefficient: 0.01, sampling: { topP: 0.9 } } as const;
await trainOn(policy, tasks, { ...options, steps: 1 });
\`\`\`

Every option by the name that functions give it, the same in all of them, and its key in a configuration. A file, a command line and a
sweep take the name too: \`npx arpo-lab train klLossCoefficient=0.01\`. \`rule\`, \`estimator\` and \`loss\` take a definition of your own
([add your own](extending.md)). This page is generated from the code by \`npm run check -- --write\`.

Defaults are those of functions. Where a configuration has another one, [its page](config.md) says it; \`trainOn\` lays the presets \`arpo\`
and \`tiny\` below. Keys of fine-tuning are those of LLaMA-Factory's file ([fine-tuning](sft.md)).

${parts.join("\n\n")}
`;
  return { text, faults };
}

/** Where docs/options.md is not what the code says, as sentences. */
export async function checkOptionPage(write) {
  const { text, faults } = await page();
  const path = join(root, file);
  if (write) writeFileSync(path, text);
  return existsSync(path) && readFileSync(path, "utf8") === text
    ? faults
    : [...faults, `${file}: \`npm run check -- --write\` writes it anew`];
}
