import { shown } from "../../../common/options/check-arguments.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { RandomState } from "../../base/random/random.js";
import type { RuleDefinition } from "../rules/definition.js";
import { definitionOf, type ExpansionSettings, writtenRule } from "../rules/registry.js";
import { type Chain, storedChains, tokenTexts } from "../expand/path-tokens.js";
import { planChain, type PlannedChain, type Reading } from "../expand/plan-chains.js";
import { type RolloutTreeData, treeRandom } from "../tree/tree-data.js";
import { slipsIn } from "../branch/slips.js";

/** All that replaying a rule that looks at written chains needs, as plain data. */
export interface ExpansionPlan {
  settings: ExpansionSettings;
  /** Trajectories per prompt. */
  n: number;
  chains: PlannedChain[];
  /** The tree's own stream. */
  random: RandomState;
  /** The first trajectories that the rule starts from, where a judge chose them. Default: every one. */
  bases?: number[];
}

/** What a stored tree does not carry. */
export interface ExpansionReading {
  /** What turns tokens into text: known for trees made in this process. */
  tokenizer?: Tokenizer | undefined;
  /** ln p of each trajectory's tokens under the policy of now, a list per trajectory of the tree. */
  current?: readonly ArrayLike<number>[] | undefined;
}

/** What a rule may choose anew in a tree, with the draws that decide it. */
export function planExpansion(
  tree: RolloutTreeData,
  settings: ExpansionSettings,
  {
    tokenizer,
    current,
    most,
    rule = definitionOf(settings),
  }: ExpansionReading & { most?: number; rule?: RuleDefinition } = {},
): ExpansionPlan {
  const { config } = tree;
  if (rule.readsText && !tokenizer) {
    throw new TypeError(
      `Cannot replay: rule ${settings.rule} reads the text of tokens and needs a tokenizer, got none: the tree was read from a file`,
    );
  }
  if (rule.judgesRounds) {
    throw new TypeError(
      `Cannot replay: rule ${settings.rule} ${rule.judge}, which a tree does not keep; replay another rule, or roll out again`,
    );
  }
  checkSignal(tree, settings);
  const reading: Reading = {
    ...tokenTexts(tokenizer),
    most: most ?? rule.wanted?.(settings) ?? Math.max(config.n, 2 * tree.trajectories.length),
    random: treeRandom(tree).split("signal"),
    current: current && ((trajectory) => current[trajectory]),
    shifted: slipsIn(config).has("shifted"),
  };
  // A trajectory that was started because none continued is a first trajectory to a rule that would not
  // have waited.
  const firstTrajectory = (chain: Chain): Chain =>
    chain.kind === "refill" && !config.expand ? { ...chain, kind: "initial" } : chain;
  const chains = storedChains(tree).map((chain) =>
    planChain(firstTrajectory(chain), rule, settings, reading),
  );
  const first = chains.filter(({ kind }) => kind === "initial").length;
  const plan: ExpansionPlan = {
    settings,
    // Where first trajectories have spent it all: as many branches again, as in the published runs.
    n: first < config.n || config.expand ? config.n : 2 * first,
    chains,
    random: treeRandom(tree).state(),
  };
  if (config.expand && writtenRule(config.rule)?.bases) {
    const left = new Set(tree.trajectories.map(({ parent }) => parent));
    plan.bases = tree.trajectories.flatMap(({ id, kind }) =>
      kind === "initial" && left.has(id) ? [id] : [],
    );
  }
  return plan;
}

/** Throws where the tree does not carry what the rule ranks by. */
function checkSignal(tree: RolloutTreeData, settings: ExpansionSettings): void {
  if (!("signal" in settings) || settings.signal === "random") return;
  const { signal } = settings;
  if (signal === "own") {
    throw new TypeError(
      `Cannot replay: expand.signal of rule ${settings.rule} must be a name, got a function, which a tree does not keep; name a signal`,
    );
  }
  if (signal === "group-mixed") {
    throw new TypeError(
      `Cannot replay: expand.signal of rule ${settings.rule} must not be group-mixed, which depends on outcomes that a tree does not keep; name another signal`,
    );
  }
  for (const node of tree.nodes) {
    if (node.kind !== "model" || node.tokens.length === 0) continue;
    const value =
      signal === "entropy"
        ? node.entropies[0]
        : signal === "surprisal"
          ? node.logprobs[0]
          : node.top && node.top.width > 0
            ? 0
            : NaN;
    if (value === undefined || Number.isNaN(value)) {
      throw new TypeError(
        `Cannot replay: signal ${signal} of rule ${settings.rule} must be known for every token, got ${shown(value)} in node ${node.id}`,
      );
    }
  }
}
