import assert from "node:assert/strict";
import { test } from "node:test";
import { modelFolder } from "../model/files/model-folder.js";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { findingLines, findingsOf } from "./findings-of.js";
import { importRollouts } from "./import-rollouts.js";
import { readRollouts } from "./read-rollouts.js";

const tokenizer = await HfTokenizer.load(modelFolder("data/models/tiny"));

/** A sample as slime writes it: prompt and response as ids, and what of the response is trained. */
function sample(parts: readonly (readonly [text: string, trained: 0 | 1])[], prompt = "6*7?") {
  const ids = parts.map(([text]) => tokenizer.encode(text));
  const asked = tokenizer.encode(prompt);
  const mask = ids.flatMap((list, i) => list.map(() => parts[i]![1]));
  return {
    ...{ group_index: 0, prompt, tokens: [...asked, ...ids.flat()], response_length: mask.length },
    ...{ loss_mask: mask, rollout_log_probs: mask.map(() => -0.5), reward: 1, status: "completed" },
  };
}
type Sample = ReturnType<typeof sample>;

const find = (samples: readonly Sample[]) => findingsOf(readRollouts(samples, { tokenizer }));
const kinds = (samples: readonly Sample[]) =>
  find(samples)
    .findings.map(({ kind }) => kind)
    .filter((kind) => kind !== "all-equal");

test("findingsOf() says nothing of tokens that are as they should be", () => {
  const good = sample([
    ["<python>6*7</python>", 1],
    ["<result>42</result>", 0],
    ["It is 42", 1],
  ]);
  assert.deepEqual(kinds([good]), []);
});

test("findings and views of a file go by one rule of what is right, which the import says", () => {
  const line = (output: string, score: number, more = {}) => ({
    input: "6*7?",
    output,
    score,
    ...more,
  });
  const read = (...lines: object[]) => {
    const imported = readRollouts(lines);
    const { from } = imported.carried.find(({ quantity }) => quantity === "rewards")!;
    return {
      right: from.split("right: ")[1],
      kinds: findingsOf(imported).findings.map((one) => one.kind),
    };
  };
  const usual = read(line("a", -1), line("b", -1), line("c", 0));
  assert.equal(usual.right, "a score above 0.5");
  assert.ok(usual.kinds.includes("format"));
  // Penalties below a scale of their own are no broken formats, and its best is not known to be wrong.
  const own = read(line("a", -7), line("b", -5), line("c", -6));
  assert.equal(own.right, "the best score of its prompt");
  assert.deepEqual(own.kinds, []);
  const said = readRollouts([line("a", 0.3, { acc: 0 }), line("b", 0.2, { acc: 0 })]);
  assert.equal(said.rightRule.by, "by acc");
  const [none] = findingsOf(said).findings;
  assert.match(none!.message, /^No trajectory is right \(by acc\): /);
});

test("a file without reasons gives none to a finding", () => {
  const good = sample([["It is 42", 1]]);
  const [same] = find([good, good]).findings;
  assert.equal(same!.kind, "all-equal");
  assert.match(same!.message, /nothing is learned\. the reward gave no reason \(2\)\.$/);
});

test("a result in the loss mask is found, with its tokens and its share of the loss", () => {
  const [call, result, answer] = ["<python>6*7</python>", "<result>42</result>", "It is 42"];
  const bad = sample([[`${call}${result}${answer}`, 1]]);
  const found = find([bad]).findings.find(({ kind }) => kind === "trained-result")!;
  const [place] = found.where;
  assert.deepEqual([place!.tree, place!.row], [0, 0]);
  const [[from, to]] = place!.tokens as [[number, number]];
  const response = bad.tokens.slice(bad.tokens.length - bad.response_length);
  assert.ok(tokenizer.decode(response.slice(from, to)).includes(result));
  assert.match(
    found.message,
    new RegExp(`They are ${to - from} of ${response.length} trained tokens, \\d+% of the loss`),
  );
});

test("without a tokenizer a result in the trained text is found all the same, and not counted", () => {
  const parts = [["<result>42</result> 42", 1]] as const;
  const bad = { ...sample(parts), response: parts[0][0] };
  const { findings, unread } = findingsOf(readRollouts([bad]));
  assert.equal(unread, 1);
  const found = findings.find(({ kind }) => kind === "trained-result")!;
  assert.equal(found.where[0]!.tokens, undefined);
  assert.match(found.message, /Without a tokenizer their tokens cannot be counted/);
});

test("ids that their own text does not become again are found where they stand", () => {
  const text = "the result";
  const ids = tokenizer.encode(text);
  // The same text letter by letter: tokens that a sampler may draw and no tokenizer makes.
  const letters = [...text].flatMap((letter) => tokenizer.encode(letter));
  assert.notDeepEqual(ids, letters, "the tokenizer joins letters");
  const bad = sample([[text, 1]]);
  const asked = bad.tokens.slice(0, bad.tokens.length - bad.response_length);
  const changed = {
    ...{ ...bad, tokens: [...asked, ...letters], response_length: letters.length },
    loss_mask: letters.map((): 0 | 1 => 1),
    rollout_log_probs: letters.map(() => -0.5),
  };
  const found = find([changed]).findings.find(({ kind }) => kind === "retokenized")!;
  const tokens = found.where[0]!.tokens!;
  assert.ok(tokens.length > 0);
  for (const [from, to] of tokens) assert.ok(from < to && to <= letters.length);
  assert.deepEqual(kinds([bad]), []);
});

test("a template's words and tokens without a log-probability are found among trained tokens", () => {
  const bad = sample([["42<|im_start|>user\nmore", 1]]);
  assert.deepEqual(kinds([bad]), ["unwritten"]);
  const silent = sample([["It is 42", 1]]);
  const logprobs: (number | null)[] = silent.rollout_log_probs;
  logprobs[1] = null;
  const found = find([silent]).findings.find(({ kind }) => kind === "unwritten")!;
  assert.deepEqual(found.where[0]!.tokens, [[1, 2]]);
});

test("a template that was applied twice is found in the prompt", () => {
  const chat = "<|im_start|>user\n<|im_start|>user\n6*7?<|im_end|>\n<|im_start|>assistant\n";
  const found = find([sample([["42", 1]], chat)]).findings;
  assert.match(
    found.find(({ kind }) => kind === "doubled-template")!.message,
    /1 of them in the prompt/,
  );
  assert.deepEqual(kinds([sample([["42", 1]], chat.replace("<|im_start|>user\n", ""))]), []);
});

test("files that tell no mask are told what depends on it", async () => {
  const found = findingsOf(await importRollouts("tests/fixtures/rollouts/verl"));
  const lines = findingLines(found);
  assert.match(lines, /untold-mask: Results are 153 of 462 tokens \(33%\), in 9 trajectories/);
  assert.match(lines, /prompt\.trajectory 1\.0, 1\.1, 2\.0, 3\.0, 3\.1 and 4 more/);
});

test("hostile text of marks that never end is looked through to its end", () => {
  const many = "<result>".repeat(20_000) + "<|im_start|>".repeat(20_000) + "\n".repeat(50_000);
  const found = findingsOf(readRollouts([{ input: many, output: many, score: 1, step: 1 }]));
  assert.deepEqual([found.checked, found.of], [1, 1]);
  assert.deepEqual(
    found.findings.filter(({ kind }) => kind === "trained-result"),
    [],
    "a block that does not end is no result",
  );
});
