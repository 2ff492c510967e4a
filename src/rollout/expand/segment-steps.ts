import type { Advice, RunFacts } from "../../../common/options/setting.js";

/** What the places of segments follow from. */
interface Segments {
  segment: number;
  /** Segments with an end; the one behind them is of any length. */
  cut: number;
}

/** Where the segment ends that a trajectory of so many tokens is in. */
export function segmentEnd(
  { segment, cut }: Segments,
  { start, length }: { start: number; length: number },
): number {
  const step = stepOf(segment, { start, length });
  return step >= cut ? Infinity : start + (step + 1) * segment;
}

/** How many whole segments a trajectory has behind it. */
export const stepOf = (
  segment: number,
  { start, length }: { start: number; length: number },
): number => Math.floor((length - start) / segment);

/** What doctor says where a response is one segment. */
export const oneSegment = (
  { rule, responseLength }: RunFacts,
  { segment }: { segment: number },
): Advice[] =>
  segment < responseLength
    ? []
    : [
        {
          id: "one-segment",
          status: "warning",
          found: `a response of ${responseLength} tokens is one segment of ${segment}: ${rule} branches at the prompt alone`,
          fix: `lab.expand.segment=${Math.max(1, Math.floor(responseLength / 8))}`,
        },
      ];
