import { type PublishedFigure, published } from "../metrics/published.js";

/** A published figure, and why it may not stand beside ours. */
export interface BesidePublished extends PublishedFigure {
  /** What was measured otherwise here, in words; empty where the two may be compared. */
  unlike: string[];
}

/** What a figure of ours was measured on, and how. */
export interface Measured {
  judged: boolean;
  /** Questions that were asked, and those of the set where that is known. */
  questions: number;
  setSize?: number;
  /** Samples that could not be made, and verdicts that could not be had. */
  missing: number;
  unjudged: number;
  /** Samples of each question. */
  samples: number;
}

function differences(figure: PublishedFigure, own: Measured): string[] {
  const { judged, questions, setSize, missing, unjudged, samples } = own;
  const of = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
  return [
    ...(judged ? [] : ["a judge decided there, none was asked here"]),
    ...(setSize === undefined ? ["how many questions the whole set has is not known here"] : []),
    ...(setSize !== undefined && questions < setSize
      ? [`${questions} of ${of(setSize, "question")} were asked here`]
      : []),
    ...(missing > 0 ? [`${of(missing, "sample")} could not be made here`] : []),
    ...(unjudged > 0 ? [`${of(unjudged, "verdict")} could not be had here`] : []),
    ...(samples < figure.k ? [`pass@${figure.k} was not measured here`] : []),
  ];
}

/** The published figures of a benchmark, each with what was otherwise there. */
export function besidePublished(benchmark: string, own: Measured): BesidePublished[] {
  return published
    .filter((figure) => figure.benchmark === benchmark)
    .map((figure) => ({ ...figure, unlike: differences(figure, own) }));
}
