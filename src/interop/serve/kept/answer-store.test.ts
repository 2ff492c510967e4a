import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerStore, type KeptAnswer } from "./answer-store.js";

const answer = (id: string, text: string, more: Partial<KeptAnswer> = {}): KeptAnswer => ({
  ...{ id, before: [], prompt: Int32Array.of(1), tokens: Int32Array.of(2) },
  turn: { parts: [{ kind: "text", text, id: `msg_${id}` }] },
  ...more,
});

test("the oldest answers leave with all their ids when there are too many", () => {
  const store = new AnswerStore({ answers: 2, bytes: 1e9 });
  for (const id of ["a", "b", "c"]) store.add(answer(id, "same"));
  assert.equal(store.get("a"), undefined);
  assert.equal(store.part("msg_a"), undefined);
  assert.equal(store.part("msg_c")!.answer.id, "c");
  const named = store.like({ parts: [{ kind: "text", text: "same", id: "msg_b" }] });
  assert.deepEqual(
    named.map((one) => [one.answer.id, one.named]),
    [
      ["b", true],
      ["c", false],
    ],
  );
  assert.deepEqual(store.like({ parts: [{ kind: "text", text: "other", id: "msg_b" }] }), []);
  store.clear();
  assert.deepEqual([store.get("c"), store.part("msg_c")], [undefined, undefined]);
});

test("the bytes of conversations count, however they are spread", () => {
  const store = new AnswerStore({ answers: 1000, bytes: 100_000 });
  const before = Array.from({ length: 40 }, () => ({
    ...{ role: "user" as const, content: "x".repeat(1000) },
  }));
  for (const id of ["a", "b", "c"]) store.add(answer(id, id, { before }));
  assert.deepEqual(
    [store.get("a"), store.get("b")?.id, store.get("c")?.id],
    [undefined, undefined, "c"],
  );
});

test("the arguments of a call are the same whatever their white space, and another function is another call", () => {
  const store = new AnswerStore();
  const parts = (text: string, name = "add") => [
    { kind: "call" as const, text, name, callId: "c" },
  ];
  store.add(answer("a", "", { turn: { parts: parts('{"a": 1}') } }));
  assert.equal(store.like({ parts: parts('{"a":1}') }).length, 1);
  assert.equal(store.like({ parts: parts('{"a":2}') }).length, 0);
  assert.equal(store.like({ parts: parts('{"a":1}', "sub") }).length, 0);
});
