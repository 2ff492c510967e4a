import { equal, match, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { TestSession } from "../../tests/cells/test-session.js";
import { Tracebacks } from "./traceback.js";

/** Where a cell says that it failed, after another that declares `f`. */
async function placeOf(source: string): Promise<string> {
  const session = new TestSession(process.cwd());
  await session.run("function f<T = any>(...all: any[]): any { return all[0] }; let nil: any");
  const compiled = await session.compile(source);
  ok(compiled.ok && "js" in compiled, source);
  const tracebacks = new Tracebacks();
  tracebacks.add(`cell-${compiled.id}.ts`, 1, source, compiled.map);
  const error: unknown = await session.evaluate(compiled).catch((reason: unknown) => reason);
  const lines = tracebacks.report(error).traceback;
  const frame = lines.find((line) => line.includes("cell 1, line"))!;
  const line = /line (\d+):/.exec(frame)![1]!;
  ok(
    lines.some((each) => each.includes(` ${line}`)),
    "the line itself is shown",
  );
  return /line (\d+:\d+)/.exec(frame)![1]!;
}

test("report() names the line and column that a person wrote", async () => {
  for (const source of [
    "nil.xx",
    "f(1); f(f(2), nil.xx)",
    "const a: number = f<any>(3);\n\n  f(a, (f as any)(4), nil.xx)",
    "for (const k of [1]) f(k, nil.xx)",
    "const g = (n: any): any => f(n.xx);\nlet z: any = 1; g(undefined)",
    "type A = {\n  b: 1\n}\nlet a: A; f((a as any).xx)",
    "enum E { A }\nf(E.A, nil.xx)",
  ]) {
    const lines = source.slice(0, source.indexOf("xx")).split("\n");
    equal(await placeOf(source), `${lines.length}:${lines.at(-1)!.length + 1}`, source);
  }
});

test("report() names the line of an imported file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "arpo-traceback-"));
  try {
    const text = "interface A {\n  a: 1;\n}\nexport function boom(x: any) {\n  return x.y.z;\n}\n";
    writeFileSync(join(folder, "thrower.ts"), text);
    const session = new TestSession(folder);
    const tracebacks = new Tracebacks();
    tracebacks.modules = session.scope.maps;
    const error = await session
      .run("import { boom } from './thrower.ts'; boom({})")
      .catch((reason: unknown) => reason);
    match(tracebacks.report(error).traceback[1]!, /thrower\.ts:5:14/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("report() survives whatever was thrown", () => {
  const trap = (): never => {
    throw new Error("trap");
  };
  class Odd extends Error {
    override get message(): string {
      return trap();
    }
  }
  class Stackless extends Error {
    override get stack(): string {
      return trap();
    }
  }
  const unreadable = "what was thrown cannot be read";
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const ring = new Error("a");
  ring.cause = new Error("b", { cause: ring });
  const reports = (
    [
      [new Odd(), "Error", "(cannot be read: Error: trap)"],
      [new Stackless("two"), "Error", "two"],
      [Object.assign(new Error("n"), { name: Symbol("s") }), "Symbol(s)", "n"],
      [Object.assign(new Error("n"), { message: Symbol("s") }), "Error", "Symbol(s)"],
      [new Proxy(new Error("x"), { get: trap }), "Thrown", `${unreadable}: Error: trap`],
      [new Proxy({}, { getPrototypeOf: trap }), "Thrown", `${unreadable}: Error: trap`],
      [revoked.proxy, "Thrown", undefined],
      [{ toString: trap }, "Thrown", "{}"],
      [Object.create(null), "Thrown", "{}"],
      [null, "Thrown", "null"],
      [undefined, "Thrown", "undefined"],
      [Symbol("x"), "Thrown", "Symbol(x)"],
      [10n, "Thrown", "10"],
      [ring, "Error", "a"],
    ] as [unknown, string, string | undefined][]
  ).map(([thrown, ename, evalue]) => {
    const report = new Tracebacks().report(thrown);
    equal(report.ename, ename);
    if (evalue !== undefined) equal(report.evalue, evalue);
    return report;
  });
  ok(reports.every(({ traceback }) => traceback.every((line) => typeof line === "string")));
});
