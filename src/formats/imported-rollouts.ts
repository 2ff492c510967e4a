import { defined } from "../../common/options/defined.js";
import { shown } from "../../common/options/check-arguments.js";
import { TrainingBatch } from "../learn/batch.js";
import type { Tokenizer } from "../model/tokenizer/tokenizer.js";
import type { Policy } from "../policy/policy.js";
import { type RightRule, rightRule } from "../reward/right.js";
import { Scored, type ScoredTrajectory } from "../reward/scored.js";
import { RolloutTree } from "../rollout/rollout-tree.js";
import { logged, showAs, type Shown } from "../base/show/show-as.js";
import type { Carried } from "./carried.js";
import type { BrokenLine, PromptRows, ReadFile } from "./collect.js";
import type { StepLine } from "./step-lines.js";
import type { ImportedRow, PlacedRow } from "./row/imported-row.js";
import { type ImportedTask, treeOfRows } from "./trees/tree-of-rows.js";

/** A prompt with what was answered, before a tree is made of it. */
export interface ImportedPrompt {
  index: number;
  /** What it is called: the files' own words, or its place. */
  id: string;
  step: number | undefined;
  /** What was asked, as text. */
  question: string;
  rows: readonly PlacedRow[];
  /** Scores of the trajectories that have one. */
  scores: readonly number[];
}

/** What an import is made of. */
export interface ImportedParts {
  /** The formats, by name. */
  formats: readonly string[];
  files: readonly ReadFile[];
  prompts: readonly PromptRows[];
  carried: readonly Carried[];
  steps: readonly StepLine[];
  broken: readonly BrokenLine[];
  /** Trajectories of all files, and those of them that no tree is made of. */
  rows: number;
  left: number;
  tokenizer: { name: string; tokenizer: Tokenizer; readsIds: boolean };
  /** Continues the trees. */
  policy?: Policy;
}

interface Made {
  tree: RolloutTree<ImportedTask>;
  advantages?: readonly Float32Array[];
  disagreement: number;
  dropped: number;
}

const questionOf = ({ rows, tree }: PromptRows): string => {
  const prompt = tree ? tree.task.prompt : rows[0]!.prompt;
  if (typeof prompt === "string") return prompt;
  const asked = prompt.findLast(({ role }) => role === "user") ?? prompt.at(-1);
  return asked?.content ?? "";
};

/**
 * Other people's rollouts as trees: one per prompt, made when it is first asked for. Shows itself, in the
 * explorer and on the board.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readRollouts } from "arpo-lab/experimental/import";
 *
 * const line = (output: string, score: number) => ({ input: "6*7?", output, score, step: 1 });
 * const imported = readRollouts([line("It is 42", 1), line("It is 41", 0)]);
 * assert.equal(imported.format, "verl");
 * const [tree] = imported.trees;
 * assert.deepEqual(tree.nodes.map((node) => node.text), ["It is", " 42", " 41"]);
 * assert.equal(imported.scored?.mean, 0.5);
 * ```
 */
export class ImportedRollouts implements Iterable<RolloutTree<ImportedTask>> {
  readonly prompts: readonly ImportedPrompt[];
  /** How it is known which trajectories are right. */
  readonly rightRule: RightRule;
  readonly files: readonly ReadFile[];
  /** What the files carry, and what stands in the place of what they do not. */
  readonly carried: readonly Carried[];
  /** Numbers of every step, over all trajectories, under the names that runs of this package write. */
  readonly steps: readonly StepLine[];
  readonly broken: readonly BrokenLine[];
  readonly rows: number;
  readonly left: number;
  readonly tokenizer: Tokenizer;
  readonly tokenizerName: string;
  readonly #parts: ImportedParts;
  readonly #made: (Made | undefined)[];

  constructor(parts: ImportedParts, made: readonly RolloutTree<ImportedTask>[] = []) {
    if (!Array.isArray((parts as Partial<ImportedParts> | null | undefined)?.prompts)) {
      throw new TypeError(
        `Cannot make imported rollouts: parts must be what importRollouts reads, got ${shown(parts)}`,
      );
    }
    this.#parts = parts;
    this.files = parts.files;
    const own = parts.prompts.flatMap((prompt) => [
      ...prompt.rows.flatMap(({ score, numbers }) =>
        score === undefined ? [] : { score, ...(numbers ? { parts: { ...numbers } } : {}) },
      ),
      ...(prompt.scores?.flatMap((one) => one ?? []) ?? []),
    ]);
    this.rightRule = rightRule(own);
    this.carried = parts.carried.map((one) =>
      one.quantity === "rewards" && own.length > 0
        ? { ...one, from: `${one.from}; right: ${this.rightRule.by}` }
        : one,
    );
    this.steps = parts.steps;
    this.broken = parts.broken;
    this.rows = parts.rows;
    this.left = parts.left;
    this.tokenizer = parts.tokenizer.tokenizer;
    this.tokenizerName = parts.tokenizer.name;
    this.prompts = parts.prompts.map((prompt, index): ImportedPrompt => {
      const { rows, step, tree } = prompt;
      const scores = rows.flatMap(({ score }) => score ?? []);
      const { id } = (tree?.task ?? {}) as { id?: unknown };
      return {
        ...{ index, step, rows, scores, question: questionOf(prompt) },
        id: typeof id === "string" ? id : `prompt ${index}`,
      };
    });
    this.#made = parts.prompts.map((_, i) => made[i] && { ...this.#make(i), tree: made[i] });
  }

  /** The formats' names. */
  get format(): string {
    return this.#parts.formats.join(", ");
  }

