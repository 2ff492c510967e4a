import { natural } from "./natural.js";
import { pages } from "./pages.js";
import { stories } from "./stories.js";
import { trails } from "./trails.js";

/**
 * Families in varied natural language, for models that know a language: many wordings, facts in prose, and
 * things beside the point. The test holds out wordings as well as facts.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { naturalTasks } from "arpo-lab/run";
 *
 * assert.deepEqual(Object.keys(naturalTasks), ["stories", "pages", "trails", "natural"]);
 * const { train, test } = naturalTasks.natural({ train: 6, test: 3, level: 3 });
 * assert.deepEqual([train.length, test.length], [6, 3]);
 * ```
 */
export const naturalTasks = { stories, pages, trails, natural };
