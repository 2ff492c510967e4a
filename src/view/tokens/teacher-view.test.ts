import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { type BatchSequence, TrainingBatch } from "../../learn/batch.js";
import { Model } from "../../model/transformer/transformer.js";
import { ModelPolicy } from "../../policy/policy-from-model.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { integersOf, numbersOf } from "../page/unpack.js";
import { teacherView } from "./teacher-view.js";

const sizes = { vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const policyOf = (seed: number) =>
  new ModelPolicy(Model.init(sizes, seed), new CodePointTokenizer());
const prompt = Int32Array.of(65, 66);

/** Two trajectories with a token that a tool wrote. */
function batch(): TrainingBatch {
  const random = Random.from(2);
  const sequences = [4, 6].map((n, i): BatchSequence => {
    const tokens = Int32Array.from({ length: n }, () => 97 + random.integer(20));
    const lossMask = Uint8Array.from(tokens, (_, t) => Number(t !== 2));
    const own = Float32Array.from(lossMask, (m) => (m ? 1 - i : 0));
    const trajectory: Partial<Trajectory> = {
      ...{ tree: 0, id: i, nodes: [i], prompt, tokens, lossMask, logprobs: own, entropies: own },
    };
    return {
      trajectory: trajectory as Trajectory,
      ...{ group: "q", reward: 1 - i, advantages: own, returns: own },
    };
  });
  return new TrainingBatch(sequences, "grpo");
}

test("teacherView() has the gap at every token, and the most likely word under the teacher there", async () => {
  const [student, teacher] = [policyOf(3), policyOf(9)];
  const own = batch();
  const { payload, summary } = await teacherView(student, own, teacher);
  const [wrote, chosen] = payload.panels;
  const gaps = numbersOf(wrote!.quantities.gap!);
  const turns = numbersOf(wrote!.quantities.turn!);
  const choices = integersOf(chosen!.tokens!, payload.wide);
  assert.match(summary, /^A teacher for 2 of 2 trajectories: another first choice at \d+ of 8 /);
  for (const { label, start } of payload.rows) {
    const { trajectory } = own.trajectories[Number(/trajectory (\d)/.exec(label)![1])]!;
    const { tokens, lossMask } = trajectory;
    const [a] = await student.logProbs([{ prompt, tokens }]);
    const [b] = await teacher.logProbs([{ prompt, tokens }]);
    const [first, second] = [0, 3].map((from) =>
      Array.from(tokens.keys())
        .filter((t) => (from === 0 ? t < 2 : t >= 3))
        .reduce((sum, t) => sum + b!.logprobs[t]! - a!.logprobs[t]!, 0),
    );
    for (const t of tokens.keys()) {
      if (!lossMask[t]) {
        assert.ok(Number.isNaN(gaps[start + t]));
        continue;
      }
      const apart = b!.logprobs[t]! - a!.logprobs[t]!;
      assert.ok(Math.abs(gaps[start + t]! - apart) < 1e-3, `${gaps[start + t]} ${apart}`);
      assert.ok(Math.abs(turns[start + t]! - (t < 2 ? first! : second!)) < 1e-3);
      const other = Int32Array.from(tokens);
      const said = async (id: number) => {
        other[t] = id;
        return (await teacher.logProbs([{ prompt, tokens: other.slice(0, t + 1) }]))[0]!.logprobs[
          t
        ]!;
      };
      const word = payload.vocabulary[choices[start + t]!];
      const id = word === undefined ? choices[start + t]! : word.codePointAt(0)!;
      const best = await said(id);
      for (const one of [65, 97, 100, 110, tokens[t]!]) assert.ok((await said(one)) <= best + 1e-5);
      assert.equal(payload.differs.includes(start + t), id !== tokens[t]);
    }
  }
  assert.equal(own.trajectories[0]!.teacherLogprobs, undefined, "the batch stays as it is");
});

test("teacherView() leaves out trajectories that a teacher has nothing to say of", async () => {
  const student = policyOf(3);
  const teacher = { prompts: () => [undefined, Int32Array.of(66)] };
  const { payload, summary } = await teacherView(student, batch(), teacher);
  assert.deepEqual(
    payload.rows.map(({ label }) => label),
    ["task q, trajectory 1, score 0"],
  );
  assert.match(summary, /^A teacher for 1 of 2 trajectories/);
});

test("teacherView() of a teacher that says log-probabilities alone shows the gap alone", async () => {
  const { model } = policyOf(9);
  const teacher = new ModelPolicy(model, new CodePointTokenizer());
  const remote = { logProbs: teacher.logProbs.bind(teacher) } as never;
  const { payload } = await teacherView(policyOf(3), batch(), remote);
  assert.equal(payload.panels.length, 1);
  assert.deepEqual(payload.differs, []);
});
