import { type LossFacts, settingsOf } from "../../../learn/losses/base/definition.js";
import type { LossRow, TokenRule } from "../../../learn/losses/base/token-rule.js";
import { lossOf } from "../../../learn/losses/registry.js";
import type { ExplainedAlgorithm, RecordedLoss } from "../payload.js";

/** An algorithm's loss with what it is told. */
export interface ShownLoss {
  facts: LossFacts;
  rule: TokenRule;
  settings: ExplainedAlgorithm["settings"];
}

/** What was recorded of a loss, asked as the others are: a token carries its place along. */
function asRule({ tokens }: RecordedLoss): TokenRule {
  const place = "place";
  return {
    share(rows: readonly LossRow[]) {
      let all = 0;
      const starts = rows.map(({ mask }) => (all += mask.length) - mask.length);
      return (r, t) => {
        const at = starts[r]! + t;
        return { ...tokens[at]?.shared, [place]: at };
      };
    },
    token: (_, shared) => tokens[shared[place]!]!.outcome,
    // Its weights are in what was recorded.
    weigh: () => () => 1,
  };
}

const known = new WeakMap<object, ShownLoss>();

/** The loss of an algorithm: the library's, or what was recorded of another. */
export function shownLoss(algorithm: Pick<ExplainedAlgorithm, "settings" | "loss">): ShownLoss {
  let found = known.get(algorithm);
  if (!found) {
    const { settings, loss } = algorithm;
    if (loss) found = { facts: loss.facts, rule: asRule(loss), settings };
    else {
      const rule = lossOf(settings);
      found = { facts: rule, rule, settings: settingsOf(rule, settings) };
    }
    known.set(algorithm, found);
  }
  return found;
}
