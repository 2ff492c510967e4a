import { decisionsAt } from "../panel/decision-card.js";
import { ruleName } from "../../payload.js";
import { tokenText } from "../tree/unpack-tree.js";
import { many, signed, two, visible } from "../../../page/words.js";
import type { ExplorerView } from "../view.js";

export type EventKind = "start" | "write" | "tool" | "branch" | "no" | "score" | "advantage";

/** One event of how a tree grew. */
interface PlayEvent {
  kind: EventKind;
  say: string;
  /** A node to bring into view, with the decision that stands there. */
  node?: number;
  pill?: string;
}

/** The events in order, and in which of them everything appears. */
export interface PlayEvents {
  list: PlayEvent[];
  born: Float32Array;
  laneBorn: Float32Array;
  decided: Map<number, number>;
  scored: number;
  advanced: number;
}

/** From so many decisions in a round on, they are one event. */
const mostDecisions = 18;

/** How the tree grew: what was written, what tools gave back, every decision, scores and advantages. */
export function playEvents(view: ExplorerView): PlayEvents {
  const { facts } = view;
  const { tree } = facts;
  const { nodes, trajectories } = tree;
  const list: PlayEvent[] = [];
  const born = new Float32Array(nodes.length).fill(NaN);
  const laneBorn = new Float32Array(trajectories.length).fill(Infinity);
  const decided = new Map<number, number>();
  const roots = facts.above.filter((above) => above < 0).length;
  list.push({
    kind: "start",
    say: `One question. ${many(roots, "trajectory starts", "trajectories start")} from it.`,
  });
  facts.above.forEach((above, i) => {
    if (above < 0 && trajectories[i]!.kind !== "refill") laneBorn[i] = 0;
  });
  const rounds = 1 + nodes.reduce((most, { round }) => Math.max(most, round), -1);
  for (let round = 0; round < rounds; round++) playRound(round);

  for (const [i, node] of nodes.entries()) {
    if (Number.isNaN(born[i])) born[i] = node.parent < 0 ? 1 : born[node.parent]!;
  }
  trajectories.forEach((_, i) => {
    if (laneBorn[i] !== Infinity) return;
    const first = facts.own[i]![0];
    laneBorn[i] = first === undefined ? 0 : Math.max(0, born[first]! - 1);
  });
  const [scored, advanced] = playScores();
  return { list, born, laneBorn, decided, scored, advanced };

  function playRound(round: number): void {
    const inRound = nodes.flatMap((node, i) => (node.round === round ? [i] : []));
    const written = inRound.filter((i) => nodes[i]!.kind === "model");
    const tools = inRound.filter((i) => nodes[i]!.kind === "tool");
    if (written.length === 0 && tools.length === 0) return;
    if (written.length > 0) {
      for (const i of written) {
        born[i] = list.length;
        const lane = Math.max(0, nodes[i]!.trajectory);
        laneBorn[lane] = Math.min(laneBorn[lane]!, list.length);
      }
      list.push(writeEvent(round, written));
    }
    if (tools.length > 0) {
      for (const i of tools) born[i] = list.length;
      const names = [...new Set(tools.map((i) => nodes[i]!.tool?.tag ?? "tool"))].join(" and ");
      const say = `The tools answer (${names}). These tokens are not trained on.`;
      list.push({ kind: "tool", say });
    }
    playDecisions(round, inRound);
  }

  function writeEvent(round: number, written: number[]): PlayEvent {
    const children = new Set(
      nodes.flatMap(({ kind, parent }) => (kind === "tool" ? [parent] : [])),
    );
    const calls = written.filter((i) => children.has(i)).length;
    const leaves = new Set(trajectories.map(({ leaf }) => leaf));
    const ends = written.filter((i) => leaves.has(i)).length;
    let peak = { value: 0.3, node: -1, token: 0 };
    for (const node of written) {
      const { start, length } = nodes[node]!;
      for (let token = start; token < start + length; token++) {
        const value = tree.entropies[token]!;
        if (value > peak.value) peak = { value, node, token };
      }
    }
    const name = rounds === facts.turns ? "Turn" : "Round";
    const parts = [
      `${name} ${round + 1}: ${many(written.length, "trajectory writes", "trajectories write")}.`,
    ];
    if (calls > 0) parts.push(`${calls} ${calls === 1 ? "calls" : "call"} a tool.`);
    if (ends > 0) parts.push(`${ends} ${ends === 1 ? "ends" : "end"}.`);
    if (peak.node >= 0) {
      const text = visible(tokenText(tree, tree.tokens[peak.token]!));
      const lane = Math.max(0, nodes[peak.node]!.trajectory);
      parts.push(`Most uncertain: “${text}” in trajectory ${lane}, entropy ${two(peak.value)}.`);
    }
    return { kind: "write", say: parts.join(" "), ...(peak.node >= 0 ? { node: peak.node } : {}) };
  }

  function playDecisions(round: number, inRound: number[]): void {
    const decisions = inRound.flatMap((node) =>
      decisionsAt(view, node).map((decision) => ({ node, decision })),
    );
    const start = (child: number | undefined) => {
      if (child !== undefined) laneBorn[child] = list.length;
    };
    if (decisions.length > mostDecisions) {
      const branches = decisions.filter(({ decision }) => decision.branch).length;
      for (const { node, decision } of decisions) {
        decided.set(node, list.length);
        start(decision.child);
      }
      const say = `After round ${round + 1}: ${decisions.length} decisions, ${many(branches, "branch", "branches")}.`;
      list.push({ kind: "branch", say });
    } else {
      for (const { node, decision } of decisions) {
        decided.set(node, list.length);
        start(decision.child);
        const child = decision.child === undefined ? "" : `: trajectory ${decision.child} starts`;
        const say = `Trajectory ${Math.max(0, nodes[node]!.trajectory)}: ${decision.words}${child}.`;
        list.push({ kind: decision.branch ? "branch" : "no", say, node, pill: decision.words });
      }
    }
    // Rules that look at what is written choose places afterwards.
    const chosen = trajectories.flatMap(({ kind }, i) =>
      kind === "branch" &&
      laneBorn[i] === Infinity &&
      tree.plan.trajectories[i]?.round === round + 1
        ? [i]
        : [],
    );
    if (chosen.length === 0) return;
    for (const i of chosen) {
      laneBorn[i] = list.length;
      const { from } = trajectories[i]!;
      if (from >= 0 && !decided.has(from)) decided.set(from, list.length);
    }
    const places = many(chosen.length, "branch", "branches");
    list.push({
      kind: "branch",
      say: `${ruleName(tree.titles, tree.rule)} chooses the places of ${places}.`,
    });
  }

  function playScores(): [scored: number, advanced: number] {
    const { verdicts, mean, advantages } = facts;
    const scoredAt = mean === undefined ? 0 : list.length;
    if (mean !== undefined) {
      const count = (verdict: string) => verdicts.filter((each) => each === verdict).length;
      const [invalid, unfinished] = [count("invalid"), count("unfinished")];
      const bad =
        (invalid > 0 ? `, ${invalid} in an invalid format` : "") +
        (unfinished > 0 ? `, ${unfinished} without an answer` : "");
      const say = `Every answer gets a score: ${count("right")} right, ${count("wrong")} wrong${bad}. The group's mean is ${two(mean)}.`;
      list.push({ kind: "score", say });
    }
    const known = advantages.filter((each) => each !== undefined);
    if (known.length === 0) return [scoredAt, 0];
    const [worst, best] = [Math.min(...known), Math.max(...known)];
    const say = `Each advantage is the score against the group: from ${signed(worst)} to ${signed(best)}. Training makes the right ones more likely.`;
    return [scoredAt, list.push({ kind: "advantage", say }) - 1];
  }
}
