import assert from "node:assert/strict";
import { test } from "node:test";

type Files = [path: string, text: string][];
const script = new URL("../../../tools/architecture/methods.mjs", import.meta.url);
const { spreadIn } = (await import(script.href)) as {
  spreadIn(
    files: Files,
    known: { methods: string[]; losses: string[] },
    allowed?: Map<string, [number, string]>,
  ): string[];
};

const none = new Map<string, [number, string]>();
const known = { methods: ["leaf-walk", "leaf_walk", "leaf"], losses: ["steady", "leaf"] };
const rule: Files = [
  ["src/rules/leaf-walk.ts", 'name: "leaf-walk"'],
  ["src/rules/registry.ts", 'import { leafWalk } from "./leaf-walk.js"'],
  ["src/estimators/leaf-walk.ts", 'name: "leaf_walk"'],
  ["src/estimators/registry.ts", "leafWalkEstimator"],
];

test("a method may stand in its definitions and their registries", () => {
  assert.deepEqual(spreadIn(rule, known, none), []);
});

test("a fifth file that names a method is a fault, in any spelling and in comments", () => {
  for (const text of ['rule === "leaf-walk"', "leaf_walk", "leafWalks", "// as LeafWalk does"]) {
    assert.deepEqual(
      spreadIn([...rule, ["src/view/page.ts", text]], known, none),
      [
        "leaf-walk: 5, at most 4: src/rules/leaf-walk.ts, src/rules/registry.ts, src/estimators/leaf-walk.ts, src/estimators/registry.ts, src/view/page.ts",
      ],
      text,
    );
  }
  const loss: Files = [["src/learn/losses/steady.ts", "the loss of leaf-walk"]];
  assert.deepEqual(spreadIn([...rule, ...loss], known, none), []);
  assert.match(
    spreadIn([...rule, ...loss, ["src/view/page.ts", "leafWalk"]], known, none)[0]!,
    /^leaf-walk: 6, at most 5/,
  );
  const allowed = new Map<string, [number, string]>([["leaf-walk", [5, "the page has its name"]]]);
  assert.deepEqual(spreadIn([...rule, ["src/view/page.ts", "leafWalk"]], known, allowed), []);
});

test("a loss is counted where it is quoted or imported; one of a method's name may stand in five files", () => {
  const quoted = (count: number, text: string): Files =>
    Array.from({ length: count }, (_, i) => [`src/learn/losses/${i}.ts`, text]);
  assert.deepEqual(spreadIn(quoted(9, "a steady hand"), known, none), []);
  assert.deepEqual(spreadIn(quoted(4, 'loss === "steady"'), known, none), []);
  assert.match(spreadIn(quoted(5, "`steady`"), known, none)[0]!, /^steady: 5, at most 4/);
  assert.match(spreadIn(quoted(5, 'from "./steady.js"'), known, none)[0]!, /^steady: 5/);
  assert.deepEqual(spreadIn(quoted(5, '"leaf"'), known, none), []);
  assert.match(spreadIn(quoted(6, '"leaf"'), known, none)[0]!, /^leaf: 6, at most 5/);
});
