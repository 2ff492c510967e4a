import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteTokenizer } from "../../tests/policy/byte-tokenizer.js";
import { ScriptedDecoder } from "../../tests/policy/scripted-decoder.js";
import { Random } from "../base/random/random.js";
import { LocalPolicy } from "./local-policy.js";

const random = Random.from(1);

/** A policy that writes `text` after whatever it was given, then ends. */
function writes(text: string, { pieces = [] as string[], contextLength = 64, prompt = "p" } = {}) {
  const tokenizer = new ByteTokenizer(pieces);
  const start = tokenizer.encode(prompt).length;
  const script = [...tokenizer.encode(text), tokenizer.eosId];
  const decoder = new ScriptedDecoder(
    { vocabSize: tokenizer.vocabSize, contextLength },
    (tokens) => script[tokens.length - start] ?? tokenizer.eosId,
  );
  const policy = new LocalPolicy({ name: "scripted", tokenizer, decoder });
  const session = policy.session();
  return { tokenizer, decoder, policy, session, sequence: session.open(tokenizer.encode(prompt)) };
}

test("generate() ends at a stop string spread over tokens and keeps its tokens", async () => {
  const { session, sequence, tokenizer } = writes("a<b> </b>c", { pieces: ["</", "b>"] });
  const segment = await session.generate(sequence, { maxTokens: 50, random, stop: ["</b>", "zz"] });
  assert.equal(segment.finish, "stop");
  assert.equal(segment.stop, "</b>");
  assert.equal(tokenizer.decode(segment.tokens), "a<b> </b>");
  assert.deepEqual([...sequence.tokens], [...tokenizer.encode("p"), ...segment.tokens]);
});

test("generate() ends at a stop string that ends inside a token", async () => {
  const { session, sequence, tokenizer } = writes("xa</s>yz", { pieces: ["a<", "/s>y"] });
  const segment = await session.generate(sequence, { maxTokens: 50, random, stop: ["</s>"] });
  assert.equal(segment.stop, "</s>");
  assert.equal(tokenizer.decode(segment.tokens), "xa</s>y");
});

test("generate() ends at a stop string that begins before it, and at none that ended there", async () => {
  const prompt = "p</b></";
  const { session, sequence, tokenizer } = writes("b> c</b>d", { prompt });
  const options = { maxTokens: 50, random, stop: ["</b>"] };
  const whole = session.fork(sequence);
  const segment = await session.generate(sequence, { ...options, begun: 6 });
  assert.deepEqual([segment.stop, tokenizer.decode(segment.tokens)], ["</b>", "b>"]);
  const apart = await session.generate(whole, options);
  assert.equal(tokenizer.decode(apart.tokens), "b> c</b>");
  await assert.rejects(
    session.generate(session.open(tokenizer.encode("ab")), { ...options, begun: 3 }),
    /begun must be an integer from 0 to the sequence's 2 tokens, got 3/,
  );
});

test("generate() names the stop string that is complete first", async () => {
  const { session, sequence } = writes("one two");
  const segment = await session.generate(sequence, {
    maxTokens: 50,
    random,
    stop: ["two", "ne", "one t"],
  });
  assert.equal(segment.stop, "ne");
});

test("generate() finds stop strings made of characters of several bytes", async () => {
  for (const [text, stop] of [
    ["ab答案:42", "答案"],
    ["né🙂x", "🙂"],
    ["🙂🙃🙂", "🙃"],
    ["ééé", "éé"],
  ] as const) {
    const { session, sequence, tokenizer } = writes(text);
    const segment = await session.generate(sequence, { maxTokens: 50, random, stop: [stop] });
    assert.equal(segment.stop, stop, text);
    const end = text.indexOf(stop) + stop.length;
    assert.equal(tokenizer.decode(segment.tokens), text.slice(0, end));
  }
});

