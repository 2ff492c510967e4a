// A page replays a tree's branches under other settings. Of a rule's definition it needs where the rule branches, and
// no more: everything else (settings with their checks, what is read of a trajectory, words, doctor's advice) was asked
// in Node and stands in the payload. So the bundler is given definitions with these members alone.
import { readFile } from "node:fs/promises";
import ts from "typescript";

const kept = new Set(["name", "choose", "segments", "decide", "reads", "draws"]);
const makers = new Set(["defineRule", "defineAttemptRule"]);

/** A definition's source with the members alone that a page needs. */
function halfOf(source, path) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const cuts = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && makers.has(node.expression.getText())) {
      for (const one of node.arguments[0].properties ?? [])
        if (!kept.has(one.name?.getText())) cuts.push(one);
    } else ts.forEachChild(node, visit);
  };
  visit(file);
  return cuts.reduceRight((text, { pos, end }) => {
    const comma = text[end] === "," ? 1 : 0;
    return text.slice(0, pos) + text.slice(end + comma);
  }, source);
}

/** What a page does not use of a source is left out: none of them does anything when it is read but say what there is. */
export const rulesInPages = {
  name: "rules-in-pages",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === rulesInPages) return undefined;
      const { errors, path: found } = await build.resolve(path, {
        ...{ importer: from.importer, resolveDir: from.resolveDir, kind: from.kind },
        pluginData: rulesInPages,
      });
      return errors.length > 0 ? { errors } : { path: found, sideEffects: false };
    });
    build.onLoad(
      { filter: /[\\/]src[\\/]rollout[\\/]rules[\\/][^\\/]+\.ts$/ },
      async ({ path }) => ({
        contents: halfOf(await readFile(path, "utf8"), path),
        loader: "ts",
      }),
    );
  },
};
