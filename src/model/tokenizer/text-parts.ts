import type { ChatMessage, ChatOptions, TextPart, Tokenizer } from "./tokenizer.js";

/** Text that others wrote: what looks like a special token in it is plain text. */
export const plain = (text: string): TextPart => ({ text, special: false });

/** Text of a template: its special tokens are meant. */
export const meant = (text: string): TextPart => ({ text, special: true });

/** The parts as one text. */
export const joined = (parts: readonly TextPart[]): string =>
  parts.map(({ text }) => text).join("");

/** The characters of some parts from one place to another. */
export function sliceParts(
  parts: readonly TextPart[],
  from: number,
  to: number = Infinity,
): TextPart[] {
  const out: TextPart[] = [];
  let at = 0;
  for (const { text, special } of parts) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece !== "") out.push({ text: piece, special });
    at += text.length;
  }
  return out;
}

/** The tokens of some parts, cut as those of their text; a special token is one where its part says so. */
export function encodeParts(tokenizer: Tokenizer, parts: readonly TextPart[]): number[] {
  const text = joined(parts);
  return tokenizer.encodeParts && parts.some(({ special }) => !special)
    ? tokenizer.encodeParts(parts)
    : tokenizer.encode(text);
}

/** The tokens of text that no template wrote. */
export const encodePlain = (tokenizer: Tokenizer, text: string): number[] =>
  encodeParts(tokenizer, [plain(text)]);

/** A chat as a template lays it out, in parts: special tokens are the template's own. */
export function chatParts(
  tokenizer: Pick<Tokenizer, "chat" | "chatParts">,
  messages: readonly ChatMessage[],
  options: ChatOptions = {},
): readonly TextPart[] {
  return tokenizer.chatParts?.(messages, options) ?? [meant(tokenizer.chat(messages, options))];
}
