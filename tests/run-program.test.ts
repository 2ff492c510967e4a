import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const bin = fileURLToPath(new URL("../../apps/cli/bin/arpo-lab.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-program-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [bin, "run", ...args]).catch(
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );

test("arpo-lab run FILE.ts runs a program with its arguments, types and neighbours", async () => {
  file("greeting.ts", "export enum Greeting { hello = 'hello' }\n");
  const path = file(
    "program.ts",
    `import { pathToFileURL } from "node:url";
     import { Random } from "arpo-lab";
     import { Greeting } from "./greeting.js";
     const [, itself, ...words]: string[] = process.argv;
     const isMain = import.meta.url === pathToFileURL(itself!).href;
     console.log(Greeting.hello, isMain, words.join(" "), Random.from(1).at(0) < 1);\n`,
  );
  const { stdout, stderr } = await run(path, "aepo", "10", "--", "--flag");
  assert.equal(stdout, "hello true aepo 10 --flag true\n");
  assert.doesNotMatch(stderr, /Warning/);
});

test("a fault in a program is shown at its line, and the command fails", async () => {
  const path = file(
    "broken.ts",
    'interface A {\n  a: number;\n}\nthrow new Error("no such luck");\n',
  );
  const failed = (await run(path)) as { code: number; stderr: string };
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /no such luck[^]*broken\.ts:4:/);
});

test("types are checked first, of the files beside it too; --no-check runs it as it is", async () => {
  file("sum.ts", "export const sum = (a: number, b: number): number => a + b;\n");
  const path = file(
    "typed.ts",
    'import { sum } from "./sum.js";\nimport { Random } from "arpo-lab";\nconsole.log(sum("1", 2), Random.from(1).at(0) < 1);\n',
  );
  const refused = (await run(path)) as { code: number; stdout: string; stderr: string };
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(
    refused.stderr,
    /typed\.ts:3:17: Argument of type 'string' is not assignable .* \(TS2345\)\nCannot run .*typed\.ts: its types must hold; --no-check runs it as it is\n$/,
  );
  assert.equal((await run("--no-check", path)).stdout, "12 true\n");
  const neighbour = file("neighbour.ts", 'import "./broken-types.js";\n');
  file("broken-types.ts", 'export const x: number = "no";\n');
  assert.match((await run(neighbour)).stderr, /broken-types\.ts:1:14: Type 'string'/);
});

test("what caused an error is printed with the line of the program", async () => {
  const path = file(
    "caused.ts",
    `import { score, rollout } from "arpo-lab";
import { ScriptedPolicy } from "arpo-lab/experimental/testing";
const tree = await rollout(new ScriptedPolicy(() => ({ text: "x" })), "?");
function mine(): number {
  throw new Error("my own mistake");
}
await score(tree, () => mine());\n`,
  );
  const { stderr } = await run(path);
  assert.match(stderr, /Cannot score task 0, trajectory 0: the reward threw my own mistake/);
  assert.match(stderr, /\[cause\]: Error: my own mistake[^]*caused\.ts:5:/);
});

test("a program that is not there, and arguments of a notebook, are refused", async () => {
  const none = (await run(join(folder, "none.ts"))) as { code: number; stderr: string };
  assert.equal(none.code, 2);
  assert.match(none.stderr, /^Cannot run a program: the file must be there, got .*none\.ts/);
  const notebook = (await run("a.ipynb", "b")) as { code: number; stderr: string };
  assert.equal(notebook.code, 2);
  assert.match(notebook.stderr, /^Cannot run a\.ipynb: a notebook takes no arguments, got b/);
});
