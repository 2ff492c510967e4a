import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Completion } from "../../kernel/contract/compiler.js";
import { TestSession } from "./test-session.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-assist-")));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "lib"));
writeFileSync(
  join(folder, "lib/shapes.ts"),
  "/** A side. */\nexport const side = 1; export interface Shape { area: number }",
);
writeFileSync(join(folder, "lib/data.json"), "{}");

const s = new TestSession(folder);

/** `|` marks the cursor. */
async function at(text: string): Promise<Completion> {
  const position = text.indexOf("|");
  return s.compiler.complete(text.replace("|", ""), position, folder);
}

async function look(text: string, detail: 0 | 1 = 0): Promise<string> {
  const position = text.indexOf("|");
  const found = await s.compiler.inspect(text.replace("|", ""), position, detail, folder);
  return String(found?.["text/plain"] ?? "");
}

test("complete() knows members, with kinds, signatures and documentation", async () => {
  await s.run(`
    /** Where things are kept. */
    class Store { /** How many. */ size = 0; /** Puts one in. */ put(key: string, value: number): void { this.size += value } }
    const store = new Store();
    let counter = 1`);
  const found = await at("store.|");
  deepEqual(found.matches, ["put", "size"]);
  deepEqual(found.items, [
    {
      text: "put",
      type: "method",
      signature: "(key: string, value: number) => void",
      documentation: "Puts one in.",
    },
    { text: "size", type: "property", signature: "number", documentation: "How many." },
  ]);
  const typed = await at("const x = store.pu|; 1");
  deepEqual([typed.matches, typed.start, typed.end], [["put"], 16, 18]);
});

test("complete() knows names of the session, of the cell and of Node", async () => {
  ok((await at("cou|")).matches.includes("counter"));
  equal((await at("cou|")).items.find(({ text }) => text === "counter")?.type, "variable");
  ok((await at("const here = 1; her|")).matches.includes("here"));
  ok((await at("proc|")).matches.includes("process"));
  ok((await at("process.arg|")).matches.includes("argv"));
  ok((await at("let s: Sto|")).matches.includes("Store"));
  equal((await at("awai|")).items.find(({ text }) => text === "await")?.type, "keyword");
  equal(
    (await at("const a = {b: 1}; a.| \nfoo(")).matches[0],
    "b",
    "the rest need not be finished",
  );
});

test("complete() prefers what goes on as typed", async () => {
  await s.run("const Alpha = 1, alphabet = 2, betaAlpha = 3");
  const { matches } = await at("alpha|");
  deepEqual(matches.slice(0, 3), ["alphabet", "Alpha", "betaAlpha"]);
});

test("complete() replaces the whole name around the cursor, in any script", async () => {
  await s.run("const größe = 1; const 尺寸 = 2; const 𝒳value = 3");
  const found = await at("'🎉🎉'; grö|x");
  deepEqual([found.matches, found.start, found.end], [["größe"], 8, 12]);
  deepEqual((await at("尺|")).matches, ["尺寸"]);
  deepEqual((await at("𝒳v|")).matches, ["𝒳value"]);
});

test("complete() lists modules and paths", async () => {
  ok((await at("import fs from 'node:f|'")).matches.includes("node:fs"));
  ok((await at("import x from './|'")).matches.includes("lib"));
  const path = await at("import x from './lib/sh|'");
  deepEqual([path.matches, path.start, path.end], [["shapes"], 21, 23]);
  ok((await at("import { si| } from './lib/shapes'")).matches.includes("side"));
});

test("complete() knows object literals, unions and the arguments of a call", async () => {
  await s.run(
    "function draw(options: { color: 'red' | 'green'; width?: number }) { return options }",
  );
  deepEqual((await at("draw({ | })")).matches, ["color", "width"]);
  deepEqual((await at("draw({ color: '|' })")).matches, ["green", "red"]);
});

test("complete() has nothing to say in a comment", async () => {
  deepEqual((await at("// stor|")).matches, []);
});

