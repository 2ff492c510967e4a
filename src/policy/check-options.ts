import { checkArguments } from "../arguments/check-arguments.js";
import { shown } from "../arguments/shown.js";
import type { GenerateOptions } from "./policy.js";

/** Throws unless every option of a generate call on a row of so many tokens is in range. */
export function checkOptions(options: GenerateOptions, length: number): void {
  checkArguments(
    "generate",
    { options },
    {
      options: {
        random: "random",
        stop: "list?",
        signal: "signal?",
        onToken: "function?",
        allowedIds: "list?",
      },
    },
  );
  const wrong = options.stop?.find((stop: unknown) => typeof stop !== "string");
  if (wrong !== undefined) {
    throw new TypeError(`Cannot generate: stop must be a list of texts, got ${shown(wrong)} in it`);
  }
  const rule = (ok: boolean, name: string, text: string, value: unknown): void => {
    if (!ok) throw new RangeError(`Cannot generate: ${name} must be ${text}, got ${String(value)}`);
  };
  const { maxTokens, temperature = 1, topK = -1, topP = 1, minP = 0 } = options;
  const { repetitionPenalty = 1 } = options;
  const { begun = 0 } = options;
  rule(
    Number.isInteger(begun) && begun >= 0 && begun <= length,
    "begun",
    `an integer from 0 to the row's ${length} tokens`,
    begun,
  );
  rule(Number.isInteger(maxTokens) && maxTokens > 0, "maxTokens", "a positive integer", maxTokens);
  rule(temperature >= 0 && temperature < Infinity, "temperature", "0 or more", temperature);
  rule(
    topK === -1 || (Number.isInteger(topK) && topK > 0),
    "topK",
    "a positive integer, or -1 for all",
    topK,
  );
  rule(topP > 0 && topP <= 1, "topP", "above 0 and at most 1", topP);
  rule(minP >= 0 && minP <= 1, "minP", "from 0 to 1", minP);
  rule(
    repetitionPenalty > 0 && repetitionPenalty < Infinity,
    "repetitionPenalty",
    "above 0",
    repetitionPenalty,
  );
}
