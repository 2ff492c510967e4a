// Runs one test in a process of its own: as a cell, or as Node runs a module. Reads the job from its first
// argument and writes what was thrown, or nothing, as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";
import { FakeHost } from "../../display/fake-host.js";
import { createCellScope } from "../../../kernel/run/scope/scope.js";

export interface Job {
  folder: string;
  includes: string[];
  isAsync: boolean;
  /** A compiled cell, or the text of a module. */
  js: string;
  isModule: boolean;
  result: string;
}

const job = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Job;
const done = new Promise<string>((resolve) => {
  const print = (line: unknown): void => {
    if (String(line).startsWith("Test262:AsyncTestComplete")) resolve("");
    if (String(line).startsWith("Test262:AsyncTestFailure")) resolve(String(line));
  };
  Object.assign(globalThis, { print });
});
const say = (text: string): never => {
  writeFileSync(job.result, JSON.stringify(text));
  process.exit(0);
};
const told = (error: unknown): string => {
  const { name, message, constructor } = (error ?? {}) as Partial<Error>;
  return `${constructor?.name ?? name ?? typeof error}: ${message ?? String(error)}`;
};
process.on("uncaughtException", (error) => say(told(error)));

interface Module {
  link(linker: (specifier: string) => never): Promise<void>;
  evaluate(): Promise<void>;
}
type Modules = { SourceTextModule: new (text: string) => Module };

const harness = [
  "assert.js",
  "sta.js",
  ...(job.isAsync ? ["doneprintHandle.js"] : []),
  ...job.includes,
];
try {
  for (const name of harness) {
    new vm.Script(readFileSync(join(job.folder, "harness", name), "utf8")).runInThisContext();
  }
  if (job.isModule) {
    const module = new (vm as unknown as Modules).SourceTextModule(job.js);
    await module.link((specifier) => {
      throw new Error(`no module ${specifier}`);
    });
    await module.evaluate();
  } else {
    const scope = createCellScope(
      new FakeHost(),
      (specifier) => ({ kind: "native", specifier }) as never,
    );
    const run = new vm.Script(job.js).runInThisContext() as (given: unknown) => Promise<unknown>;
    await run(scope);
  }
  say(job.isAsync ? await done : "");
} catch (error) {
  say(told(error));
}
