import { count } from "../../../common/options/setting.js";
import { type PlannedChain, plannedTurns } from "../expand/plan-chains.js";
import { defineRule } from "./definition.js";

/** The reward from which a trajectory is a success. */
export const branpoSuccess = 0.8;

/** An outcome, and the turns that it took. */
interface Ended {
  reward: number;
  steps: number;
}

/** What a search knows of the trajectory that it leaves. */
interface First extends Ended {
  /** The share of the prompt's first trajectories that are successes, and their mean turns. */
  accuracy: number;
  successSteps: number;
  /** It ended by itself: neither too long nor by a wrong call. */
  mayBranch: boolean;
}

/** So many attempts from so many turns before the end. */
interface Attempts {
  back: number;
  attempts: number;
}

/** BranPO's search for a branch with another outcome, in order; it ends with the first attempt that counts. */
export function branpoSearch({
  accuracy,
  reward,
  steps,
  successSteps,
  mayBranch,
}: First): Attempts[] {
  if (!mayBranch) return [];
  const right = reward >= branpoSuccess;
  const from = (back: number, attempts = 2) => ({ back: Math.min(back, steps), attempts });
  if (accuracy > 1 / 2 && accuracy < 1 && right && steps - successSteps >= 0.1) return [from(2, 5)];
  if (accuracy === 1) return [from(1, 1)];
  if (accuracy < 1 / 2 && !right) return [from(1), from(2), from(3)];
  return accuracy <= 3 / 4 || !right ? [from(1), from(2)] : [];
}

/**
 * What is preferred of a trajectory and of one that leaves it: 1 for the other one, -1 for the first, 0 for neither.
 * Among equal successes it is the shorter one, where only some of the prompt's trajectories are right.
 */
export function branpoPreference(first: Ended, other: Ended, mixed: boolean): number {
  const right = first.reward >= branpoSuccess;
  if (other.reward >= branpoSuccess !== right) return right ? -1 : 1;
  if (!mixed || !right || first.reward !== other.reward) return 0;
  return Math.sign(first.steps - other.steps);
}

const endedOf = ({ id, turns }: PlannedChain, right: readonly boolean[]): Ended => ({
  ...{ reward: Number(right[id]), steps: turns.length },
});

/** Each first trajectory with its attempts, those still to be made, and the one that counts. */
function searches(chains: readonly PlannedChain[], right: readonly boolean[]) {
  const firsts = chains.filter(({ kind }) => kind === "initial");
  const successes = firsts.filter(({ id }) => right[id]);
  const accuracy = successes.length / firsts.length;
  const successSteps = successes.reduce((sum, { turns }) => sum + turns.length, 0);
  return firsts.map((chain) => {
    const own = endedOf(chain, right);
    const made = chains.filter(({ parent }) => parent === chain.id);
    const mixed = accuracy > 1 / 2 && accuracy < 1;
    const found = made.find(
      (one) => one.complete && branpoPreference(own, endedOf(one, right), mixed) !== 0,
    );
    const search = branpoSearch({
      ...{ ...own, accuracy, successSteps: successSteps / successes.length },
      mayBranch: chain.complete === true,
    });
    const places = search.flatMap(({ back, attempts }) =>
      Array.from(
        { length: attempts },
        () => chain.turns[chain.turns.length - back]?.start ?? chain.start,
      ),
    );
    return { chain, found, next: found ? undefined : places[made.length] };
  });
}

/** Before the last turns of each first trajectory, until a branch ends otherwise: a pair that differs late. */
export const branpo = defineRule({
  name: "branpo",
  title: "BranPO",
  words: "before the last turns, until a branch ends otherwise",
  settings: { rounds: count(6, "attempts at most for each first trajectory", 0) },
  usual: { n: 8, initialRollouts: 4 },
  preset: { sampling: { temperature: 0.95, topP: 1, topK: -1 } },
  judge: "looks for branches of another outcome",
  judgesRounds: true,
  plan: (chain, _, reading) => ({
    turns: plannedTurns(chain, undefined, reading),
    complete: chain.end === "answer" || chain.end === "done",
  }),
  choose: (_, chains, { right = [] }) =>
    searches(chains, right).flatMap(({ chain, next }) =>
      next === undefined ? [] : [{ trajectory: chain.id, at: next, score: 0 }],
    ),
  keep: (_, chains, { right = [] }) =>
    searches(chains, right).flatMap(({ chain, found }) =>
      found ? [chain.id, found.id] : [chain.id],
    ),
  fills: false,
  why: () => "before one of the last turns: the next attempt to end otherwise",
});
