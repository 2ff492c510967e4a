import { Registry } from "../../../common/options/registry.js";
import { checkScored, type Scored } from "../scored.js";
import type { Finding, FindingDefinition, FindingInput } from "./definition.js";
import { copiedAnswers, ignoredResults, oneTokenEarns, repeatedCalls } from "./of-answers.js";
import { allWrong, brokenFormat, cutOff, sameReward, toolsFailed } from "./of-rewards.js";
import {
  doubledTemplate,
  retokenized,
  trainedResults,
  untoldMask,
  unwritten,
} from "./of-tokens.js";

/** Everything that is looked for, in the order in which it is told. */
const findings = new Registry<FindingDefinition>("finding", [
  toolsFailed,
  brokenFormat,
  allWrong,
  sameReward,
  cutOff,
  oneTokenEarns,
  copiedAnswers,
  ignoredResults,
  repeatedCalls,
  retokenized,
  unwritten,
  trainedResults,
  untoldMask,
  doubledTemplate,
]);

/** Everything that is found in some rollouts, with the trajectories that show it. */
export function findIn(
  input: FindingInput,
  which: (definition: FindingDefinition) => boolean = () => true,
): Finding[] {
  return findings.all.filter(which).flatMap((definition) => {
    const { name: kind, title } = definition;
    const found = definition.find(input);
    return found ? [{ kind, title, ...found }] : [];
  });
}

/**
 * Says what is wrong with a batch, and on which trajectories; empty when all is well. It looks for rewards that never
 * differ, are all wrong, or follow one word; for broken formats, failing tools and cut trajectories. It also looks for
 * answers copied from the prompt, and for results that are ignored.
 *
 * @param scored the scored trajectories, from `score`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { diagnose, score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "4\u0001" }));
 * const tree = await rollout(policy, { prompt: "2+2?", groundTruth: "4" }, { n: 2 });
 * const [first] = diagnose(await score(tree));
 * assert.match(first.message, /<think> or <\/think> not found \(2\)/);
 * ```
 */
export function diagnose(scored: Scored): Finding[] {
  checkScored("diagnose", scored);
  return findIn(inputOf(scored));
}

const inputOf = ({ trajectories, trees }: Scored): FindingInput => ({
  ...{ scored: trajectories, trees: trees ?? [], rows: [] },
});

/** What is wrong with answers that nothing is trained on. */
export const findingsOfAnswers = (scored: Scored): Finding[] =>
  findIn(inputOf(scored), ({ ofAnswers }) => ofAnswers === true);
