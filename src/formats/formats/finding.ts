import { isRecord } from "../../../common/options/is-record.js";
import type { Score } from "../../reward/score.js";
import { treesFromJsonl } from "../../rollout/files/tree-jsonl.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import type { FileRecord } from "../row/fields.js";
import { WordTokenizer } from "../trees/segments.js";
import { ownTrees } from "./arpo-lab.js";
import type { RolloutFormat } from "./format.js";

/** A tree with all that its picture needs, as a link or a small file carries it. */
export interface Finding {
  /** The form of the rest. */
  finding: 1;
  /** Ids of tokens, and the text of each. */
  ids: readonly number[];
  words: readonly string[];
  /** Of each trajectory its score and the reason; none where nobody scored the tree. */
  scores?: readonly (readonly [score: number, reason: string] | null)[];
  /** The tree as `saveTrees` writes it, without times. */
  tree: unknown;
}

/** Letters of a score's reason that are sent. */
export const longestReason = 400;

/** Reads tokens whose texts came with a tree. It cuts no text into them. */
class SentWords extends WordTokenizer {
  readonly #sent: ReadonlyMap<number, string>;

  constructor(sent: ReadonlyMap<number, string>) {
    super();
    this.#sent = sent;
  }

  override decode(ids: ArrayLike<number>): string {
    return Array.from(ids, (id) => this.#sent.get(id) ?? "").join("");
  }
}

function need(field: string, rule: string, isRight: boolean): void {
  if (!isRight) throw new SyntaxError(`${field} must be ${rule}, got something else`);
}

function wordsOf({ ids, words }: FileRecord): Map<number, string> {
  const isIds = Array.isArray(ids) && ids.every((id) => Number.isInteger(id));
  need("ids", "a list of token ids", isIds);
  const isWords = Array.isArray(words) && words.every((word) => typeof word === "string");
  need("words", "a list with a text for each id", isWords);
  const [list, texts] = [ids as number[], words as string[]];
  need("words", `a list of ${list.length} texts`, texts.length === list.length);
  return new Map(list.map((id, i) => [id, texts[i]!]));
}

function scoresOf({ scores }: FileRecord, count: number): (Score | undefined)[] | undefined {
  if (scores === undefined) return undefined;
  const isScore = (one: unknown) =>
    one === null || (Array.isArray(one) && Number.isFinite(one[0]) && typeof one[1] === "string");
  const isRight = Array.isArray(scores) && scores.length === count && scores.every(isScore);
  need("scores", `a list of ${count} scores with their reasons`, isRight);
  const told = scores as NonNullable<Finding["scores"]>;
  return told.map((one) =>
    one ? { score: one[0], reason: one[1].slice(0, longestReason) } : undefined,
  );
}

/** Findings: trees that were sent as a link or a small file. */
export const findings: RolloutFormat = {
  name: "finding",
  title: "a finding of arpo-lab",
  fits: ({ finding, tree }) => finding === 1 && isRecord(tree),
  read: (record) => {
    const tokenizer = new SentWords(wordsOf(record));
    const [read] = treesFromJsonl(JSON.stringify(record["tree"]));
    const tree = new RolloutTree(read!, { tokenizer });
    const scores = scoresOf(record, tree.trajectories.length);
    return { trees: [tree], ...(scores && { scores: [scores] }) };
  },
  says: {
    ...ownTrees.says,
    steps: "no step: it is one tree",
    rewards: "of each trajectory, where it was scored",
  },
};
