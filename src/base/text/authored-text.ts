/**
 * Who wrote a piece of a trajectory. `tool` and `environment` are answers to calls with the words around them,
 * `template` is what the rules put there, such as an end token behind a call too many.
 */
export type Author = "model" | "tool" | "environment" | "prompt" | "template";

/** A piece of text and who wrote it. */
export interface AuthoredText {
  by: Author;
  text: string;
}

/** The pieces with those joined that one author wrote in one go. */
export function joinAuthored<T extends AuthoredText>(parts: readonly T[]): T[] {
  const out: T[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (last?.by === "model" && part.by === "model") {
      out[out.length - 1] = { ...part, text: last.text + part.text };
    } else out.push(part);
  }
  return out;
}

/** What the model wrote: its turns, each on lines of its own, so that no tag forms across a result. */
export function modelText(parts: readonly AuthoredText[]): string {
  return joinAuthored(parts)
    .filter(({ by }) => by === "model")
    .map(({ text }) => text)
    .join("\n");
}
