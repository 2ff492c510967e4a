import { defined } from "../../../common/options/defined.js";
import { encodeParts, joined } from "../../model/tokenizer/special-tokens.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { rolloutConfig } from "../../rollout/config.js";
import type { RolloutTreeData } from "../../rollout/tree/tree-data.js";
import type { TreeNode, TreeTrajectory } from "../../rollout/tree/tree-values.js";
import type { ImportedRow } from "../row/imported-row.js";
import { layOut } from "./lay-out.js";
import { cutSegment, type Segment, segmentOf, sharedBeginning } from "./segments.js";
import { mean } from "../../base/statistics.js";

/** The mean over the tokens of which it is known, as a node has it; nothing where none is. */
export function meanEntropy(entropies: Float32Array): { entropy?: number } {
  const known = entropies.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return {};
  return { entropy: mean(known) };
}

/** A span of a tree while trajectories are laid into it. */
interface Growing {
  segment: Segment;
  parent: Growing | undefined;
  children: Growing[];
  trajectory: number;
  round: number;
}

/** A trajectory while its tree is made. */
interface LaidTrajectory {
  from: Growing | undefined;
  leaf: Growing | undefined;
  rounds: number;
}

/** A tree's data, its advantages where the file has them, and the task it carries. */
interface MadeTree {
  data: RolloutTreeData<ImportedTask>;
  /** One list per trajectory, over its response; NaN where the file says nothing. */
  advantages?: Float32Array[];
  /** How far the log-probabilities of one shared token lie apart in the trajectories that share it. */
  disagreement: number;
  /** Parts whose numbers are of tokens that the tokenizer cuts otherwise, so that they were dropped. */
  dropped: number;
}

/** What an imported tree was asked, as far as the file says. */
export interface ImportedTask {
  id: string;
  prompt: ImportedRow["prompt"];
  groundTruth?: string | string[];
  extra: Readonly<Record<string, unknown>>;
}

/** How a tree is made of trajectories. */
interface TreeMaking {
  index: number;
  tokenizer: Tokenizer;
  /** Whether the tokenizer knows the file's ids. */
  readable: boolean;
  id: string;
}

/** Splits a span in two; what refers to it afterwards means its end. */
function split(node: Growing, count: number, textLength: number): Growing {
  const [head, tail] = cutSegment(node.segment, count, textLength);
  const { parent, trajectory, round } = node;
  const before: Growing = { segment: head, parent, children: [node], trajectory, round };
  node.segment = tail;
  node.parent = before;
  return before;
}

/** The largest difference of two lists where both have numbers. */
function apart(a: Float32Array, b: Float32Array, count: number): number {
  let most = 0;
  for (let i = 0; i < count; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    if (difference > most) most = difference;
  }
  return most;
}

class Forest {
  readonly roots: Growing[] = [];
  readonly trajectories: LaidTrajectory[] = [];
  disagreement = 0;

  constructor(readonly tokenizer: Tokenizer) {}

  /** Lays a trajectory into the tree: along what is there as far as its tokens go, then on its own. */
  lay(segments: readonly Segment[]): void {
    const row = this.trajectories.length;
    let at: Growing | undefined;
    let from: Growing | undefined;
    let alone = false;
    let round = 0;
    for (const segment of segments) {
      let rest: Segment | undefined = segment;
      while (rest && !alone) {
        const step = this.#follow(at, rest);
        if (!step) alone = true;
        else ({ at, rest } = step);
        if (!alone) from = at;
      }
      if (rest) {
        const made: Growing = { segment: rest, parent: at, children: [], trajectory: row, round };
        (at ? at.children : this.roots).push(made);
        at = made;
      }
      if (segment.kind === "tool") round++;
    }
    this.trajectories.push({ from, leaf: at, rounds: round });
  }

  /** One span further along the tree: where that leads, and what is left of the segment. */
  #follow(at: Growing | undefined, segment: Segment) {
    const siblings = at ? at.children : this.roots;
    let best: { node: Growing; count: number; textLength: number } | undefined;
    for (const node of siblings) {
      if (node.segment.kind !== segment.kind) continue;
      const shared = sharedBeginning(node.segment, segment, this.tokenizer);
      if (shared.count > (best?.count ?? 0)) best = { node, ...shared };
    }
    if (!best) return undefined;
    const { node, count, textLength } = best;
    const differ = apart(node.segment.logprobs, segment.logprobs, count);
    if (differ > this.disagreement) this.disagreement = differ;
    let reached = node;
    if (count < node.segment.tokens.length) {
      reached = split(node, count, textLength);
      siblings[siblings.indexOf(node)] = reached;
    }
    const rest =
      count < segment.tokens.length ? cutSegment(segment, count, textLength)[1] : undefined;
    if (!rest && segment.call && !reached.segment.call) reached.segment.call = segment.call;
    return { at: reached, rest };
  }
}

