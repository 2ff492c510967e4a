import { resultBlock, resultBlocks, resultMarks } from "./result-block.js";

/**
 * Who wrote a piece of a trajectory. `tool` and `environment` are answers to calls with the words around them,
 * `template` is what the rules put there, such as an end token behind a call too many.
 */
export type Author = "model" | "tool" | "environment" | "prompt" | "template";

/** A piece of text and who wrote it. */
export interface AuthoredText {
  readonly by: Author;
  readonly text: string;
}

/**
 * The parts of a text that says nothing of its authors, as files and other programs hand it over. What stands from
 * `<result>` to the next `</result>`, with a space before it, is a tool's; the rest is the model's. This is the one
 * place that tells authors by marks: what is made here has its authors from the start.
 */
export function readTranscript(text: string): AuthoredText[] {
  const parts: AuthoredText[] = [];
  let at = 0;
  for (const { from, to } of resultBlocks(text)) {
    if (from > at) parts.push({ by: "model", text: text.slice(at, from) });
    parts.push({ by: "tool", text: text.slice(from, to) });
    at = to;
  }
  if (at < text.length) parts.push({ by: "model", text: text.slice(at) });
  return parts;
}

/** Consecutive parts of the same side as one: the model's, or what answered it. */
function sides(parts: readonly AuthoredText[]): { isModel: boolean; text: string }[] {
  const out: { isModel: boolean; text: string }[] = [];
  for (const { by, text } of parts) {
    if (text === "" || by === "template") continue;
    const isModel = by === "model";
    const last = out.at(-1);
    if (last?.isModel === isModel) last.text += text;
    else out.push({ isModel, text });
  }
  return out;
}

/** A trajectory without what others wrote: an empty result block stands for each answer. */
export function withoutAnswers(parts: readonly AuthoredText[]): string {
  return sides(parts)
    .map(({ isModel, text }) => (isModel ? text : resultBlock("")))
    .join("");
}

/** The same without result marks that the model wrote itself: each block stands for a real answer. */
export function withOwnMarksOut(parts: readonly AuthoredText[]): string {
  const { open, close } = resultMarks;
  return sides(parts)
    .map(({ isModel, text }) =>
      isModel ? text.replaceAll(open, " ").replaceAll(close, " ") : resultBlock(""),
    )
    .join("");
}

/**
 * What the model wrote of an output that is filed with its steps: an empty result block stands for each answer of a
 * tool. Without steps, what stands in result blocks is a tool's.
 */
export function writtenOutput({
  output,
  steps,
}: {
  output: string;
  steps: readonly { kind: "model" | "result"; text: string }[];
}): string {
  const told = steps.map(({ text }) => text).join("");
  const isTold = steps.length > 0 && output.startsWith(told);
  const parts = isTold
    ? steps.map(({ kind, text }): AuthoredText => {
        return { by: kind === "model" ? "model" : "tool", text };
      })
    : readTranscript(output);
  return withoutAnswers(parts) + (isTold ? output.slice(told.length) : "");
}
