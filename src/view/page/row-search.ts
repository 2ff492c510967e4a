/** What a search knows of a trajectory besides its text: score (null for none), how it ended, its tools. */
export type RowFacts = readonly [
  score: number | null,
  ended: string | null,
  tools: readonly string[],
];

/** What is looked for besides a text; empty for anything. */
export interface RowWish {
  tool?: string | undefined;
  end?: string | undefined;
  least?: string | undefined;
  most?: string | undefined;
}

/** A text as it is written, or an expression between two strokes; undefined for a wrong expression. */
export function matcher(wanted: string): ((text: string) => boolean) | undefined {
  if (wanted === "") return () => true;
  const expression = /^\/(.+)\/(i?)$/.exec(wanted);
  if (!expression) {
    const low = wanted.toLowerCase();
    return (text) => text.toLowerCase().includes(low);
  }
  try {
    const made = new RegExp(expression[1]!, `u${expression[2]!}`);
    return (text) => made.test(text);
  } catch {
    return undefined;
  }
}

/** Whether a trajectory has the tool, the end and the score that are looked for. */
export function rowFits([score, ended, tools]: RowFacts, wish: RowWish): boolean {
  const { tool, end, least, most } = wish;
  return (
    (!tool || tools.includes(tool)) &&
    (!end || ended === end) &&
    (!least || (score !== null && score >= Number(least))) &&
    (!most || (score !== null && score <= Number(most)))
  );
}
