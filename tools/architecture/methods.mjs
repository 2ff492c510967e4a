// In how many product files a method's name stands: its rule and its estimator, each with its registry. A method that a
// fifth file knows of has a special case there, which belongs into its definition. Names are the registries', so a new
// method is counted as it is added. Losses count where `src/learn/losses` is taken off `elsewhere`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, sources } from "./imports.mjs";

const most = 4;

/** Not counted: the API's exports, and what is measured of losses. */
const elsewhere = /^src\/(api|learn\/losses)\/|\.test\.ts$|\/testing\//;

/** Methods that stand in more files, and why. */
const larger = new Map([
  [
    "appo",
    [21, "its name is also a signal's, a loss's, of two switches of compat and of a rule to place"],
  ],
  ["at2po", [5, "the explainer's example of its loss"]],
  ["redraw", [5, "the signal that is for it alone, and the presets, which it has none of"]],
  ["treepo", [6, "a switch of compat, read where trees grow"]],
  ["treerl", [5, "its sums and its trees stand in two files"]],
  ["tree-grpo", [5, "the explainer's example of its loss"]],
]);

const pattern = (name) => new RegExp(name.replace(/[-_]/g, "-?_?"), "i");

/** Methods that stand in more product files than they may. */
export async function spreadMethods() {
  const { ruleDefinitions } = await import("../../dist/src/rollout/rules/registry.js");
  const { estimatorDefinitions } = await import("../../dist/src/learn/estimators/registry.js");
  const methods = [...ruleDefinitions, ...estimatorDefinitions].map(({ name }) =>
    name.replaceAll("_", "-"),
  );
  const files = sources()
    .filter((file) => /^(src|apps|common)\//.test(file) && !elsewhere.test(file))
    .map((file) => [file, readFileSync(join(root, file), "utf8")]);
  return [...new Set(methods)].flatMap((name) => {
    const named = files.filter(([, text]) => pattern(name).test(text)).map(([file]) => file);
    const [allowed] = larger.get(name) ?? [most];
    return named.length > allowed
      ? [`${name}: ${named.length}, at most ${allowed}: ${named.join(", ")}`]
      : [];
  });
}
