import { blocks } from "./blocks.js";

/** The marks around a tool's answer in a trajectory. */
export const resultMarks = { open: "<result>", close: "</result>" } as const;

/**
 * A tool's answer as it stands in a trajectory: rollouts put it there, models are trained on it, and
 * servers fold tool messages into it.
 */
export function resultBlock(text: string): string {
  return ` ${resultMarks.open}\n${text}\n${resultMarks.close}`;
}

/** A tool's answer as the reference's evaluation puts it: without space and line ends. */
export function bareResultBlock(text: string): string {
  return `${resultMarks.open}${text}${resultMarks.close}`;
}

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
