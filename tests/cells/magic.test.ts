import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { FakeHost } from "../display/fake-host.js";
import { Tracebacks } from "../../kernel/run/traceback.js";
import type { Completion } from "../../kernel/contract/compiler.js";
import { TestSession } from "./test-session.js";
import { readOptions } from "../../kernel/compile/magic/options.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-magic-")));
after(() => rmSync(folder, { recursive: true }));
const files: Record<string, string> = {
  "package.json": JSON.stringify({ type: "module", "arpo-lab": { stages: ["./stages.js"] } }),
  "stages.js": `export const stages = [
    {
      name: "grow",
      doc: "Grows a tree.",
      options: {
        n: { doc: "how many leaves", type: "number" },
        kind: { doc: "which tree", type: '"oak" | "pine"' },
        label: { doc: "a text on it", type: "string" },
        wet: { doc: "with water", type: "boolean" },
        preset: { doc: "a start", type: '"small" | "large"', default: "small", as: "...presets.{value}" },
      },
      into: "tree",
      template: "const {into} = grow({body}, {options}); {into}",
      uses: { grow: "forest", presets: "forest", "type Seed": "forest" },
    },
    {
      name: "judge",
      doc: "Judges.",
      options: {},
      into: "judge",
      template: "const {into}: Judge = {body}; {into}",
      uses: { "type Judge": "forest" },
    },
    { name: "plain", doc: "No body.", options: { n: { doc: "n", type: "number" } }, template: "[{options}]" },
  ]`,
  "node_modules/forest/package.json": JSON.stringify({
    name: "forest",
    type: "module",
    main: "i.js",
    types: "i.d.ts",
  }),
  "node_modules/forest/i.js":
    "export const presets = { small: { n: 1 }, large: { n: 100 } }; export const grow = (seed, options) => ({ seed, ...options });",
  "node_modules/forest/i.d.ts": `export interface Seed { name: string }
    export interface Options { n: number; kind?: "oak" | "pine"; label?: string; wet?: boolean }
    export declare const presets: { small: { n: number }; large: { n: number } };
    /** Lets a seed grow. */
    export declare function grow(seed: Seed, options: Options): Seed & Options;
    export type Judge = (tree: Seed & Options) => number;`,
};
for (const [path, text] of Object.entries(files)) {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const s = new TestSession(folder);
const host = s.host as FakeHost;

async function printed(source: string): Promise<string> {
  host.calls.length = 0;
  await s.run(source);
  return host.calls.map(({ text }) => text ?? "").join("");
}

async function at(text: string): Promise<Completion> {
  return s.compiler.complete(text.replace("|", ""), text.indexOf("|"), folder);
}

async function look(text: string): Promise<string> {
  const found = await s.compiler.inspect(text.replace("|", ""), text.indexOf("|"), 0, folder);
  return String(found?.["text/plain"] ?? "");
}

test("a stage cell is the calls it stands for", async () => {
  deepEqual(await s.run("%%grow n=3 kind=oak\n({ name: 'a' })"), {
    seed: { name: "a" },
    n: 3,
    kind: "oak",
  });
  equal(await s.run("tree.n * 2"), 6);
  await s.run("const groups = 4");
  deepEqual(
    await s.run(`%%grow n=2*groups label="two words" wet into=other preset=large
const name = 'b';
const seed = { name };
seed // the last one`),
    { seed: { name: "b" }, n: 8, label: "two words", wet: true },
  );
  equal(await s.run("other.n"), 8);
  deepEqual(await s.run("%%plain n=(1 + 1)"), [{ n: 2 }]);
});

test("a stage cell does not replace what a person made under its name, and its own it does", async () => {
  await s.run("%%grow n=3\n({ name: 'a' })");
  await s.run("%%grow n=4\n({ name: 'a' })");
  equal(await s.run("tree.n"), 4);
  await s.run("const tree = 'mine'; 0");
  deepEqual(await s.errors("%%grow n=1\n({ name: 'a' })"), [
    "1:1 Cannot run %%grow: it would replace your own tree; name what it makes, as in into=tree2",
  ]);
  equal(await s.run("tree"), "mine");
  await s.run("%%grow n=2 into=tree2\n({ name: 'a' })");
  deepEqual([await s.run("tree2.n"), await s.run("tree")], [2, "mine"]);
  await s.run("%%grow n=5 into=tree\n({ name: 'a' })");
  equal(await s.run("tree.n"), 5);
});

test("%%show prints the calls and runs nothing", async () => {
  match(await printed("%%show\n%%rollout\n1"), /preset: "arpo"/);
  equal(
    await printed("%%show\n%%grow n=5 into=shown kind='pine'\nseed;"),
    `const shown = grow((seed), { ...presets.small, n: 5, kind: "pine" }); shown\n`,
  );
  match(
    await printed("%%show\n%%judge\n(t) => t.n"),
    /^import \{ type Judge \} from "forest"; *\n+const judge: Judge = \(\(t\) => t\.n\); judge\n$/,
  );
  equal(
    await printed("%%show\n%%html\n<b>`x`</b>"),
    'import { display } from "arpo-lab/kernel"; display.html(`<b>\\`x\\`</b>`)\n',
  );
  equal(await printed("%%show\n%%time\n1 + 1"), "1 + 1\n");
});

test("a stage cell names unknown options, with the nearest, where they stand", async () => {
  deepEqual(await s.errors("%%grow kidn=oak n=1\nseed"), [
    "1:8 Cannot read option kidn: %%grow has none; did you mean kind?",
  ]);
  deepEqual(await s.errors("\n%%grow n=1 zzzzzz=1\nseed"), [
    "2:12 Cannot read option zzzzzz: %%grow has none; it has n, kind, label, wet, preset",
  ]);
  deepEqual(await s.errors("%%grow second\nseed"), [
    "1:8 Cannot read option second: %%grow has none; it has n, kind, label, wet, preset; into=second names what the cell makes",
  ]);
  deepEqual(await s.errors("%%grow n=1 kind=ok\nseed"), [
    "1:17 Cannot read option kind: it must be one of oak, pine, got ok; did you mean oak?",
  ]);
  deepEqual(await s.errors("%%grow n=1 n=2\nseed"), [
    "1:12 Cannot read option n: it is given twice",
  ]);
  deepEqual(await s.errors("%%grow n\nseed"), [
    "1:8 Cannot read option n: it needs a value (number)",
  ]);
  deepEqual(await s.errors("%%grow n=1"), ["1:1 Cannot run %%grow: it needs a body"]);
  deepEqual(await s.errors("%%grow n=1\nconst x = 1"), [
    "2:1 Cannot run %%grow: its body must end in an expression",
  ]);
  deepEqual(await s.errors("%%gorw n=1\n1"), [
    "1:1 Cannot run %%gorw: there is no such cell; did you mean %%grow?",
  ]);
  deepEqual(await s.errors("%%grow n=1\n%%judge\n1"), [
    "2:1 Cannot run %%judge: a cell has one stage, and it is %%grow",
  ]);
  deepEqual(await s.errors("%%grow n=1 into=1x\nseed"), [
    "1:12 Cannot read into: it must be a name, got 1x",
  ]);
});

test("a stage cell is checked by the types of what it calls", async () => {
  deepEqual(await s.errors("%%grow n='three'\n({ name: 'a' })"), [
    "1:8 Cannot call grow: n must be number, got string",
  ]);
  deepEqual(await s.errors("%%grow n=nope\n({ name: 'a' })"), ["1:10 Cannot find name 'nope'."]);
  const [first] = await s.errors("%%grow n=1\n\n({ nam: 'a' })");
  match(first ?? "", /^3:4 .*there is no nam; accepted are name/);
  match(
    (await s.errors("%%judge\n(t) =>\n  t.leaves"))[0] ?? "",
    /^3:5 Property 'leaves' does not exist/,
  );
  match((await s.errors("%%grow n=1\n({ name: 'a'"))[0] ?? "", /^2:13 /);
});

test("a stage cell's frames carry the lines of the cell", async () => {
  const source = "%%grow n=1\nconst a = 1;\n(() => { throw new Error('here') })()";
  const compiled = await s.compile(source);
  if (!compiled.ok || !("map" in compiled)) throw new Error("compiles");
  const tracebacks = new Tracebacks();
  tracebacks.add(`cell-${compiled.id}.ts`, 7, source, compiled.map);
  const error: unknown = await s.evaluate(compiled).catch((reason: unknown) => reason);
  match(tracebacks.report(error).traceback[1] ?? "", /^ {4}at cell 7, line 3:/);
});

test("complete() and inspect() work on magics, options, values and bodies", async () => {
  deepEqual((await at("%%gr|")).matches, ["grow"]);
  const all = (await at("%%|")).matches;
  deepEqual(
    ["grow", "judge", "plain", "time"].filter((name) => !all.includes(name)),
    [],
  );
  deepEqual((await at("%%grow n=1 |\nseed")).matches, [
    "kind=",
    "label=",
    "wet=",
    "preset=",
    "into=",
  ]);
  const key = await at("%%grow ki|=oak\nseed");
  deepEqual([key.matches, key.start, key.end], [["kind="], 7, 9]);
  equal(key.items[0]?.signature, '"oak" | "pine"');
  deepEqual((await at("%%grow kind=|\nseed")).matches, ["oak", "pine"]);
  deepEqual((await at("%%grow kind=p|\nseed")).matches, ["pine"]);
  deepEqual((await at("%%grow wet=|\nseed")).matches, ["true", "false"]);
  const value = await at("%%grow n=2*grou|\nseed");
  deepEqual([value.matches, value.start, value.end], [["groups"], 11, 15]);
  const member = await at("%%judge\n(t) => t.la|");
  deepEqual([member.matches, member.start, member.end], [["label"], 17, 19]);
  deepEqual((await at("%%grow n=1\n({ | })")).matches, ["name"]);
  deepEqual((await at("%%nocheck note|")).matches, ["notebook"]);
  match(
    await look("%%gro|w n=1\nseed"),
    /Grows a tree\.[\s\S]*kind: "oak" \| "pine" {2}which tree/,
  );
  match(await look("%%grow ki|nd=oak\nseed"), /^kind: "oak" \| "pine"\n\nwhich tree/);
  match(await look("%%judge\n(t) => t.la|bel"), /label\?: string/);
  match(await look("%%ti|me\n1"), /how long/);
});

test("%%nocheck, %%check, %%js and a notebook's setting decide on types", async () => {
  const fresh = new TestSession(folder);
  equal(await fresh.run("%%nocheck\nconst a: number = 'x'; a"), "x");
  equal((await fresh.errors("const a: number = 'x'")).length, 1);
  await fresh.run("%%nocheck notebook\nlet b: number = 'x'");
  equal(await fresh.run("const c: number = b + 'y'; c"), "xy");
  equal((await fresh.errors("%%check\nconst d: number = 'x'")).length, 1);
  await fresh.run("%%check notebook");
  equal((await fresh.errors("const e: number = 'x'")).length, 1);
  equal(await fresh.run("%%js\nlet v = 1; v = 'two'; v"), "two");
  match((await fresh.errors("%%js\nlet v: number = 1"))[0] ?? "", /^2:8 Type annotations can only/);
  deepEqual(await fresh.errors("%%time now\n1"), [
    "1:8 Cannot read now: %%time does not know it; it takes nothing",
  ]);
});

test("%%time tells how long a cell took, also when it fails", async () => {
  match(
    await printed("%%time\nfunction quick() { return 1 }\nconst q = quick(); q"),
    /^Wall time: [\d.]+ (µs|ms)\n$/,
  );
  equal(await s.run("q + quick()"), 2);
  host.calls.length = 0;
  await rejects(s.run("%%time\nthrow new Error('no')"), /no/);
  match(host.calls[0]?.text ?? "", /Wall time/);
});

test("%%html, %%markdown, %%latex and %%svg show their body", async () => {
  for (const [magic, mime] of [
    ["html", "text/html"],
    ["markdown", "text/markdown"],
    ["latex", "text/latex"],
    ["svg", "image/svg+xml"],
  ]) {
    host.calls.length = 0;
    await s.run(`%%${magic}\n<p>\`$\{x}\`</p>`);
    equal(host.calls[0]?.bundle?.[mime!], "<p>`$\{x}`</p>");
  }
});

test("%%bash is off unless allowed", async () => {
  delete process.env.ARPO_LAB_ALLOW_BASH;
  match(
    (await s.errors("%%bash\necho hi"))[0] ?? "",
    /^1:1 Cannot run %%bash: .*ARPO_LAB_ALLOW_BASH=1/,
  );
  process.env.ARPO_LAB_ALLOW_BASH = "1";
  equal(await printed("%%bash\necho hi\necho $((1 + 1))"), "hi\n2\n");
  await rejects(s.run("%%bash\nexit 3"), /must exit with 0, got 3/);
  delete process.env.ARPO_LAB_ALLOW_BASH;
});

test("?name shows documentation in the pager", async () => {
  await s.run("/** Doubles. */\nfunction twice(n: number) { return n * 2 }");
  for (const question of ["?twice", "twice?", " ? twice "]) {
    const compiled = await s.compile(question);
    if (!("pager" in compiled)) throw new Error("a pager");
    match(String(compiled.pager["text/plain"]), /function twice\(n: number\): number\n\nDoubles\./);
  }
  const source = await s.compile("twice??");
  match(JSON.stringify(source), /return n \* 2/);
  match(JSON.stringify(await s.compile("Math.max?")), /Returns the larger/);
  match(JSON.stringify(await s.compile("?nowhere")), /Nothing is known of nowhere/);
});

test("registerStage() adds a stage to the running session", async () => {
  const s = new TestSession(folder);
  equal(
    await s.run(`import { registerStage } from "arpo-lab/kernel";
await registerStage({ name: "shout", doc: "Shouts.", options: { times: { doc: "how often", type: "number", default: "2" } },
  into: "loud", template: "const {into} = String({body}).toUpperCase().repeat(({options}).times); {into}" })`),
    undefined,
  );
  equal(await s.run("%%shout\n'a'"), "AA");
  equal(await s.run("%%shout times=3\n'b'"), "BBB");
  match((await s.compiler.complete("%%sho", 5, folder)).matches.join(), /shout/);
  await rejects(
    s.run(`await registerStage({ name: "time", doc: "", options: {}, template: "" })`),
    /the kernel has a magic of that name/,
  );
  await rejects(
    s.run(`await registerStage({ name: "a b", doc: "", options: {}, template: "" })`),
    /its name must be a word/,
  );
});

test("isComplete() knows magics", () => {
  const of = (text: string) => s.compiler.isComplete(text).status;
  equal(of("%%time\n1 + 1"), "complete");
  equal(of("%%time\n1 +"), "incomplete");
  equal(of("%%grow n=1\n(t) => {"), "incomplete");
  equal(of("%%html\n<b>"), "incomplete");
  equal(of("%%html\n<b>\n"), "complete");
  equal(of("name?"), "complete");
});

test("readOptions() keeps quotes and brackets together", () => {
  const source = `a=1 b="x y" c={ d: [1, 2] } e f='it\\'s' g=(1 + 2)`;
  deepEqual(
    readOptions(source, 0, source.length).map(({ key, value }) => [key, value]),
    [
      ["a", "1"],
      ["b", '"x y"'],
      ["c", "{ d: [1, 2] }"],
      ["e", undefined],
      ["f", "'it\\'s'"],
      ["g", "(1 + 2)"],
    ],
  );
});

test("what IPython would have run says what to write instead", async () => {
  const cases: [string, RegExp][] = [
    [
      "!ls",
      /^1:1 Cannot run !ls: .*execSync\("ls", \{ encoding: "utf8" \}\), or a cell that begins with %%bash$/,
    ],
    ["1;\n!ls -l /tmp", /^2:1 Cannot run !ls -l \/tmp: .*execSync\("ls -l \/tmp"/],
    ["!pip install numpy", /run `npm install NAME` in a terminal/],
    ["%time 1+1", /^1:1 Cannot run %time 1\+1: write %%time on the first line/],
    ["%load_ext x", /import a package instead/],
    ["%matplotlib inline", /a figure as a cell's last value is drawn/],
    ["%pip install x", /run `npm install NAME` in a terminal/],
    ["%cd ..", /process\.chdir/],
    ["%%javascript\nalert(1)", /^1:1 Cannot run %%javascript: %%js runs the body/],
    ["%%timeit\n1", /^1:1 Cannot run %%timeit: write %%time/],
  ];
  for (const [source, said] of cases) {
    const errors = await s.errors(source);
    equal(errors.length, 1, `${source}: ${errors.join("; ")}`);
    match(errors[0]!, said);
  }
  // A text may hold such lines, and names that look like commands are names.
  deepEqual(await s.run("`\n%time 1\n!ls`.length"), 12);
  deepEqual(await s.errors("const done = false, find = false;\n!find"), []);
});
