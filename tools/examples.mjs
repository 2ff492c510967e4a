// Makes a test of every ```ts example of a doc comment: each must type-check against the published
// declarations and run without throwing. The examples of a module share a process, as cells of a notebook do.
// Called by `npm test` before the runner.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist/examples");
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

/** The examples of each module: the modules, and what the tests are called. */
const tests = new Map();
for (const folder of ["common", "src", "kernel"].filter((r) => existsSync(join(root, r)))) {
  for (const file of readdirSync(join(root, folder), { recursive: true })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file.includes("node_modules"))
      continue;
    const text = readFileSync(join(root, folder, file), "utf8");
    for (const [i, block] of [...text.matchAll(/^ *\* ```ts\n([\s\S]*?)^ *\* ```$/gm)].entries()) {
      const code = block[1].replace(/^ *\* ?/gm, "");
      const line = text.slice(0, block.index).split("\n").length;
      const name = `${folder}-${file.replace(/[/\\]/g, "-").replace(/\.ts$/, "")}-${i}`;
      const imports = [...code.matchAll(/^import .*;$/gm)].map((m) => m[0]).join("\n");
      const body = code.replace(/^import .*;$/gm, "");
      writeFileSync(
        join(out, `${name}.ts`),
        `${imports}\nexport const example = async () => {\n${body}\n};\n`,
      );
      const group = [folder, ...file.split(/[/\\]/).slice(0, -1)].slice(0, 2).join("-");
      const lines = tests.get(group) ?? [];
      lines.push(
        `test("example at ${folder}/${file}:${line}", (await import("./${name}.js")).example);`,
      );
      tests.set(group, lines);
    }
  }
}
// The programs of examples/ are checked with them; tests/*-example.test.ts runs them.
for (const name of readdirSync(join(root, "examples"))) {
  cpSync(join(root, "examples", name), join(out, `program-${name}`), { recursive: true });
}
for (const [group, lines] of tests) {
  writeFileSync(
    join(out, `${group}.test.ts`),
    `import { test } from "node:test";\n${lines.join("\n")}\n`,
  );
}
writeFileSync(
  join(out, "tsconfig.json"),
  JSON.stringify({
    extends: "../../tsconfig.json",
    compilerOptions: {
      rootDir: ".",
      outDir: ".",
      declaration: false,
      incremental: false,
      tsBuildInfoFile: null,
      noUnusedLocals: false,
      noUncheckedIndexedAccess: false,
    },
    include: ["*.ts", "program-*/*.ts"],
    exclude: [],
  }),
);
if (tests.size > 0) {
  const tsc = join(root, "node_modules/tsc7/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", out], { stdio: "inherit" });
  process.exit(status ?? 1);
}
