// Random trajectories and demonstrations in which others say this or that, and what training takes of them.
import assert from "node:assert/strict";
import type { Random } from "../../src/base/random/random.js";
import type { Environment } from "../../src/environments/environment.js";
import { encodeConversation, exampleOf, ignored } from "../../src/learn/sft/encode.js";
import { readConversation } from "../../src/learn/sft/conversation.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import type { Tokenizer } from "../../src/model/tokenizer/tokenizer.js";
import { trainBpe } from "../../src/model/tokenizer/train-bpe.js";
import { deepResearch } from "../../src/reward/rewards/deep-research.js";
import { exactMatch } from "../../src/reward/rewards/exact-match.js";
import { gsm8k } from "../../src/reward/rewards/gsm8k.js";
import { math } from "../../src/reward/rewards/math.js";
import { substringMatch } from "../../src/reward/rewards/substring-match.js";
import { score } from "../../src/reward/score-trees.js";
import { rollout } from "../../src/rollout/rollout.js";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";
import { CodePointTokenizer } from "../../src/rollout/testing/code-point-tokenizer.js";
import { familyTokenizer } from "../../src/rollout/testing/family-tokenizer.js";
import { padTrajectories } from "../../src/rollout/tree/pad-trajectories.js";
import { ScriptedPolicy } from "../../src/rollout/testing/scripted-policy.js";
import { completeTask } from "../../src/tasks/task.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import { foreignText } from "./foreign-texts.js";

const tags = ["think", "search", "python", "answer", "result"].flatMap((t) => [
  `<${t}>`,
  `</${t}>`,
]);
const bpe = new HfTokenizer(
  trainBpe(["the capital is Paris, words of a page, <|im_end|> assistant user"], {
    vocabSize: 420,
    addedTokens: tags,
  }),
);
export interface Spoken {
  tokenizer: Tokenizer;
  end: string;
}
export const tokenizers: Record<string, Spoken> = {
  "code points": { tokenizer: new CodePointTokenizer({ vocabSize: 0x110000 }), end: "\u0001" },
  "byte-level BPE": { tokenizer: bpe, end: "<|im_end|>" },
  "Qwen's template": { tokenizer: familyTokenizer("qwen2_5", "<|im_end|>"), end: "<|im_end|>" },
};

/** What the model writes in each turn, and its last one. */
function modelTurns(random: Random): string[] {
  const words = [
    "<think>so</think>",
    "a <result> of mine",
    "</result>",
    "\\boxed{Rome}",
    "#### 7",
    "ok ",
  ];
  const some = () => Array.from({ length: random.integer(3) }, () => random.choose(words)).join("");
  const calls = Array.from({ length: random.integer(4) }, () =>
    random.choose([
      `<think>t</think>${some()}<search>q</search>`,
      `<think>t</think><python>1</python>`,
      `${some()}</search>`,
      `${some()}<act>go</act>`,
    ]),
  );
  const answer = random.choose(["Rome", "Paris", "42"]);
  return [...calls, `<think>t</think>${some()}<answer>\\boxed{${answer}}</answer>`];
}

interface Foreign {
  question: string;
  result: (i: number) => string;
  observation?: string;
}

/** The model's turns in a rollout in which others say what is given. */
async function grown(
  { tokenizer, end }: Spoken,
  turns: readonly string[],
  { question, result, observation }: Foreign,
): Promise<RolloutTree> {
  let calls = 0;
  const tool = (tag: string) => ({
    ...{ name: tag, tag, description: tag, emptyIsAnswer: true },
    execute: () => result(calls++),
  });
  const policy = new ScriptedPolicy(
    ({ turn }) => ({ text: (turns[turn] ?? "") + (turn >= turns.length - 1 ? end : "") }),
    { tokenizer, contextLength: 1 << 20 },
  );
  const environment = (): Environment & { act: () => string } => ({
    tools: { act: "acts" },
    reset: () => observation,
    act: () => result(calls++),
  });
  return rollout(
    policy,
    { prompt: [{ role: "user", content: question }], groundTruth: "Paris" },
    {
      ...{ n: 1, initialRollouts: 1, responseLength: 1 << 18, callLimit: 10 },
      tools: new ToolSet([tool("search"), tool("python")]),
      ...(observation === undefined ? {} : { environment }),
    },
  );
}

