import { preTokenizers } from "./pre-tokenizers.js";

type Json = Record<string, unknown>;

/** Patterns that cut alike, written in one way. */
const plainly = (pattern: string) =>
  pattern.replace(
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])",
  );

/** The pattern of one step of a pre-tokenizer: none for a step that cuts nothing, undefined for another. */
function patternsOf(step: Json): string[] | undefined {
  const { type, pattern, behavior, invert } = step;
  if (type === "ByteLevel" && step.add_prefix_space === false) {
    return step.use_regex === false ? [] : preTokenizers.get("gpt-2")!.patterns.slice();
  }
  if (type === "Digits") return [step.individual_digits === true ? "\\p{N}" : "\\p{N}+"];
  const regex = (pattern as Json | undefined)?.Regex;
  if (type === "Split" && behavior === "Isolated" && invert !== true && typeof regex === "string") {
    return [plainly(regex)];
  }
  return undefined;
}

/** The name llama.cpp has for the way a `tokenizer.json` cuts text; undefined where it has none. */
export function namePreTokenizer(tokenizer: Json): string | undefined {
  const { pre_tokenizer: given, model } = tokenizer as { pre_tokenizer?: Json; model?: Json };
  if (!given) return undefined;
  const steps = given.type === "Sequence" ? (given.pretokenizers as Json[]) : [given];
  const found = steps.map(patternsOf);
  if (found.includes(undefined)) return undefined;
  const patterns = JSON.stringify(found.flat());
  const wholeWords = model?.ignore_merges === true;
  for (const [name, way] of preTokenizers) {
    if (JSON.stringify(way.patterns) === patterns && (way.wholeWords ?? false) === wholeWords) {
      return name;
    }
  }
  return undefined;
}
