// The tools of the task generators, apart from `./index.ts`, which loads a model when it is imported.
import { checkArguments } from "../../common/options/check-arguments.js";
import type { TaskSet } from "./tasks/task-set.js";
import { type World, world, worldPages } from "./tasks/world.js";
import { calculate } from "../tools/calculator/arithmetic.js";
import { offlineSearch } from "../tools/search/offline.js";
import { pythonTool } from "../tools/python/python-tool.js";
import { searchTool } from "../tools/search/search-tool.js";
import { ToolSet } from "../tools/tool-set.js";

/** Pages a search shows the tiny model: the asked one among others of its kind. */
const shownPages = 3;

/** What is searched: a world's pages, or those that a family of tasks brings (the shipped world's, where none). */
type Searched = World | Pick<TaskSet, "pages">;

function pagesOf(searched: Searched) {
  if ("facts" in searched) return worldPages(searched);
  return searched.pages ?? worldPages(world);
}

/**
 * The tools of the task generators: real Python in its sandbox, and search over the pages of a world or
 * of a family of tasks.
 *
 * @param searched the world, or the tasks, whose pages the search tool finds
 * @param limits limits of calls, as `ToolSet` takes them
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { world } from "arpo-lab/run";
 * import { taskTools } from "arpo-lab/tools";
 *
 * await using tools = taskTools(world);
 * const { relation, subject, value } = world.facts[0];
 * const { text } = await tools.call("search", `${relation} of ${subject}`);
 * assert.ok(text.startsWith(`Page 1: The ${relation} of ${subject} is ${value}.`));
 * ```
 */
export function taskTools(
  searched: Searched,
  limits: ConstructorParameters<typeof ToolSet>[1] = {},
): ToolSet {
  const fields = { facts: "list?", pages: "list?" } as const;
  checkArguments("make the tools", { searched }, { searched: fields });
  const provider = offlineSearch({ pages: pagesOf(searched) });
  return new ToolSet([pythonTool(), searchTool({ provider, maxResults: shownPages })], limits);
}

/**
 * The same answers without a Python process, for writing demonstrations by the thousand: whole-number
 * arithmetic gives the same text either way.
 */
export function demonstrationTools(searched: Searched): {
  run: (tag: string, input: string) => Promise<string>;
  dispose: () => Promise<void>;
} {
  const tool = searchTool({
    provider: offlineSearch({ pages: pagesOf(searched) }),
    maxResults: shownPages,
  });
  const search = new ToolSet([tool]);
  return {
    run: async (tag, input) =>
      tag === "python" ? String(calculate(input)) : (await search.call(tag, input)).text,
    dispose: () => search.dispose(),
  };
}
