// docs/algorithms.md from the registries of losses and estimators, so that none is missing and no formula is
// another than the explainer's.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = "docs/algorithms.md";

/** MathML as one line of text. */
function textOf(mathml) {
  const tokens = mathml.match(/<[^>]+>|[^<]+/g) ?? [];
  let at = 0;
  function children(end) {
    const found = [];
    while (at < tokens.length && tokens[at] !== end) found.push(node());
    at++;
    return found;
  }
  const group = (text) => (/[\s+−·]/.test(text) ? `(${text})` : text);
  function node() {
    const token = tokens[at++];
    if (!token.startsWith("<")) return token;
    const name = /^<(\w+)/.exec(token)[1];
    if (token.endsWith("/>")) return " ";
    const inside = children(`</${name}>`);
    const [first = "", second = "", third = ""] = inside;
    switch (name) {
      case "mfrac":
        return `(${group(first)} / ${group(second)})`;
      case "msub":
        return /[ ≤]/.test(second) ? `${first}[${second.trim()}]` : `${first}_${second}`;
      case "msup":
        return `${first}^${second}`;
      case "msubsup":
        return `${first}_${second}${third}`;
      case "mover":
        return `${first}${second === "¯" ? "\u0304" : second}`;
      case "munder":
        return token.includes("data-symbol") ? first : `${first} over ${second} `;
      case "munderover":
        return `${first}[${second} to ${third}] `;
      case "msqrt":
        return `√(${inside.join("")})`;
      case "mtr":
        return `${first} if ${second}; `.replace("if else", "otherwise");
      case "mo":
        return /^[=−+·<>≤≥∈]$/.test(first) ? ` ${first} ` : first === "," ? ", " : first;
      default:
        return inside.join("");
    }
  }
  const all = [];
  while (at < tokens.length) all.push(node());
  return all
    .join("")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/\bln(?=[rπ(])/g, "ln ")
    .replace(/\s+/g, " ")
    .replace(/([[(]) ?− /g, "$1−")
    .replace(/(^|[(,=] ?) ?− /g, "$1−")
    .replace(/; \)/g, ")")
    .replace(/[;\s]+$/, "")
    .trim();
}

const sourceOf = (name) => {
  const folder = "src/learn/losses";
  const found = readdirSync(join(root, folder), { recursive: true }).find(
    (one) =>
      one.endsWith(".ts") &&
      new RegExp(`export const ${name}\\b`).test(readFileSync(join(root, folder, one), "utf8")),
  );
  return `../${folder}/${found}`;
};
/** The file that an estimator is defined in, below src/learn/estimators. */
const estimatorSource = (name) =>
  readdirSync(join(root, "src/learn/estimators"), { recursive: true })
    .filter((one) => /(?<!\.test)\.ts$/.test(one))
    .map((one) => `estimators/${one.replace(/\.ts$/, "")}`)
    .find((one) =>
      readFileSync(join(root, `src/learn/${one}.ts`), "utf8").includes(`  name: "${name}",\n`),
    );
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const cell = (text) => text.replaceAll("|", "\\|");

async function page() {
  const { lossRegistry } = await import("../../dist/src/learn/losses/registry.js");
  const { formulaOf } = await import("../../dist/src/learn/losses/base/definition.js");
  const { estimatorsByName } = await import("../../dist/src/learn/estimators/registry.js");
  const faults = estimatorsByName.names
    .filter((name) => estimatorSource(name) === undefined)
    .map((name) => `src/learn/estimators has no file for the estimator ${name}`);
  const credit = estimatorsByName.all.map(
    ({ name, formula }) =>
      `| \`${name}\` | ${cell(formula)} | [source](../src/learn/${estimatorSource(name)}.ts) |`,
  );
  const losses = lossRegistry.built.map((definition) => {
    const { name, options = {} } = definition;
    const lines = formulaOf(definition, {}).map(
      ({ title, mathml, when }) =>
        `- ${title}${when && !title.includes(when) ? ` (${when} advantage)` : ""}: \`${textOf(mathml)}\``,
    );
    const parameters = Object.entries(options).map(([one, { complete }]) => {
      const usual = complete(undefined);
      return `\`${one}\`${usual === undefined ? "" : ` (${usual})`}`;
    });
    const facts = [
      `aggregation \`${definition.aggregation}\``,
      definition.clips ? `clips the ${definition.clips}` : "does not clip",
      parameters.length > 0 ? `parameters ${parameters.join(", ")}` : "",
      definition.verl ? "in verl 0.9.1 under the same name" : "",
    ].filter(Boolean);
    return `### ${definition.title}\n\nSwitch: \`loss: "${name}"\`. ${facts.join("; ")}. [Source](${sourceOf(camel(name))}).\n\n${lines.join("\n")}\n`;
  });
  const text = `# Algorithms

\`\`\`ts
import { advantages, Policy, rollout, score, tasks, taskTools, update, world } from "arpo-lab";

const policy = await Policy.load("data/models/tiny");
const task = tasks.lookup({ seed: 3 }).train[0]!;
const tree = await rollout(policy, task, { preset: "arpo", tools: taskTools(world), n: 8 });
const batch = advantages(await score(tree), { estimator: "rloo" });
const report = await update(policy, batch, { loss: "cispo", clipRatioHigh: 0.28 });
\`\`\`

Every advantage estimator and every policy loss: its formula, its switch and its source. Any estimator works with any loss. This page is generated
from the code by \`npm run check -- --write\`; \`explain(batch)\` shows each formula with the numbers of a token.

| To choose | In a cell | In a configuration |
| --- | --- | --- |
| the estimator | \`advantages(scored, { estimator })\` | \`algorithm.adv_estimator\` |
| the loss | \`update(policy, batch, { loss })\` | \`actor_rollout_ref.actor.policy_loss.loss_mode\` |
| the branching rule | \`rollout(policy, task, { rule })\` | \`lab.branch_rule\` |
| all three as published | \`preset\` | \`--preset\` |

[The family of methods](family.md) says which method uses which. Branching rules: [rollouts](rollout.md), [other methods](branching.md).

## Advantage estimators

| \`estimator\` | advantage of a token | |
| --- | --- | --- |
${credit.join("\n")}

## Policy losses

In the formulas r_t is the ratio p_new / p_old of token t, A_t its advantage, π_θ the policy that trains, π_old the one that sampled, ℓ_t the
token's loss, and sg(x) is x without a gradient.

${losses.join("\n")}`;
  return { text, faults };
}

/** Where docs/algorithms.md is not what the code says, as sentences. */
export async function checkAlgorithms(write) {
  const { text, faults } = await page();
  const path = join(root, file);
  const words = (all) => all.replace(/\s+/g, " ").replace(/-{3,}/g, "---").trim();
  if (write && (!existsSync(path) || words(readFileSync(path, "utf8")) !== words(text)))
    writeFileSync(path, text);
  const kept = existsSync(path) ? readFileSync(path, "utf8") : "";
  return words(kept) === words(text)
    ? faults
    : [...faults, `${file}: \`npm run check -- --write\` writes it anew`];
}
