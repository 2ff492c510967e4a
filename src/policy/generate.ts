import {
  checkOptions,
  either,
  integer,
  listOf,
  type OptionRules,
} from "../../common/options/check-options.js";
import { defined } from "../../common/options/defined.js";
import { constraintRule, samplingRules } from "./check-generate.js";
import type { ChatMessage } from "../model/tokenizer/tokenizer.js";
import { Random } from "../base/random/random.js";
import type { Constraint, Policy, Sampling, Segment } from "./policy.js";
import { encodeParts, joined } from "../model/tokenizer/special-tokens.js";
import { chatIn, isChat, type Prompt, promptParts, promptTask } from "./prompt.js";

/** How a prompt is answered. */
export interface GenerationOptions extends Sampling {
  /** Longest answer in tokens. Default: 256. */
  maxTokens?: number;
  /** The answer ends with one of these texts, which it then contains. Default: none. */
  stop?: string | readonly string[];
  /** Answers per prompt; with it, each prompt gives a list. Default: one answer, not in a list. */
  n?: number;
  /** Default: 0. Each answer has a random stream of its own. */
  seed?: number;
  /** What each answer may be: `jsonConstraint` makes one of a JSON schema. Policies in this process alone. Default: none. */
  constraint?: Constraint;
  /** Stops the generation with an error. Default: none. */
  signal?: AbortSignal;
}

/** An answer: its text, and everything known about each token. */
export interface Generation extends Segment {
  /** What was generated, without end tokens. */
  text: string;
  /** The prompt as the policy read it. */
  prompt: string;
}

/** What `policy.generate` gives: one answer, a list per prompt with `n`, a list for a list of prompts. */
export type Generations<P, O> = P extends readonly ChatMessage[]
  ? PerPrompt<O>
  : P extends readonly unknown[]
    ? PerPrompt<O>[]
    : PerPrompt<O>;
type PerPrompt<O> = O extends { n: number } ? Generation[] : Generation;

const rules: OptionRules<GenerationOptions> = {
  ...samplingRules,
  maxTokens: integer(1),
  stop: either("text", listOf("text", "texts")),
  n: integer(1),
  seed: integer(0),
  constraint: constraintRule,
  signal: "signal?",
};

/** Answers prompts, all in one batch. */
export async function generate(
  policy: Policy,
  prompts: Prompt | readonly Prompt[],
  options: GenerationOptions = {},
): Promise<Generation | Generation[] | Generation[][]> {
  checkOptions("generate", options, rules);
  if (prompts === undefined) {
    throw new TypeError(
      "Cannot generate: a prompt must be given (text, a chat, or a list of them), got none",
    );
  }
  const { n, seed = 0, maxTokens = 256, stop = [], ...rest } = options;
  const samples = n ?? 1;
  const root = Random.from(seed);
  const stops = typeof stop === "string" ? [stop] : stop;
  const many = Array.isArray(prompts) && !isChat(prompts);
  const list = (many ? prompts : [prompts]) as readonly Prompt[];
  const { tokenizer } = policy;
  const session = policy.session();
  try {
    const answers = await Promise.all(
      list.map(async (given, i) => {
        const task = promptTask("generate", given);
        const parts = promptParts(task, tokenizer);
        const prompt = joined(parts);
        const sequence = session.open(
          encodeParts(tokenizer, parts),
          defined({ messages: chatIn(task) }),
        );
        return Promise.all(
          Array.from({ length: samples }, async (_, k): Promise<Generation> => {
            const random = root.split(i).split("sample").split(k);
            const handle = k === samples - 1 ? sequence : session.fork(sequence);
            const segment = await session.generate(handle, {
              ...rest,
              maxTokens,
              stop: stops,
              random,
            });
            const text = tokenizer.decode(segment.tokens, { skipSpecial: true });
            return { text, prompt, ...segment };
          }),
        );
      }),
    );
    const perPrompt = n === undefined ? answers.map(([one]) => one!) : answers;
    return many ? (perPrompt as Generation[] | Generation[][]) : perPrompt[0]!;
  } finally {
    session.dispose();
  }
}
