// A stranger's project that imports every entry point, and a compiler over it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
export const kinds = [
  ["nodenext", "nodenext"],
  ["node16", "node16"],
  ["esnext", "bundler"],
] as const;

const project = mkdtempSync(join(tmpdir(), "types-"));
after(() => rmSync(project, { recursive: true }));
mkdirSync(join(project, "node_modules/@types"), { recursive: true });
symlinkSync(root, join(project, "node_modules/arpo-lab"), "junction");
symlinkSync(
  join(root, "node_modules/@types/node"),
  join(project, "node_modules/@types/node"),
  "junction",
);
writeFileSync(join(project, "package.json"), '{ "type": "module" }');

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, { types?: string }>;
};
const entries = Object.keys(exports).filter((name) => exports[name]!.types !== undefined);
writeFileSync(
  join(project, "all.ts"),
  entries
    .map((name, i) => `import * as m${i} from "${name.replace(/^\./, "arpo-lab")}";\nvoid m${i};\n`)
    .join(""),
);
// The README's first program and docs/project.md's, as they stand there.
const programOf = (page: string, fence: RegExp) => {
  const found = fence.exec(readFileSync(join(root, page), "utf8"));
  assert.ok(found, page);
  return found[1]!;
};
writeFileSync(
  join(project, "look.ts"),
  programOf("docs/project.md", /^```ts look\.ts\n([^]*?)^```$/m),
);
writeFileSync(join(project, "first.ts"), programOf("README.md", /^```ts(?: .*)?\n([^]*?)^```$/m));

/** What TypeScript says against the project: strict, in a kind of modules; nothing where it compiles. */
export async function faultsUnder(
  compiler: string,
  [module, moduleResolution]: (typeof kinds)[number],
  skipLibCheck = false,
): Promise<string> {
  const compilerOptions = {
    ...{ module, moduleResolution, skipLibCheck, target: "es2022", types: ["node"], noEmit: true },
    ...{ strict: true, exactOptionalPropertyTypes: true, verbatimModuleSyntax: true },
    ...{ noUncheckedIndexedAccess: true },
  };
  const files = ["all.ts", "look.ts", "first.ts"];
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const script = compiler.endsWith("bin/tsc");
  const [command, args] = script ? [process.execPath, [compiler]] : [compiler, []];
  return promisify(execFile)(command, [...args, "-p", project]).then(
    () => "",
    (fault: Error & { stdout?: string }) => `${fault.message}\n${fault.stdout}`.slice(0, 3000),
  );
}

/** The compiler of the repository. */
export const here = join(
  root,
  `node_modules/@typescript/typescript-${process.platform}-${process.arch}/lib/tsc`,
);
