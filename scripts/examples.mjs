// Runs every ```ts example of a doc comment as a test: each must type-check against the published
// declarations and run without throwing. Called by `npm test` before the runner.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist/examples");
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

// Rooms that are not public have examples too: those import what was compiled.
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const within = (line) =>
  line.replace(/"arpo-lab\/([\w/-]+)"/, (whole, room) =>
    `./${room}` in exports || "./*" in exports ? whole : `"../src/${room}/index.js"`,
  );

let count = 0;
for (const room of ["src", "kernel", "picture", "spelling", "http-server"].filter((r) =>
  existsSync(join(root, r)),
)) {
  for (const file of readdirSync(join(root, room), { recursive: true })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file.includes("node_modules"))
      continue;
    const text = readFileSync(join(root, room, file), "utf8");
    for (const [i, block] of [...text.matchAll(/^ *\* ```ts\n([\s\S]*?)^ *\* ```$/gm)].entries()) {
      const code = block[1].replace(/^ *\* ?/gm, "");
      const line = text.slice(0, block.index).split("\n").length;
      const name = `${room}-${file.replace(/[/\\]/g, "-").replace(/\.ts$/, "")}-${i}`;
      const imports = [...code.matchAll(/^import .*;$/gm)].map((m) => within(m[0])).join("\n");
      const body = code.replace(/^import .*;$/gm, "");
      writeFileSync(
        join(out, `${name}.test.ts`),
        `import { test as __test } from "node:test";\n${imports}\n` +
          `__test("example at ${room}/${file}:${line}", async () => {\n${body}\n});\n`,
      );
      count++;
    }
  }
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
    include: ["*.ts"],
    exclude: [],
  }),
);
if (count > 0) {
  const tsc = join(root, "node_modules/tsc7/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", out], { stdio: "inherit" });
  process.exit(status ?? 1);
}