test("generate() looks for stop strings in its own segment only", async () => {
  const { session, sequence } = writes("abcdef", { prompt: "stop here </s" });
  session.append(
    sequence,
    [..."</s>"].map((c) => c.charCodeAt(0)),
  );
  const segment = await session.generate(sequence, { maxTokens: 1, random, stop: ["</s>"] });
  assert.equal(segment.finish, "length");
});

test("generate() ends at an end token, at maxTokens and when the context is full", async () => {
  const end = writes("ab");
  const ended = await end.session.generate(end.sequence, { maxTokens: 9, random });
  assert.equal(ended.finish, "end");
  assert.deepEqual([...ended.tokens], [97, 98, end.tokenizer.eosId]);

  const long = writes("abcdef");
  assert.equal(
    (await long.session.generate(long.sequence, { maxTokens: 2, random })).finish,
    "length",
  );
  const rest = await long.session.generate(long.sequence, { maxTokens: 2, random });
  assert.equal(long.tokenizer.decode(rest.tokens), "cd");

  const full = writes("abcdef", { contextLength: 4 });
  const cut = await full.session.generate(full.sequence, { maxTokens: 9, random });
  assert.equal(cut.finish, "context");
  assert.equal(full.sequence.tokens.length, 4);
  const none = await full.session.generate(full.sequence, { maxTokens: 9, random });
  assert.equal(none.finish, "context");
  assert.equal(none.tokens.length, 0);
});

test("generate() runs calls of different sequences in one step loop, and sequences join at any step", async () => {
  const { session, sequence, decoder, tokenizer } = writes("abcdefgh");
  const other = session.open(tokenizer.encode("p"));
  const both = [sequence, other].map((r) => session.generate(r, { maxTokens: 4, random }));
  await Promise.all(both);
  assert.deepEqual(
    decoder.steps.map((s) => s.length),
    [2, 2, 2, 2],
  );
  const late = session.open(tokenizer.encode("p"));
  const first = session.generate(sequence, { maxTokens: 4, random });
  const joined = (async () => {
    await first;
    return session.generate(late, { maxTokens: 2, random });
  })();
  await Promise.all([first, joined, session.generate(other, { maxTokens: 5, random })]);
  assert.deepEqual(
    decoder.steps.slice(4).map((s) => s.length),
    [2, 2, 2, 2, 2, 1],
  );
});

test("fork() feeds nothing twice, neither what was fed before nor what was not", async () => {
  const prompt = "a prompt of some length";
  const { session, sequence, decoder } = writes("abc", { prompt, contextLength: 200 });
  const sequences = [sequence, session.fork(sequence), session.fork(sequence)];
  await Promise.all(sequences.map((r) => session.generate(r, { maxTokens: 2, random })));
  // The prompt's stem once, its last token and one sampled token for each of three sequences.
  assert.equal(decoder.fed, prompt.length - 1 + 3 * 2);
  session.append(sequences[0]!, [1, 2, 3, 4]);
  const fork = session.fork(sequences[0]!);
  const again = session.fork(fork);
  await Promise.all(
    [sequences[0]!, fork, again].map((r) => session.generate(r, { maxTokens: 1, random })),
  );
  assert.equal(decoder.fed, prompt.length - 1 + 3 * 2 + 4 + 3);
  session.dispose();
  assert.equal(decoder.rows, 0);
});

test("fork() during generate() copies what is there at that moment", async () => {
  const { session, sequence, tokenizer } = writes("abcdefgh");
  const running = session.generate(sequence, { maxTokens: 8, random });
  const unfed = session.fork(sequence);
  const first = session.generate(unfed, { maxTokens: 3, random });
  assert.equal(tokenizer.decode((await first).tokens), "abc");
  const fork = session.fork(sequence);
  const there = tokenizer.decode(fork.tokens);
  assert.ok(there.length > 3 && there.length < 9, there);
  const rest = await session.generate(fork, { maxTokens: 9, random });
  assert.equal(there + tokenizer.decode(rest.tokens, { skipSpecial: true }), "pabcdefgh");
  assert.equal(tokenizer.decode((await running).tokens), "abcdefgh");
});

