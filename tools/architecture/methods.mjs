// In how many product files a method's name stands: its rule and its estimator, each with its registry, and the definition
// of its loss. A loss's name stands in its definition and its registry. A method that a fifth file knows of has a special case there, which belongs into its
// definition. Names are the registries', so a new method is counted as it is added.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, sources } from "./imports.mjs";

const most = 4;

/** Not counted: the API's exports and tests. */
const elsewhere = /^src\/api\/|\.test\.ts$|\/testing\//;
const isLoss = (path) => path.startsWith("src/learn/losses/");

/** Methods and losses that stand in more files, and why. */
const larger = new Map([
  ["appo", [6, "a public signal (branch/family/signals.ts) bears its name"]],
  [
    "vanilla",
    [17, "the default loss: switches and corrections are for it alone; an option of AT2PO too"],
  ],
  ["gpg", [10, "an estimator too; the loss without a ratio, which a correction and examples take"]],
  ["turn", [8, "a plain word: what a ratio or a colour is of, a field of a sample, parts of keys"]],
]);

/** As a name, and as a title: `APPO (rollout)`. */
const spelled = (name) => name.replace(/[-_]/g, "[-_ (]*");

/** Text without the names that contain another one: `appo-rollout` is no mention of `appo`. */
const without = (text, names) =>
  names.length === 0 ? text : text.replace(new RegExp(names.map(spelled).join("|"), "gi"), "");

/** The files that name a method, in any spelling. */
function namingMethod(name, names, files) {
  const longer = names.filter((other) => other !== name && other.includes(name));
  const pattern = new RegExp(spelled(name), "i");
  return files.filter(([, text]) => pattern.test(without(text, longer)));
}

/** The files that name a loss: in quotes, since some are words, or by its file. */
function namingLoss(name, files) {
  const written = spelled(name);
  const pattern = new RegExp(`["'\`]${written}["'\`]|/${written}\\.js"`);
  return files.filter(([, text]) => pattern.test(text));
}

/**
 * Names that stand in more files than they may. The definition of a method's own loss is one more, and so is a loss
 * of a method's name.
 *
 * @param {[path: string, text: string][]} files
 * @param {{ methods: string[], losses: string[] }} known
 */
export function spreadIn(files, known, allowed = larger) {
  const dashed = (names) => [...new Set(names.map((name) => name.replaceAll("_", "-")))];
  const [methods, lossNames] = [dashed(known.methods), dashed(known.losses)];
  const faults = (name, named, more) => {
    const paths = named.map(([path]) => path);
    const [count] = allowed.get(name) ?? [more(paths) ? most + 1 : most];
    return paths.length > count
      ? [`${name}: ${paths.length}, at most ${count}: ${paths.join(", ")}`]
      : [];
  };
  return [
    ...methods.flatMap((name) =>
      faults(name, namingMethod(name, methods, files), (paths) => paths.some(isLoss)),
    ),
    ...lossNames.flatMap((name) =>
      faults(name, namingLoss(name, files), () => methods.includes(name)),
    ),
  ];
}

/** Methods and losses that stand in more product files than they may. */
export async function spreadMethods() {
  const { ruleDefinitions } = await import("../../dist/src/rollout/rules/registry.js");
  const { estimatorDefinitions } = await import("../../dist/src/learn/estimators/registry.js");
  const { lossRegistry } = await import("../../dist/src/learn/losses/registry.js");
  const files = sources()
    .filter((file) => /^(src|apps|common)\//.test(file) && !elsewhere.test(file))
    .map((file) => [file, readFileSync(join(root, file), "utf8")]);
  return spreadIn(files, {
    methods: [...ruleDefinitions, ...estimatorDefinitions].map(({ name }) => name),
    losses: lossRegistry.names,
  });
}
