// The tools of the task generators, apart from `./index.ts`, which loads a model when it is imported.
import { checkArguments } from "../arguments/check-arguments.js";
import { type World, worldPages } from "../data/index.js";
import { evaluate, offlineSearch, pythonTool, searchTool, ToolSet } from "../tools/index.js";

/** Pages a search shows the tiny model: the asked one among others of its kind. */
const shownPages = 3;

/**
 * The tools of the task generators: real Python in its sandbox, and search over a world's pages.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { world } from "arpo-lab/data";
 * import { taskTools } from "arpo-lab/run";
 *
 * await using tools = taskTools(world);
 * const { relation, subject, value } = world.facts[0];
 * const { text } = await tools.call("search", `${relation} of ${subject}`);
 * assert.ok(text.startsWith(`Page 1: The ${relation} of ${subject} is ${value}.`));
 * ```
 */
export function taskTools(
  world: World,
  limits: ConstructorParameters<typeof ToolSet>[1] = {},
): ToolSet {
  checkArguments("make the tools", { world }, { world: { facts: "list" } });
  const provider = offlineSearch({ pages: worldPages(world) });
  return new ToolSet([pythonTool(), searchTool({ provider, maxResults: shownPages })], limits);
}

/**
 * The same answers without a Python process, for writing demonstrations by the thousand: whole-number
 * arithmetic gives the same text either way.
 */
export function demonstrationTools(world: World): {
  run: (tag: string, input: string) => Promise<string>;
  dispose: () => Promise<void>;
} {
  const tool = searchTool({
    provider: offlineSearch({ pages: worldPages(world) }),
    maxResults: shownPages,
  });
  const search = new ToolSet([tool]);
  return {
    run: async (tag, input) =>
      tag === "python" ? String(evaluate(input)) : (await search.call(tag, input)).text,
    dispose: () => search.dispose(),
  };
}
