import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseLenient, readLines } from "./import-rollouts.js";

const folder = await mkdtemp(join(tmpdir(), "lines-"));
after(() => rm(folder, { recursive: true }));

async function linesOf(bytes: string | Buffer, longest?: number) {
  const path = join(folder, "file");
  await writeFile(path, bytes);
  const lines = [];
  const options = longest === undefined ? {} : { longest };
  for await (const { line, text } of readLines(path, options)) lines.push([line, text]);
  return lines;
}

test("readLines() gives lines without their ends, and without a mark of the byte order", async () => {
  assert.deepEqual(await linesOf("\uFEFFa\r\n\nb\u2028c"), [
    [1, "a"],
    [2, ""],
    [3, "b\u2028c"],
  ]);
  assert.deepEqual(await linesOf(""), []);
  assert.deepEqual(await linesOf("a\n"), [[1, "a"]]);
});

test("readLines() keeps characters whole that two chunks share", async () => {
  const text = `${"x".repeat((1 << 20) - 1)}🙂é`;
  assert.deepEqual(await linesOf(`${text}\n${text}`), [
    [1, text],
    [2, text],
  ]);
});

test("readLines() passes over a line that is too long, without holding it", async () => {
  const long = "y".repeat(3 << 20);
  assert.deepEqual(await linesOf(`a\n${long}\nb\n${long}`, 1000), [
    [1, "a"],
    [2, undefined],
    [3, "b"],
    [4, undefined],
  ]);
});

test("parseLenient() takes Python's NaN and infinities for nothing, outside of texts alone", () => {
  assert.deepEqual(parseLenient('{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \\" Infinity"}'), {
    a: null,
    b: [null, null],
    c: 'NaN " Infinity',
  });
  assert.throws(() => parseLenient('{"a":nan}'), SyntaxError);
});
