// Every `ts` and `js` block of the documentation. Those of a page are the cells of one notebook, which runs in an
// empty folder. Blocks with a file name are files: the tests named below follow those pages. Blocks that need a
// server, a browser or hours are marked `no-run`; what they import must exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-blocks-"));
after(() => rmSync(folder, { recursive: true }));

const pages = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "notebooks/README.md"],
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md") && !/^docs\/(internal\/|api-report)/.test(name)),
];

/** Pages that a test of their own follows. */
const followed: Readonly<Record<string, string>> = {
  "docs/capture.md": "tests/docs/capture.test.ts",
  "docs/environments.md": "tests/docs/environments.test.ts",
  "docs/mcp.md": "tests/docs/interop.test.ts",
  "docs/openenv.md": "tests/python/openenv.slow.test.ts",
  "docs/own.md": "tests/docs/own.slow.test.ts",
  "docs/project.md": "tests/docs/own.slow.test.ts",
  "docs/rollout.md": "tests/docs/interop.test.ts",
  "docs/serve.md": "tests/serve/docs.test.ts",
  "docs/verifiers.md": "tests/docs/interop.test.ts",
};

/** The same program at a size for a test. */
const smaller: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  "docs/branch-values.md": [
    [/train: 40/, "train: 2"],
    [/K: 16/, "K: 2"],
  ],
  "docs/models.md": [[/"models\/SmolLM2[^"]*"/, '"data/models/tiny"']],
  "docs/sweeps.md": [
    [/budget\.tokens=20000/, "budget.tokens=1200"],
    [/tokens_per_step=2500/, "tokens_per_step=600"],
    [/seeds: \[1, 2, 3, 4, 5\]/, "seeds: [1, 2]"],
    [/at: 18_000/, "at: 1_000"],
  ],
};

interface Block {
  language: string;
  /** What stands behind the language: a file's name, or `no-run`. */
  label: string;
  code: string;
}
const blocksOf = (page: string): Block[] =>
  [
    ...readFileSync(join(root, page), "utf8").matchAll(
      /^```(ts|js)(?: (\S+)[^\n]*)?\n([^]*?)^```$/gm,
    ),
  ].map(([, language = "", label = "", code = ""]) => ({ language, label, code }));

let skipped = 0;
for (const page of pages) {
  const blocks = blocksOf(page);
  const file = blocks.find(({ label }) => label.includes("."));
  const follower = followed[page];
  if (file || follower) {
    test(`${page}: a test follows it`, () => {
      assert.ok(follower, `no test writes and runs ${file?.label}`);
      const name = page.replace(/^docs\//, "").replace(/\.md$/, "");
      assert.ok(readFileSync(join(root, follower), "utf8").includes(name), follower);
    });
  }
  const idle = blocks.filter(({ label }) => label === "no-run");
  skipped += idle.length;
  if (idle.length > 0) {
    test(`${page}: what its ${idle.length} unrun blocks import exists`, async () => {
      for (const { code } of idle) {
        for (const [, names = "", from = ""] of code.matchAll(
          /import (?:type )?\{([^}]*)\} from "(arpo-lab[^"]*)"/g,
        )) {
          const there = (await import(from)) as object;
          for (const name of names.split(",").map((one) => one.trim()))
            assert.ok(name in there, `${from} has no ${name}`);
        }
      }
    });
  }
  const cells = follower && !file ? [] : blocks.filter(({ label }) => label === "");
  if (cells.length === 0) continue;
  test(`${page}: its ${cells.length} blocks run in a notebook, in their order`, () => {
    const name = page.replace(/\W+/g, "-");
    const sources = cells.map(({ code }) =>
      (smaller[page] ?? []).reduce((text, [from, to]) => text.replace(from, to), code),
    );
    const notebook = {
      ...{ nbformat: 4, nbformat_minor: 5 },
      metadata: { kernelspec: { name: "arpo-lab", display_name: "", language: "typescript" } },
      cells: sources.map((source, i) => ({
        ...{
          cell_type: "code",
          id: `c${i}`,
          metadata: {},
          outputs: [],
          execution_count: null,
          source,
        },
      })),
    };
    writeFileSync(join(folder, `${name}.ipynb`), JSON.stringify(notebook));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "bin/arpo-lab.mjs"), "run", `${name}.ipynb`, "--out", "out.ipynb"],
      { cwd: folder, encoding: "utf8" },
    );
    assert.equal(status, 0, stdout + stderr);
  });
}

test("few blocks are not run", () => {
  assert.ok(skipped > 0 && skipped <= 20, `${skipped} blocks`);
});
