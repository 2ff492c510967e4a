import assert from "node:assert/strict";
import { test } from "node:test";
import { PartReader } from "./part-reader.js";

/** What is read of a text that comes in pieces of so many characters, and the events of it. */
function read(text: string, size: number, prompt = "") {
  const events: string[] = [];
  const reader = new PartReader(prompt, () => ({}), {
    begun: ({ kind }) => events.push(`+${kind}`),
    more: () => {},
    ended: ({ kind }) => events.push(`-${kind}`),
  });
  for (let at = 0; at < text.length; at += size) reader.push(text.slice(at, at + size));
  const parts = reader.end([{ name: "f", arguments: "{}" }]);
  return { events, said: parts.map(({ kind, text: own }) => [kind, own]) };
}

const call = ["call", "{}"];

test("a thought is what stands in <think> where an answer begins with it, however the text is cut", () => {
  for (let size = 1; size < 12; size++) {
    const { said, events } = read("\n<think>a </b> c</think>\nyes <think>no</think>", size);
    assert.deepEqual(said, [["thought", "a </b> c"], ["text", "\nyes <think>no</think>"], call]);
    assert.deepEqual(events, ["+thought", "-thought", "+text", "-text", "+call", "-call"]);
    assert.deepEqual(read("<thin ice", size).said, [["text", "<thin ice"], call]);
    assert.deepEqual(read("<think>cut </thi", size).said, [["thought", "cut </thi"], call]);
    assert.deepEqual(read("a</think>b", size, "…<think>\n").said, [
      ["thought", "a"],
      ["text", "b"],
      call,
    ]);
    assert.deepEqual(read("", size).said, [call]);
  }
});