function nodesOf(
  forest: Forest,
  tokenizer: Tokenizer,
): { nodes: TreeNode[]; ids: Map<Growing, number> } {
  const ids = new Map<Growing, number>();
  const nodes: TreeNode[] = [];
  for (const { leaf } of forest.trajectories) {
    const fresh: Growing[] = [];
    for (let node = leaf; node && !ids.has(node); node = node.parent) fresh.push(node);
    for (const made of fresh.reverse()) {
      const { segment, parent, trajectory, round } = made;
      const { kind, tokens, logprobs, entropies, call, support, versions } = segment;
      const { answer, ...asked } = call ?? { tag: "", input: "", answer: "" };
      const text =
        segment.source === "ids" ? tokenizer.decode(tokens, { skipSpecial: true }) : segment.text;
      ids.set(made, nodes.length);
      nodes.push({
        ...{ id: nodes.length, parent: parent ? ids.get(parent)! : -1, kind, trajectory, round },
        ...{ text, tokens, logprobs, entropies, ...meanEntropy(entropies) },
        ...defined({ support, versions }),
        ...(kind === "tool" && call
          ? { tool: { ...asked, text: answer, ok: true, retries: 0 } }
          : {}),
      });
    }
  }
  return { nodes, ids };
}

function advantagesOf(rows: readonly ImportedRow[], laid: readonly (readonly Segment[])[]) {
  if (!rows.some((row, i) => row.advantage !== undefined || laid[i]!.some((s) => s.advantages))) {
    return undefined;
  }
  return rows.map((row, i) =>
    Float32Array.from(
      laid[i]!.flatMap(({ kind, tokens, advantages }) =>
        Array.from(tokens, (_, t) =>
          kind === "tool" ? NaN : (advantages?.[t] ?? row.advantage ?? NaN),
        ),
      ),
    ),
  );
}

/** Trajectories of one prompt as a tree: what they begin with in common stands once. */
export function treeOfRows(rows: readonly ImportedRow[], making: TreeMaking): MadeTree {
  const { tokenizer, readable, index, id } = making;
  const forest = new Forest(tokenizer);
  const laidOut = rows.map((row) => layOut(row, tokenizer));
  const laid = laidOut.map(({ parts }, i) =>
    parts.flatMap((part) => {
      const segment = segmentOf(part, tokenizer, readable);
      const { version } = rows[i]!;
      if (version !== undefined && segment?.kind === "model")
        segment.versions = new Int32Array(segment.tokens.length).fill(version);
      return segment ?? [];
    }),
  );
  for (const segments of laid) forest.lay(segments);
  const { nodes, ids } = nodesOf(forest, tokenizer);
  const first = rows[0]!;
  const given = first.promptTokens;
  const promptText = given && readable ? tokenizer.decode(given) : joined(laidOut[0]!.prompt);
  const lengths = laid.map((segments) => segments.reduce((n, s) => n + s.tokens.length, 0));
  const treeRows = forest.trajectories.map(({ from, leaf, rounds }, row): TreeTrajectory => {
    const before = from ? ids.get(from)! : -1;
    return {
      id: row,
      // No file tells which trajectory was made of which: trajectories that share a beginning may have been
      // sampled apart.
      kind: "initial",
      round: 0,
      parent: -1,
      from: before,
      leaf: leaf ? ids.get(leaf)! : -1,
      end: rows[row]!.end ?? "answer",
      calls: rounds,
    };
  });
  const truth = first.groundTruth;
  const advantages = advantagesOf(rows, laid);
  return {
    data: {
      task: {
        id,
        prompt: first.prompt,
        ...(truth === undefined
          ? {}
          : { groundTruth: typeof truth === "string" ? truth : [...truth] }),
        extra: first.extra ?? {},
      },
      index,
      policy: first.model ?? "imported",
      // Whoever drew these, it was no model of this process: an update corrects for that.
      sampler: "remote",
      prompt: {
        text: promptText,
        tokens: Int32Array.from(given ?? encodeParts(tokenizer, laidOut[0]!.prompt)),
      },
      nodes,
      trajectories: treeRows,
      config: rolloutConfig({
        n: rows.length,
        responseLength: Math.max(1, ...lengths),
        keepTop: false,
      }),
      // Trajectories end where the file ends them, whatever end tokens stand in their middle.
      eosIds: [],
      padId: readable || !given ? tokenizer.padId : 0,
      cutTexts: {},
    },
    ...defined({ advantages }),
    disagreement: forest.disagreement,
    dropped: laid.flat().filter((segment) => segment.dropped === true).length,
  };
}
