import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteTokenizer } from "../../../tests/policy/byte-tokenizer.js";
import { Random } from "../../base/random/random.js";
import { TextStream } from "./choice.js";

const tokenizer = new ByteTokenizer(["</", "b>"]);
const options = { stops: [], includeStop: false, skipSpecial: true };

test("TextStream gives a character when its last byte is there", () => {
  const stream = new TextStream(tokenizer, options);
  const given = [...Buffer.from("a🙂é")].map((byte) => stream.push(byte));
  assert.deepEqual(given, ["a", "", "", "", "🙂", "", "é"]);
  assert.equal(stream.end(), "");
  const broken = new TextStream(tokenizer, options);
  assert.equal(broken.push(0xf0), "");
  assert.equal(broken.end(), "\uFFFD");
});

test("TextStream holds back what may become a stop string", () => {
  const stream = new TextStream(tokenizer, { ...options, stops: ["</b>"] });
  const ids = tokenizer.encode("x<y</i</b>z");
  assert.deepEqual(
    ids.map((id) => stream.push(id)),
    ["x", "", "<y", "", "</i", "", "", ""],
  );
  assert.equal(stream.end("</b>"), "");
  assert.equal(stream.given, 6);
  const kept = new TextStream(tokenizer, { ...options, stops: ["</b>"], includeStop: true });
  ids.forEach((id) => kept.push(id));
  assert.equal(kept.end("</b>"), "</b>");
  // What only looked like one comes after all.
  const other = new TextStream(tokenizer, { ...options, stops: ["</b>"] });
  assert.deepEqual([other.push(256), other.end()], ["", "</"]);
});

test("TextStream leaves special tokens out or in", () => {
  for (const skipSpecial of [true, false]) {
    const stream = new TextStream(tokenizer, { ...options, skipSpecial });
    const text = stream.push(97) + stream.push(tokenizer.eosId) + stream.end();
    assert.equal(text, skipSpecial ? "a" : "a<eos>");
  }
});

test("TextStream says in pieces what the whole says", () => {
  const random = Random.from(5);
  const words = ["</", "b>", "🙂", "é", "答", "<", "/", "b", ">", "x"];
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: 12 }, () => random.choose(words)).join("");
    const stops = [["</b>"], ["🙂x", "bb"], ["答"]][round % 3]!;
    const stream = new TextStream(tokenizer, { ...options, stops });
    let said = "";
    let stop: string | undefined;
    const ids = tokenizer.encode(text);
    for (const [i, id] of ids.entries()) {
      said += stream.push(id);
      const whole = tokenizer.decode(ids.slice(0, i + 1));
      stop = stops.find((s) => whole.includes(s));
      if (stop !== undefined) break;
    }
    said += stream.end(stop);
    const cut = stop === undefined ? text : text.slice(0, text.indexOf(stop));
    assert.equal(said, cut, JSON.stringify({ text, stops }));
  }
});
