import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { TestSession } from "./test-session.js";

const stage = (ran: string): string =>
  `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");
export const stages = [{ name: "mine", doc: "d", options: {}, template: "{body}", uses: {} }];`;

function project(root: string, name: string): { folder: string; ran: string } {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const ran = join(folder, "ran");
  writeFileSync(join(folder, "package.json"), '{"arpo-lab":{"stages":["./stages.mjs"]}}');
  writeFileSync(join(folder, "stages.mjs"), stage(ran));
  return { folder, ran };
}

test("a project's stages are loaded when a cell runs, not when somebody looks; the cell says so", async () => {
  const root = mkdtempSync(join(tmpdir(), "project-stages-"));
  try {
    const { folder, ran } = project(root, "own");
    const session = new TestSession(folder);
    await session.compiler.complete("%%", 2, folder);
    await session.compiler.inspect("%%mine", 3, 0, folder);
    session.compiler.isComplete("%%mine\n1");
    equal(existsSync(ran), false);
    const compiled = await session.compile("%%time\n1");
    equal(existsSync(ran), true);
    const said = "diagnostics" in compiled ? compiled.diagnostics : [];
    match(
      said.map(({ message }) => message).join(),
      /^The stages of file:.*stages\.mjs were loaded/,
    );
    ok(
      (await session.compiler.complete("%%", 2, folder)).matches.some((each) => /mine/.test(each)),
    );
    const again = await session.compile("%%time\n1");
    deepEqual("diagnostics" in again && again.diagnostics, []);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("a package.json above the notebook's own project is nobody's", async () => {
  const root = mkdtempSync(join(tmpdir(), "project-stages-"));
  try {
    const { folder, ran } = project(root, ".");
    const inner = join(folder, "inner");
    mkdirSync(inner);
    writeFileSync(join(inner, "package.json"), "{}");
    const session = new TestSession(inner);
    await session.run("%%time\n1");
    equal(existsSync(ran), false);
  } finally {
    rmSync(root, { recursive: true });
  }
});