test("truncate() cuts a sequence anywhere and it continues from there", async () => {
  const { session, sequence, tokenizer, decoder } = writes("abcdef", { prompt: "prompt" });
  await session.generate(sequence, { maxTokens: 5, random });
  for (const length of [11, 10, 8, 7]) {
    const fork = session.fork(sequence);
    session.truncate(fork, length);
    const segment = await session.generate(fork, { maxTokens: 2, random });
    assert.equal(tokenizer.decode(segment.tokens.subarray(0, 1)), "abcdef\0"[length - 6]!);
    session.close(fork);
  }
  const unfed = session.open(tokenizer.encode("promptabc"));
  const fork = session.fork(unfed);
  session.truncate(fork, 7);
  assert.equal((await session.generate(fork, { maxTokens: 1, random })).tokens[0], 98);
  session.dispose();
  assert.equal(decoder.rows, 0);
});

test("generate() feeds a long prompt in pieces", async () => {
  const prompt = "x".repeat(1500);
  const { session, sequence, decoder } = writes("abc", { prompt, contextLength: 2000 });
  await session.generate(sequence, { maxTokens: 1, random });
  assert.deepEqual(
    decoder.steps.map((s) => s[0]!.length),
    [512, 512, 476],
  );
});

test("generate() stops at its signal and leaves the sequence as it was", async () => {
  const { session, sequence, tokenizer } = writes("a".repeat(500), { contextLength: 100_000 });
  const abort = new AbortController();
  const running = session.generate(sequence, { maxTokens: 90_000, random, signal: abort.signal });
  running.catch(() => undefined);
  const other = session.open(tokenizer.encode("p"));
  const calm = session.generate(other, { maxTokens: 3, random });
  abort.abort(new Error("enough"));
  await assert.rejects(running, /enough/);
  assert.equal(sequence.tokens.length, 1);
  assert.equal((await calm).tokens.length, 3);
  assert.equal((await session.generate(sequence, { maxTokens: 2, random })).tokens.length, 2);
  await assert.rejects(
    session.generate(sequence, { maxTokens: 2, random, signal: abort.signal }),
    /enough/,
  );
});

test("generate() lets timers run while it works", async () => {
  const tokenizer = new ByteTokenizer();
  const abort = new AbortController();
  let written = 0;
  const decoder = new ScriptedDecoder({ vocabSize: 257, contextLength: 1e9 }, () => {
    if (++written === 100) {
      setTimeout(() => {
        abort.abort(new Error("time is up"));
      }, 1);
    }
    return 97;
  });
  const session = new LocalPolicy({ name: "endless", tokenizer, decoder }).session();
  const sequence = session.open([1]);
  const running = session.generate(sequence, { maxTokens: 1e9, random, signal: abort.signal });
  await assert.rejects(running, /time is up/);
});

test("generate() takes draw i of the sequence's stream for token i", async () => {
  const tokenizer = new ByteTokenizer();
  const draws: number[] = [];
  const decoder = new ScriptedDecoder({ vocabSize: 257, contextLength: 1000 }, (_, uniform) => {
    draws.push(uniform);
    return 97;
  });
  const session = new LocalPolicy({ name: "draws", tokenizer, decoder }).session();
  const stream = Random.from(3).split("sample").split(0);
  const sequence = session.open(new Array(600).fill(5));
  await session.generate(sequence, { maxTokens: 3, random: stream });
  const fresh = Random.from(3).split("sample").split(0);
  assert.deepEqual(draws.slice(1), [fresh.at(0), fresh.at(1), fresh.at(2)]);
  assert.equal(stream.state().position, 3);
});

