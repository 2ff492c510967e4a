// Every notebook through nbclient and nbconvert, as JupyterLab's users run them, and what `arpo-lab run`
// writes through nbformat's own validation. ARPO_LAB_PYTHON names a Python that has all three.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const python = process.env.ARPO_LAB_PYTHON;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
const skip = python === undefined ? "ARPO_LAB_PYTHON names no Python" : false;
const prefix = mkdtempSync(join(tmpdir(), "arpo-notebooks-"));
after(() => rmSync(prefix, { recursive: true }));
const env = {
  ...process.env,
  JUPYTER_PATH: join(prefix, "share", "jupyter"),
  ARPO_LAB_DATA: join(prefix, "data"),
};
// Every lesson is run by `npm run lessons -- --check`; these have progress, figures, a run and a report.
const notebooks = readdirSync(join(root, "notebooks")).filter((name) =>
  /^(00|03|09|13)-.*\.ipynb$/.test(name),
);

const execute = `
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=240, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.validate(notebook)
print(sum(len(c.get("outputs", [])) for c in notebook.cells))
`;
const validate =
  "import sys, nbformat; nbformat.validate(nbformat.read(sys.argv[1], 4)); print('valid')";

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", env, cwd: root });
  assert.equal(status, 0, stderr);
  return stdout;
}

for (const name of notebooks) {
  const path = join(root, "notebooks", name);

  test(`nbclient executes ${name}`, { skip }, () => {
    run(process.execPath, bin, "kernel", "install", "--prefix", prefix);
    assert.ok(Number(run(python!, "-c", execute, path, join(root, "notebooks"))) > 0);
  });

  // The others are run by nbclient above and by `arpo-lab run` in CI; one is enough for the rest.
  if (!name.startsWith("00")) continue;

  test(`nbconvert executes ${name} into a page`, { skip }, () => {
    run(process.execPath, bin, "kernel", "install", "--prefix", prefix);
    const convert = ["-m", "nbconvert", "--execute", "--to", "html", "--output-dir", prefix, path];
    run(python!, ...convert);
    const page = readFileSync(join(prefix, name.replace(".ipynb", ".html")), "utf8");
    assert.ok(!page.includes("Traceback"));
  });

  test(`nbformat accepts what arpo-lab run makes of ${name}`, { skip }, () => {
    const out = join(prefix, name);
    run(process.execPath, bin, "run", path, "--out", out);
    assert.equal(run(python!, "-c", validate, out), "valid\n");
  });
}
