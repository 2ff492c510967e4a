import type { Cell } from "../../../page/table.js";
import { many, numberText, percent } from "../../../page/words.js";
import type { TunerPayload, TunerSettings } from "../payload.js";
import { causes, causeWords, type Tuned } from "./tune.js";

const share = (part: number, whole: number): string => percent(whole > 0 ? part / whole : 0);

/** What the settings do, in a sentence. */
export function tunedWords(tuned: Tuned): string {
  const { lostTokens, withAdvantage, lostAdvantage, all, left } = tuned;
  return `${many(lostTokens, "token")} of ${withAdvantage.toLocaleString("en")} with an advantage lose their gradient, and ${share(lostAdvantage, all)} of the advantage goes with them; weights leave ${share(left, all)} of it.`;
}

/** A line for each cause: its words, tokens, share of the tokens, share of the advantage. */
export function causeRows(tuned: Tuned): Cell[][] {
  const { lost, withAdvantage, all, lostTokens, lostAdvantage } = tuned;
  const number = (html: string) => ({ html, isNumber: true });
  const line = (name: string, tokens: number, advantage: number): Cell[] => [
    ...[name, number(tokens.toLocaleString("en"))],
    ...[number(share(tokens, withAdvantage)), number(share(advantage, all))],
  ];
  return [
    ...causes.flatMap((cause) =>
      lost[cause].tokens > 0
        ? [line(causeWords[cause], lost[cause].tokens, lost[cause].advantage)]
        : [],
    ),
    line("all that lose their gradient", lostTokens, lostAdvantage),
  ];
}

export const causeHeads = ["why", "tokens", "of the tokens", "of the advantage"];

/** The settings as a call of `update` has them. */
export function settingsCode(
  { losses }: TunerPayload,
  { loss, low, high, c, weights, cap, drop, offPolicyMask, reject, rejectAt, whole }: TunerSettings,
): string {
  const { clips = true, readsC = true } = losses.find(({ name }) => name === loss) ?? {};
  const x = (value: number) => numberText(value, 4);
  const correction = [
    ...(weights === "none" ? ["weights: null"] : [`weights: "${weights}"`, `threshold: ${x(cap)}`]),
    ...(weights !== "none" && drop ? ['outside: "drop"'] : []),
    ...(reject === "none" ? [] : [`reject: "${reject}"`, `rejectThreshold: ${x(rejectAt)}`]),
  ];
  const isCorrected = weights !== "none" || reject !== "none";
  const parts = [
    `loss: "${loss}"`,
    ...(clips ? [`clipRatioLow: ${x(low)}`, `clipRatioHigh: ${x(high)}`] : []),
    ...(readsC ? [`clipRatioC: ${x(c)}`] : []),
    ...(offPolicyMask === null ? [] : [`offPolicyMask: ${x(offPolicyMask)}`]),
    ...(whole ? ['samplingMask: "whole"'] : []),
    ...(isCorrected ? [`rolloutCorrection: { ${correction.join(", ")} }`] : []),
  ];
  return `update(policy, batch, { ${parts.join(", ")} })`;
}
