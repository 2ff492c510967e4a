import { checkArguments } from "../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  type OptionRules,
  texts,
} from "../../common/options/check-options.js";
import { defined } from "../../common/options/defined.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import type { Policy } from "../policy/policy.js";
import { Collection, type CollectOptions } from "./collect.js";
import type { RolloutFormat } from "./formats/format.js";
import { rolloutFormats } from "./formats/registry.js";
import { ImportedRollouts } from "./imported-rollouts.js";
import { WordTokenizer } from "./trees/segments.js";

/** How records become trees. */
export interface ReadOptions {
  /** A format by name, or one of your own; without one it is seen from the records. */
  format?: string | RolloutFormat;
  /** Makes tokens of text, and text of the file's ids. Default: the policy's; without one, words. */
  tokenizer?: Tokenizer;
  /** Goes on with the trees where they are forked. */
  policy?: Policy;
  /** Columns whose sum is the score, where the file has several and does not say. */
  score?: readonly string[];
  /**
   * Trajectories of which trees are made, shared out over the files; all trajectories are counted.
   * Default 20,000.
   */
  rows?: number;
  /** Characters that these trajectories may have. Default 200 million. */
  characters?: number;
  /** Broken lines that are passed over, and named. Default 20. */
  broken?: number;
}

export const readRules: OptionRules<ReadOptions> = {
  format: rolloutFormats.rule,
  tokenizer: "tokenizer?",
  policy: "policy?",
  score: texts,
  rows: integer(1),
  characters: integer(1),
  broken: integer(0),
};

/** The options with their defaults. */
export function collectOptions(options: ReadOptions): CollectOptions {
  const { format, score, rows = 20_000, characters = 200_000_000, broken = 20 } = options;
  return {
    ...{ rows, characters, broken },
    ...defined({
      format:
        format === undefined ? undefined : rolloutFormats.of("import rollouts", "format", format),
      scoreColumns: score,
    }),
  };
}

/** What a collection holds, as trees. */
export function importedOf(collection: Collection, options: ReadOptions): ImportedRollouts {
  const { policy } = options;
  const given = options.tokenizer ?? policy?.tokenizer;
  const name = options.tokenizer
    ? "the given tokenizer"
    : policy
      ? `the tokenizer of ${policy.name}`
      : "";
  const tokens = given ? `text, tokenised by ${name}` : "text, cut into words: no model's tokens";
  return new ImportedRollouts({
    formats: [...collection.formats].map((format) => format.name),
    files: collection.files,
    prompts: collection.prompts,
    carried: collection.carried.table(tokens),
    steps: collection.steps.lines(),
    broken: collection.broken,
    rows: collection.rows,
    left: collection.left,
    tokenizer: {
      name: given ? name : "words",
      tokenizer: given ?? new WordTokenizer(),
      readsIds: given !== undefined,
    },
    policy,
  });
}

/**
 * Makes trees of records that are in memory: rows of a table, parsed lines. `importRollouts` reads files.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readRollouts } from "arpo-lab/experimental/import";
 *
 * const messages = [
 *   { role: "user", content: "6*7?" },
 *   { role: "assistant", content: "42" },
 * ];
 * const imported = readRollouts([{ messages }]);
 * assert.equal(imported.format, "messages");
 * assert.equal(imported.tree(0).trajectories[0].text, "42");
 * assert.throws(() => readRollouts([{ a: 1 }]), /must be one of .*, got records with the fields a/);
 * ```
 */
export function readRollouts(
  records: Iterable<unknown>,
  options: ReadOptions & { name?: string } = {},
): ImportedRollouts {
  checkArguments("import rollouts", { records }, { records: "items" });
  checkOptions("import rollouts", options, { ...readRules, name: "text?" });
  const collection = new Collection(collectOptions(options));
  collection.open(options.name ?? "records", 1);
  let line = 0;
  for (const record of records) {
    line++;
    collection.add(record, line, 0);
    if (!collection.hopeful) break;
  }
  collection.close();
  collection.mustBeFound();
  return importedOf(collection, options);
}