  /** What it was made of, for an import that differs in something. */
  get parts(): ImportedParts {
    return this.#parts;
  }

  #make(index: number): Made {
    const { prompts, tokenizer: read, policy } = this.#parts;
    const { rows, tree } = prompts[index]!;
    const runtime = policy ? { policy, options: {} } : { tokenizer: read.tokenizer };
    if (tree) {
      // Its place among the trees of all files; its tokens are of a model whose tokenizer may be given, or be the file's.
      const own = tree.tokenizer && { tokenizer: tree.tokenizer };
      const known = read.readsIds ? runtime : own;
      return {
        tree: new RolloutTree({ ...tree, index } as unknown as RolloutTree<ImportedTask>, known),
        ...{ disagreement: 0, dropped: 0 },
      };
    }
    const ids = rows.some((row) => row.promptTokens ?? row.parts.some(({ tokens }) => tokens));
    const readable = !ids || read.readsIds;
    const made = treeOfRows(rows as readonly ImportedRow[], {
      ...{ index, readable, tokenizer: read.tokenizer, id: this.prompts[index]!.id },
    });
    const { data, advantages, disagreement, dropped } = made;
    return {
      tree: new RolloutTree(data, readable ? runtime : undefined),
      ...defined({ advantages }),
      ...{ disagreement, dropped },
    };
  }

  #at(index: number): Made {
    if (!Number.isInteger(index) || index < 0 || index >= this.prompts.length) {
      throw new RangeError(
        `Cannot show a prompt: its number must be one of 0 to ${this.prompts.length - 1}, got ${shown(index)}`,
      );
    }
    return (this.#made[index] ??= this.#make(index));
  }

  /** The tree of one prompt. */
  tree(index: number): RolloutTree<ImportedTask> {
    return this.#at(index).tree;
  }

  /** Every tree. */
  get trees(): RolloutTree<ImportedTask>[] {
    return this.prompts.map((_, index) => this.tree(index));
  }

  [Symbol.iterator](): Iterator<RolloutTree<ImportedTask>> {
    return this.trees[Symbol.iterator]();
  }

  /** The scores of one prompt's trajectories; undefined where the file has none. */
  scoredOf(index: number): Scored | undefined {
    const tree = this.tree(index);
    const { rows } = this.prompts[index]!;
    const own = this.#parts.prompts[index]!.scores;
    const group = this.prompts[index]!.id;
    const scored = tree.selected.flatMap((trajectory): ScoredTrajectory[] => {
      const said = own?.[trajectory.id];
      if (said) return [{ trajectory, group, score: said }];
      const row = rows[trajectory.id];
      if (row?.score === undefined) return [];
      const { score, numbers = {}, extra = {} } = row;
      const reason = extra["reason"];
      const score_ = {
        score,
        reason:
          typeof reason === "string" ? reason : `from ${row.place.file}, line ${row.place.line}`,
        ...(Object.keys(numbers).length > 0 ? { parts: { ...numbers } } : {}),
      };
      return [{ trajectory, group, score: score_ }];
    });
    return scored.length === 0 ? undefined : new Scored(scored, [tree as unknown as RolloutTree]);
  }

  /** The scores of all trajectories; undefined where the files have none. */
  get scored(): Scored | undefined {
    const all = this.prompts.map(({ index }) => this.scoredOf(index));
    const rows = all.flatMap((one) => one?.trajectories ?? []);
    return rows.length === 0 ? undefined : new Scored(rows, this.trees as unknown as RolloutTree[]);
  }

  /** The advantages of one prompt's trajectories, as the file has them; undefined where it has none. */
  batchOf(index: number): TrainingBatch | undefined {
    const { tree, advantages } = this.#at(index);
    if (!advantages) return undefined;
    const { rows, id } = this.prompts[index]!;
    const made = tree.selected.map((trajectory) => {
      const own = advantages[trajectory.id]!.subarray(0, trajectory.tokens.length);
      const reward = rows[trajectory.id]?.score ?? NaN;
      return { trajectory, group: id, reward, advantages: own, returns: own };
    });
    return new TrainingBatch(made, "the file's");
  }

  /** What a reader should know of one prompt's tree besides the table. */
  notesOf(index: number): string[] {
    const { disagreement, dropped } = this.#at(index);
    return [
      // Four digits is how some frameworks round.
      ...(disagreement < 1e-3
        ? []
        : [
            `trajectories that share tokens tell other log-probs of them, up to ${disagreement.toPrecision(2)} apart: shown are the first trajectory's`,
          ]),
      ...(dropped === 0
        ? []
        : [
            `log-probs of ${dropped} parts were left out: they are of tokens that ${this.tokenizerName} cuts otherwise`,
          ]),
    ];
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Trees", text: this.#title() };
  }

  #title(): string {
    const { prompts, rows, left, format } = this;
    const kept = left > 0 ? ` (${rows - left} kept)` : "";
    const many = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`;
    const all = rows === 1 ? "1 trajectory" : `${rows} trajectories`;
    return `${format}: ${all}${kept} of ${many(prompts.length, "prompt")} in ${many(this.files.length, "file")}`;
  }

  /** What it is, what the files carry, and what could not be read. */
  toString(): string {
    const wide = Math.max(...this.carried.map(({ quantity }) => quantity.length));
    return [
      this.#title(),
      ...this.carried.map(({ quantity, from }) => `  ${quantity.padEnd(wide)}  ${from}`),
      ...this.broken.map(({ file, line, reason }) => `  broken: ${file}, line ${line}: ${reason}`),
    ].join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("ImportedRollouts", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
