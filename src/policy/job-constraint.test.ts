import assert from "node:assert/strict";
import { test } from "node:test";
import { loadNativeEngine, nativeEngineExists } from "../tensor/engine/native-engine.js";
import { loadWasmEngine } from "../tensor/engine/wasm-engine.js";
import { EngineDecoder } from "../model/decoder/engine.js";
import { PlainDecoder } from "../model/decoder/plain.js";
import type { Decoder, Step } from "../model/decoder/decoder.js";
import { randomWeights, smallShape } from "../../tests/model/random-decoder.js";
import { ByteTokenizer } from "../../tests/policy/byte-tokenizer.js";
import { Random } from "../base/random/random.js";
import { LocalPolicy } from "./local-policy.js";
import type { Constraint, Segment } from "./policy.js";
import { cutSupport, idsOf, supportAt } from "./token-sets.js";

const tokenizer = new ByteTokenizer();
const { vocabSize } = tokenizer;
const shape = smallShape({ vocabSize: vocabSize + 7, layers: 1, contextLength: 64 });

/** Allows a list of texts' letters, place by place, and then the end. */
class Letters implements Constraint {
  constructor(
    readonly places: readonly string[],
    public at = 0,
  ) {}

  mask(): Uint32Array {
    const mask = new Uint32Array(Math.ceil(vocabSize / 32));
    const letters = this.places[this.at];
    for (const id of letters === undefined ? [tokenizer.eosId] : Buffer.from(letters)) {
      mask[id >>> 5]! |= 1 << (id & 31);
    }
    return mask;
  }

  take(): void {
    this.at++;
  }

  fork(): Letters {
    return new Letters(this.places, this.at);
  }
}

const weights = () => randomWeights(shape, { seed: 3 });
const engines: Record<string, () => Decoder> = {
  plain: () => new PlainDecoder(shape, weights),
};
for (const { call } of [...(nativeEngineExists() ? [loadNativeEngine()] : []), loadWasmEngine()]) {
  engines[`engine ${Object.keys(engines).length}`] = () => new EngineDecoder(call, shape, weights);
}

/** A policy that counts the steps of its decoder. */
function counted(make: () => Decoder) {
  const decoder = make();
  const steps: number[] = [];
  const step = decoder.step.bind(decoder);
  decoder.step = (...args: Step) => {
    steps.push(args[0].length);
    return step(...args);
  };
  return { policy: new LocalPolicy({ name: "p", tokenizer, decoder }), steps };
}

const wanted = [["abc", "d", "efgh"], ["xy"], ["0123456789", "01", "z", "z"]];

for (const [name, make] of Object.entries(engines)) {
  test(`sequences with constraints of their own are decoded in one step each (${name})`, async () => {
    const { policy, steps } = counted(make);
    const session = policy.session();
    const one = (constraint: Constraint | undefined, i: number): Promise<Segment> =>
      session.generate(session.open(tokenizer.encode("some text")), {
        ...{ maxTokens: 8, random: Random.from(i) },
        ...(constraint ? { constraint } : {}),
      });
    const all = [...wanted.map((places) => new Letters(places)), undefined];
    const together = await Promise.all(all.map(one));
    // As many steps as the longest has tokens, and not one for each mask.
    assert.equal(steps.length, 8);
    assert.deepEqual(steps.slice(0, 2), [4, 4]);
    for (const [i, places] of wanted.entries()) {
      const { tokens, support, logprobs, finish } = together[i]!;
      assert.equal(finish, "end");
      assert.equal(tokens.length, places.length + 1);
      assert.equal(all[i] instanceof Letters && all[i].at, 0, "the constraint is left as it was");
      places.forEach((letters, t) => {
        assert.ok(Buffer.from(letters).includes(tokens[t]!));
        assert.deepEqual([...supportAt(support!, t)], [...Buffer.from(letters)]);
        assert.equal(support!.given?.[t] ?? 0, letters.length === 1 ? 1 : 0);
        if (letters.length === 1) assert.equal(support!.logprobs[t], 0);
        else assert.ok(support!.logprobs[t]! > logprobs[t]! && support!.logprobs[t]! < 0);
      });
      assert.equal(support!.given![places.length], 1);
    }
    assert.equal(together[3]!.support, undefined);
    // Who else is in the step changes nothing.
    for (const [i, constraint] of all.entries())
      assert.deepEqual(await one(constraint, i), together[i]);
    // Log-probabilities over a support add up to one.
    const masses = await Promise.all(
      [0, 1, 2].map(async (id) => {
        const only = await one(new Letters(["abc"[id]!]), 0);
        return only.logprobs[0]!;
      }),
    );
    const left = Math.log(masses.reduce((sum, p) => sum + Math.exp(p), 0));
    const first = together[0]!;
    assert.ok(Math.abs(first.logprobs[0]! - left - first.support!.logprobs[0]!) < 1e-4);
  });
}

