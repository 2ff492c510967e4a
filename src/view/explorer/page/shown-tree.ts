import { isExpansion, type ExpansionSettings } from "../../../rollout/branch/family/settings.js";
import { followExpansion } from "../../../rollout/replay/follow-expansion.js";
import { followPlan } from "../../../rollout/replay/follow-plan.js";
import type { Replay } from "../../../rollout/replay/replay-result.js";
import type { Palette } from "../../palette.js";
import type { Choices } from "./choices.js";
import { type Colouring, colouringOf, quantitiesOf } from "./colouring.js";
import { type Span, spansOf } from "./paths.js";
import type { PageTree } from "./unpack-tree.js";

/** A tree as it is shown: what the reader chose, and what follows from that. */
export class ShownTree {
  readonly choices: Choices;
  /** The node that is looked at; -1 for none. */
  selected = -1;
  replay: Replay;
  colouring: Colouring;
  spans: readonly Span[];
  /** Where the last node ends. */
  longest = 1;

  constructor(
    readonly tree: PageTree,
    ramps: Palette,
  ) {
    this.choices = {
      ...{ quantity: quantitiesOf(tree)[0]!, along: "tokens" },
      ...{ rule: tree.rule, changes: {}, expand: {}, follow: -1, compare: -1 },
    };
    this.replay = this.#decided();
    this.colouring = colouringOf(tree, this.choices.quantity, ramps);
    this.spans = spansOf(tree, this.choices.along);
  }

  /** Follows from the choices anew. */
  update(ramps: Palette): void {
    const { tree, choices } = this;
    this.replay = this.#decided();
    this.colouring = colouringOf(tree, choices.quantity, ramps);
    this.spans = spansOf(tree, choices.along);
    this.longest = this.spans.reduce((most, { to }) => Math.max(most, to), 1);
  }

  /** What the chosen rule would have done. */
  #decided(): Replay {
    const { rule, changes, expand } = this.choices;
    const { plan, expansions } = this.tree;
    if (!isExpansion(rule)) return followPlan(plan, { ...changes, rule });
    const chosen = expansions[rule];
    // A tree that was grown so but does not carry what the rule ranks by.
    if (!chosen) return followPlan(plan, { probability: -1 });
    return followExpansion(chosen, { ...chosen.settings, ...expand } as ExpansionSettings);
  }

  /** Whether rows have scores to be told. */
  get scored(): boolean {
    return this.tree.trajectories.some(({ score }) => score != null);
  }

  /** The rows whose paths are shown. */
  get followed(): number[] {
    return [this.choices.follow, this.choices.compare].filter((trajectory) => trajectory >= 0);
  }
}