test("inspect() gives signature and documentation", async () => {
  await s.run(`
    /**
     * Adds two numbers, see {@link Store}.
     * @param a the first
     * @returns their sum
     */
    function add(a: number, b = 2): number { return a + b }`);
  const text = await look("ad|d(1)");
  match(text, /^function add\(a: number, b\?: number\): number/);
  match(text, /Adds two numbers, see Store\./);
  match(text, /@param a the first/);
  match(await look("add(|)"), /add\(a: number, b\?: number\): number/);
  match(await look("add|"), /^function add/);
  match(await look("add", 1).then(() => look("a|dd", 1)), /return a \+ b/);
  match(await look("sto|re.put"), /const store: Store/);
  match(await look("store.p|ut"), /\(method\) Store\.put/);
});

test("inspect() knows the standard library and imports", async () => {
  match(await look("[1].ma|p"), /Calls a defined callback function on each element/);
  match(await look("import { si|de } from './lib/shapes'"), /A side\./);
  match(await look("Math.ma|x(1)"), /Returns the larger of a set/);
});

test("inspect() has nothing to say about nothing", async () => {
  equal(await look("|"), "");
  equal(await look("1 +| 2"), "");
});

test("isComplete() tells finished from unfinished", () => {
  const of = (text: string) => s.compiler.isComplete(text);
  deepEqual(of("1 + 1"), { status: "complete" });
  deepEqual(of("for (;;) {"), { status: "incomplete", indent: "  " });
  deepEqual(of("if (a) {\n  f("), { status: "incomplete", indent: "    " });
  deepEqual(of("f(1,"), { status: "incomplete", indent: "" });
  deepEqual(of("const x ="), { status: "incomplete", indent: "" });
  deepEqual(of("`open"), { status: "incomplete", indent: "" });
  deepEqual(of("/* open"), { status: "incomplete", indent: "" });
  deepEqual(of("let 1a = 2"), { status: "invalid" });
  deepEqual(of("'open"), { status: "invalid" });
  deepEqual(of("f(1))"), { status: "invalid" });
  deepEqual(of("await x"), { status: "complete" });
  deepEqual(of(""), { status: "complete" });
});

test("complete() knows what the kernel's own package has, also where it is not installed", async () => {
  deepEqual((await at(`import { Random } from "arpo-lab/pol|"`)).matches, ["policy"]);
  const { matches, start, end } = await at(`import * as lab from "arpo|"`);
  ok(["arpo-lab", "arpo-lab/kernel", "arpo-lab/rollout"].every((name) => matches.includes(name)));
  deepEqual([start, end], [22, 26]);
  ok(!matches.some((name) => name.startsWith("arpo-lab/internal/")), matches.join());
  deepEqual((await at(`const text = "arpo|"`)).matches, []);
});

test("complete() behind a global of Node's does not wait for Node's types, the first time", async () => {
  const fresh = new TestSession(folder, { language: "typescript" });
  fresh.compiler.warm?.();
  const first = async (marked: string) => {
    const position = marked.indexOf("|");
    return await fresh.compiler.complete(marked.replace("|", ""), position, folder);
  };
  const plain = { type: "property" };
  const found = await first("const v = process.ver|;");
  deepEqual(found.items, [
    { text: "version", ...plain },
    { text: "versions", ...plain },
  ]);
  deepEqual([found.start, found.end], [18, 21]);
  ok((await first("process.|")).matches.includes("cwd"));
  equal((await first("Buffer.allo|")).items[0]?.type, "method");
  ok((await first("process.versions.|")).matches.includes("v8"));
  deepEqual((await first("'process.|'")).matches, []);
  // A name that the cell declares is the cell's, and what a getter gives is asked of the types.
  deepEqual((await first("const process = { ours: 1 }; process.o|")).matches, ["ours"]);
  ok((await first("process.stdout.wri|")).matches.includes("write"));
  const typed = (await first("process.cwd|")).items.find(({ text }) => text === "cwd");
  match(typed?.signature ?? "", /=> string/);
});