test("a constraint holds where tokens are cut off, greedily, and beside allowedIds", async () => {
  const { policy } = counted(engines["plain"]!);
  const constraint = new Letters(["abcdef", "xyz"]);
  const [a, x] = [tokenizer.encode("a")[0]!, tokenizer.encode("x")[0]!];
  const topK = await policy.generate("q", { constraint, topK: 2, maxTokens: 2 });
  assert.equal(supportAt(topK.support!, 0).length, 2);
  const greedy = await policy.generate("q", { constraint, temperature: 0, maxTokens: 3 });
  assert.match(greedy.text, /^[a-f][xyz]$/);
  assert.deepEqual([...greedy.support!.given!], [0, 0, 1]);
  const both = await policy.generate("q", { constraint, allowedIds: [a, x], maxTokens: 2 });
  assert.equal(both.text, "ax");
  assert.deepEqual([...both.support!.given!], [1, 1]);
  const cut = cutSupport(both, 1, 2).support!;
  assert.deepEqual([[...cut.given!], [...supportAt(cut, 0)]], [[1], [x]]);
  await assert.rejects(
    policy.generate("q", { constraint, allowedIds: [x], maxTokens: 2 }),
    /Cannot generate: a constraint must allow at least one id, got none/,
  );
});

test("what a constraint throws fails its own sequence alone, and a wrong one is refused", async () => {
  const { policy } = counted(engines["plain"]!);
  const session = policy.session();
  const open = () => session.open(tokenizer.encode("q"));
  const bad = new Letters(["ab", "ab"]);
  const failing: Constraint = {
    mask: () => bad.mask(),
    take: () => {
      throw new Error("no more");
    },
    fork: () => failing,
  };
  const options = { maxTokens: 2, random: Random.from(1) };
  const sequence = open();
  const failed = session.generate(sequence, { ...options, constraint: failing });
  const other = session.generate(open(), { ...options, constraint: bad });
  await assert.rejects(failed, /no more/);
  assert.equal((await other).tokens.length, 2);
  assert.equal(sequence.tokens.length, 1);
  await assert.rejects(
    policy.generate("q", { constraint: {} as Constraint }),
    /constraint must be a constraint \(mask, take and fork\), got/,
  );
});

test("a text in which nearly every token may come has no list of them", async () => {
  const decoder = new PlainDecoder(
    smallShape({ vocabSize: 6000, layers: 1, contextLength: 32 }),
    () => randomWeights(smallShape({ vocabSize: 6000, layers: 1, contextLength: 32 }), { seed: 3 }),
  );
  const wide = new ByteTokenizer(Array.from({ length: 5700 }, (_, i) => `<${i}>`));
  const policy = new LocalPolicy({ name: "wide", tokenizer: wide, decoder });
  const words = Math.ceil(wide.vocabSize / 32);
  const most = new Uint32Array(words).fill(0xffffffff);
  most[words - 1] = 1;
  const constraint: Constraint = {
    mask: () => most,
    take: () => undefined,
    fork: () => constraint,
  };
  const many = await policy.generate("q", { constraint, maxTokens: 2 });
  assert.equal(many.support, undefined);
  const few = new Uint32Array(words).fill(0xffffffff, 0, 100);
  const narrow: Constraint = { mask: () => few, take: () => undefined, fork: () => narrow };
  const listed = await policy.generate("q", { constraint: narrow, maxTokens: 1 });
  assert.deepEqual([...supportAt(listed.support!, 0)], idsOf(few, wide.vocabSize));
});