test("a sequence that fails does not fail others in its batch", async () => {
  const tokenizer = new ByteTokenizer();
  const decoder = new ScriptedDecoder({ vocabSize: 257, contextLength: 100 }, (tokens) => {
    if (tokens[0] === 7) throw new RangeError("sequence of sevens");
    return 97 + tokens.length;
  });
  const session = new LocalPolicy({ name: "half", tokenizer, decoder }).session();
  const good = session.open([1]);
  const bad = session.open([7]);
  const running = [good, bad].map((sequence) =>
    session.generate(sequence, { maxTokens: 3, random }),
  );
  const [fine, failed] = await Promise.allSettled(running);
  assert.equal(failed!.status, "rejected");
  assert.equal(bad.tokens.length, 1);
  assert.deepEqual(fine!.status === "fulfilled" && [...fine!.value.tokens], [98, 99, 100]);
});

test("a session refuses bad input and changes nothing", async () => {
  const { session, sequence, policy } = writes("abc", { contextLength: 8 });
  const generate = (options: object) =>
    session.generate(sequence, { maxTokens: 2, random, ...options });
  assert.throws(() => session.open([]), /prompt must have at least one token/);
  assert.throws(() => session.open([1, 257]), /token ids must be integers from 0 to 256, got 257/);
  assert.throws(() => session.open([1, -1]), /got -1/);
  assert.throws(() => session.open([1.5]), /got 1.5/);
  assert.throws(() => session.open(new Array(9).fill(1)), /context of 8 tokens, got 9/);
  assert.throws(() => session.append(sequence, new Array(8).fill(1)), /context of 8 tokens, got 9/);
  assert.throws(() => session.truncate(sequence, 2), /from 1 to 1, got 2/);
  await assert.rejects(
    generate({ maxTokens: 0 }),
    /maxTokens must be an integer of at least 1, got 0/,
  );
  await assert.rejects(
    generate({ temperature: NaN }),
    /temperature must be a finite number of at least 0, got NaN/,
  );
  await assert.rejects(
    generate({ topK: 0 }),
    /topK must be a positive integer, or -1 for all, got 0/,
  );
  await assert.rejects(generate({ topP: 0 }), /topP must be above 0 and at most 1, got 0/);
  await assert.rejects(generate({ minP: 2 }), /minP must be a number from 0 to 1, got 2/);
  await assert.rejects(
    generate({ repetitionPenalty: 0 }),
    /repetitionPenalty must be a finite number above 0/,
  );
  await assert.rejects(generate({ allowedIds: [] }), /at least one id/);
  await assert.rejects(generate({ allowedIds: [257] }), /from 0 to 256, got 257/);
  await assert.rejects(generate({ stop: [""] }), /stop string must not be empty/);
  assert.equal(sequence.tokens.length, 1);
  const running = generate({});
  const second = generate({});
  assert.throws(() => session.append(sequence, [1]), /sequence must not be generating/);
  assert.throws(() => session.truncate(sequence, 1), /sequence must not be generating/);
  session.close(sequence);
  await assert.rejects(running, /sequence 0 was closed/);
  await assert.rejects(second, /sequence must not be generating/);
  assert.throws(
    () => session.fork(sequence),
    /sequence must be open in this session, got sequence 0/,
  );
  assert.throws(() => policy.session().close(sequence), /sequence must be open in this session/);
});

test("LocalPolicy takes up new weights when no sequence is open", async () => {
  let version = 1;
  const tokenizer = new ByteTokenizer();
  const decoder = new ScriptedDecoder({ vocabSize: 257, contextLength: 10 }, () => 1);
  const weightsVersion = () => version;
  const session = new LocalPolicy({ name: "v", tokenizer, decoder, weightsVersion }).session();
  const sequence = session.open([1]);
  version = 2;
  assert.throws(() => session.open([1]), /sequences of the old weights must be closed/);
  await assert.rejects(
    session.generate(sequence, { maxTokens: 1, random }),
    /must be closed after training, got 1/,
  );
  session.close(sequence);
  session.open([1]);
  assert.equal(decoder.refreshed, 1);
});
