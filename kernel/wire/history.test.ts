import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { History } from "./history.js";

const root = mkdtempSync(join(tmpdir(), "arpo-history-"));
after(() => rmSync(root, { recursive: true }));

function session(name: string, ...sources: string[]): History {
  const history = new History(join(root, name));
  for (const [i, source] of sources.entries()) history.add(i + 1, source);
  return history;
}
const rows = (history: History, request: Record<string, unknown>): unknown =>
  history.answer(request).history;

test("History.answer() gives the tail over sessions, oldest first", () => {
  session("tail", "a", "b").close();
  const now = session("tail", "c");
  assert.deepEqual(rows(now, { hist_access_type: "tail", n: 2 }), [
    [1, 2, "b"],
    [2, 1, "c"],
  ]);
  assert.deepEqual(rows(now, { hist_access_type: "tail", n: 1, output: true }), [
    [2, 1, ["c", null]],
  ]);
  now.close();
});

test("History.answer() gives ranges of this session, of earlier ones and of none", () => {
  session("range", "a", "b", "c").close();
  const now = session("range", "d", "e");
  const range = (session: number, start: number, stop: number): unknown =>
    rows(now, { hist_access_type: "range", session, start, stop });
  assert.deepEqual(range(0, 2, 9), [[2, 2, "e"]]);
  assert.deepEqual(range(-1, 1, 3), [
    [1, 1, "a"],
    [1, 2, "b"],
  ]);
  assert.deepEqual(range(1, 3, 4), [[1, 3, "c"]]);
  assert.deepEqual(range(99, 1, 9), []);
  now.close();
});

test("History.answer() searches with * and ?, and each text once where asked", () => {
  const now = session("search", "let x = 1", "let y = 1", "f(x)", "let x = 1", "a\nlet x = 1");
  const search = (pattern: string, more = {}): unknown =>
    (rows(now, { hist_access_type: "search", pattern, ...more }) as unknown[][]).map((r) => r[1]);
  assert.deepEqual(search("let ? = 1"), [1, 2, 4]);
  assert.deepEqual(search("let ? = 1", { unique: true }), [2, 4]);
  assert.deepEqual(search("*(x)"), [3]);
  assert.deepEqual(search("*let*", { n: 1 }), [5]);
  assert.deepEqual(search("[l]et*"), []);
  now.close();
});

test("History gives kernels that run at once sessions of their own", () => {
  const [a, b] = [session("both", "a"), session("both", "b")];
  a.add(2, "aa");
  const files = readdirSync(join(root, "both"));
  assert.deepEqual(files.sort(), ["1.jsonl", "2.jsonl"]);
  assert.deepEqual(rows(b, { hist_access_type: "range", session: 0 }), [[2, 1, "b"]]);
  assert.deepEqual(rows(b, { hist_access_type: "range", session: -1 }), [
    [1, 1, "a"],
    [1, 2, "aa"],
  ]);
  a.close();
  b.close();
});

test("History reads past half a line that a killed kernel left", () => {
  session("half", "whole").close();
  appendFileSync(join(root, "half", "1.jsonl"), '[2,"cu');
  const now = session("half", "now");
  assert.deepEqual(rows(now, { hist_access_type: "tail", n: 9 }), [
    [1, 1, "whole"],
    [2, 1, "now"],
  ]);
  now.close();
});

test("History without a folder remembers its own session", () => {
  const now = new History(undefined);
  now.add(1, "x");
  assert.deepEqual(rows(now, { hist_access_type: "tail", n: 5 }), [[1, 1, "x"]]);
});

test("History.answer() names an access type it does not know", () => {
  const { status, evalue } = new History(undefined).answer({ hist_access_type: "whole" });
  assert.equal(status, "error");
  assert.equal(
    evalue,
    "Cannot read history: hist_access_type must be range, tail or search, got whole",
  );
});
