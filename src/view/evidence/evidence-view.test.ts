import assert from "node:assert/strict";
import { test } from "node:test";
import { Evidence } from "../../measure/evidence/evidence.js";
import { outcomeOf } from "../../measure/evidence/evidence-values.js";
import "../../api/view.js";
import { toHtml } from "../export/to-html.js";
import { textWidth } from "../draw/text-width.js";
import { sans } from "../draw/theme.js";
import { toSvg } from "../export/to-svg.js";

const hostile = '</script><img src=x onerror="alert(1)">';
const forks = (answers: readonly string[]) =>
  answers.map((answer) => ({ answer, score: Number(answer === "7") }));
const isSame = (answer: string) => answer === "7";
const eight = (answer: string) => Array<string>(8).fill(answer);
const found = new Evidence(
  [
    {
      ...{ node: 3, trajectory: 1, turn: 0, tag: "search", input: hostile, answer: "7" },
      kept: outcomeOf(`7 ${hostile}`, forks(eight("7")), isSame),
      changed: {
        blanked: { ...outcomeOf("", forks(eight("1")), isSame), verdict: "falls" },
        contradicted: { ...outcomeOf("9", forks(eight("7")), isSame), verdict: "stays" },
      },
    },
  ],
  { policy: "scripted", tries: 8, seed: 1, changes: ["blanked", "contradicted", "exchanged"] },
  { tokens: 123, left: [`1 of 2 tool results ${hostile}`] },
);

test("evidence shows shares with their intervals, and what each change says", () => {
  const html = toHtml(found);
  assert.match(
    html,
    /The answer stays in 100% of forks with the result as it was, 0% blanked, 100% contradicted\./,
  );
  assert.match(html, /falls: the answer rests on it/);
  assert.match(html, /stays: the answer does not rest on it/);
  assert.match(html, /100% \(68% to 100%\)/);
  assert.match(html, /8 × <code>1<\/code>/);
  assert.match(String(found), /node 3\tsearch\t7\t100%\t0% falls\t100% stays\t–/);
});

test("the longest words about all results fit into the picture", () => {
  const { settings } = found;
  const twelve = Array.from({ length: 12 }, () => found.results[0]!);
  const svg = toSvg(new Evidence(twelve, settings, { tokens: 0, left: [] }));
  const width = Number(/viewBox="0 0 (\d+)/.exec(svg)![1]);
  const said = [...svg.matchAll(/<text x="([\d.]+)"[^>]*>(falls \d+, stays \d+ of \d+)</g)];
  assert.ok(said.length > 0);
  for (const [, x, text] of said)
    assert.ok(Number(x) + textWidth(text!, `400 11.5px ${sans}`) < width, text);
});

test("no text of a tool or an answer is code, in the page and in the picture", () => {
  for (const text of [toHtml(found), toSvg(found)]) {
    assert.doesNotMatch(text, /<img src=x/);
    assert.match(text, /&#60;\/script/);
  }
});

test("a result that leads to no answer says so", () => {
  const kept = outcomeOf("x", forks(eight("")), () => true);
  const one = {
    node: 0,
    trajectory: 0,
    turn: 0,
    tag: "t",
    input: "",
    answer: "",
    kept,
    changed: {},
  };
  const none = new Evidence([one], found.settings, { tokens: 0, left: [] });
  assert.match(toHtml(none), /No result leads to an answer/);
});
