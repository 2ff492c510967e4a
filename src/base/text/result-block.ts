/** A span of a text between two marks. */
interface Block {
  /** Where the opening mark begins, and where the closing one ends. */
  from: number;
  to: number;
  /** What stands between the marks. */
  inner: string;
}

/**
 * The spans of a text from an opening mark to the next closing one, read from the left without
 * overlaps. A text is read once, however many marks in it are never closed, which a pattern with `*?`
 * does not promise.
 */
export function* blocks(text: string, open: string, close: string): Generator<Block> {
  for (let at = 0; ;) {
    const from = text.indexOf(open, at);
    const end = from < 0 ? -1 : text.indexOf(close, from + open.length);
    if (end < 0) return;
    at = end + close.length;
    yield { from, to: at, inner: text.slice(from + open.length, end) };
  }
}

/** The marks around a tool's answer in a trajectory. */
export const resultMarks = { open: "<result>", close: "</result>" } as const;

/**
 * A tool's answer as it stands in a trajectory: rollouts put it there, models are trained on it, and
 * servers fold tool messages into it.
 */
export function resultBlock(text: string): string {
  return blockAround.before + text + blockAround.behind;
}

/** The words around a tool's answer. */
export const blockAround = {
  before: ` ${resultMarks.open}\n`,
  behind: `\n${resultMarks.close}`,
} as const;

/** A tool's answer as the reference's evaluation puts it: without space and line ends. */
export function bareResultBlock(text: string): string {
  return bareBlockAround.before + text + bareBlockAround.behind;
}

/** The words around such an answer. */
export const bareBlockAround = { before: resultMarks.open, behind: resultMarks.close } as const;

/** Where the result blocks of a text stand, each with the space before it. */
export function* resultBlocks(text: string): Generator<{ from: number; to: number }> {
  let last = 0;
  for (const { from, to } of blocks(text, resultMarks.open, resultMarks.close)) {
    yield { from: from > last && text[from - 1] === " " ? from - 1 : from, to };
    last = to;
  }
}

/** Whether a text is a result block, or the beginning of one. */
export function isResult(text: string): boolean {
  return text.trimStart().startsWith(resultMarks.open);
}

/** What the tool said in a result block, or in as much of one as there is; undefined for other texts. */
export function resultIn(text: string): string | undefined {
  if (!isResult(text)) return undefined;
  const block = text.trim();
  const whole = block.endsWith(resultMarks.close);
  return block
    .slice(resultMarks.open.length, whole ? -resultMarks.close.length : undefined)
    .replace(/^\n|\n$/g, "");
}