/** What training takes of a trajectory: the model's tokens, their mask, and every score with its reason. */
async function learned(tree: RolloutTree, tokenizer: Tokenizer) {
  const [trajectory] = tree.selected;
  const { tokens, written, lossMask, attention, end, toolCalls } = trajectory!;
  const own = [...tokens.keys()].filter((t) => written[t] === 1);
  const scores = [];
  for (const reward of [deepResearch, math, exactMatch, substringMatch, gsm8k]) {
    const scored = await score(tree, reward);
    scores.push(scored.trajectories[0]!.score);
  }
  const padded = padTrajectories(tree.selected, tokenizer);
  return {
    tokens: own.map((t) => tokens[t]),
    mask: own.map((t) => lossMask[t]),
    padded: own.map((t) => padded.lossMask[t]),
    masked: [...lossMask].filter((_, t) => written[t] === 0).includes(1),
    attended: attention.every((value) => value === 1),
    ...{ end, calls: toolCalls.map(({ tag }) => tag), scores },
  };
}

/** Whatever others say, mask and score of the same model text stay. */
export async function checkTrajectory(
  one: Spoken,
  random: Random,
  observed: boolean,
): Promise<void> {
  const turns = modelTurns(random.split("model"));
  const foreign = random.split("foreign");
  const calm = await grown(one, turns, {
    question: "Which city?",
    result: () => "a page",
    ...(observed ? { observation: "a room" } : {}),
  });
  const texts = Array.from({ length: 12 }, () => foreignText(foreign));
  const wild = await grown(one, turns, {
    question: foreignText(foreign),
    result: (call) => texts[call]!,
    ...(observed ? { observation: `x${foreignText(foreign)}` } : {}),
  });
  assert.deepEqual(
    await learned(wild, one.tokenizer),
    await learned(calm, one.tokenizer),
    JSON.stringify({ turns, texts }),
  );
  const ends = new Set(one.tokenizer.eosIds);
  const { tokens, written, attention, lossMask } = wild.selected[0]!;
  assert.ok(
    tokens.every((id, t) => written[t] === 1 || !ends.has(id)),
    "an end that others wrote",
  );
  assert.ok(attention.every((value) => value === 1));
  assert.ok(lossMask.every((value, t) => value === written[t]));
}

/** Whatever others say, the labels of the same model text stay. */
export function checkDemonstration({ tokenizer }: Spoken, random: Random): void {
  const turns = modelTurns(random.split("model"));
  const foreign = random.split("foreign");
  const learnt = ({ ids, labels }: { ids: number[]; labels: number[] }) =>
    ids.filter((_, t) => labels[t] !== ignored);
  const of = (say: () => string) => {
    const prompt = [{ role: "user" as const, content: say() }];
    const segments = turns.flatMap((text, turn) => [
      { kind: "model" as const, text },
      ...(turn === turns.length - 1
        ? []
        : [{ kind: "result" as const, text: ` <result>\n${say()}\n</result>` }]),
    ]);
    const messages = [
      ...prompt,
      ...turns.flatMap((content, turn) => [
        { role: "assistant", content },
        ...(turn === turns.length - 1 ? [] : [{ role: "tool", content: say() }]),
      ]),
    ];
    const chat = { messages: "messages", role: "role", content: "content" };
    return [
      exampleOf({ task: completeTask("test", { prompt }, 0), segments }, tokenizer),
      ...(turns.length > 1
        ? [encodeConversation(readConversation({ messages }, chat), tokenizer)]
        : []),
    ].map(learnt);
  };
  const wild = of(() => foreignText(foreign));
  assert.deepEqual(
    wild,
    of(() => "calm"),
    JSON.stringify(turns),
  );
  const own = [...turns.flatMap((text) => tokenizer.encode(text)), tokenizer.eosId];
  for (const labels of wild) assert.deepEqual(labels, own);
}
