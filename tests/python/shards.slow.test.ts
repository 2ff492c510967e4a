// verl's shards as PyTorch itself writes them (several processes, DTensor), merged here: needs a Python
// with torch and transformers (ARPO_LAB_PYTHON, else python3), skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { convertCheckpoint } from "../../src/interop/convert/convert-checkpoint.js";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
const bin = fileURLToPath(new URL("../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));

function run(t: TestContext, command: string, args: string[]) {
  const env = { ...process.env, HF_HUB_OFFLINE: "1" };
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", env });
  for (const line of stdout.trim().split("\n")) t.diagnostic(line);
  return { status, stdout, text: stdout + stderr };
}

/** Skips the test and gives false unless this Python has what it takes. */
function available(t: TestContext): boolean {
  const { status } = spawnSync(python, ["-c", "import torch.distributed.tensor, transformers"]);
  if (status !== 0) t.skip(`${python} has no torch and transformers; set ARPO_LAB_PYTHON`);
  return status === 0;
}

for (const [world, mesh] of [
  [2, "fsdp"],
  [4, "ddp,fsdp"],
  [1, "fsdp"],
] as const) {
  test(`shards of ${world} PyTorch ranks on (${mesh}) merge to the bytes of torch's merge`, async (t) => {
    if (!available(t)) return;
    const folder = await mkdtemp(join(tmpdir(), "arpo-shards-"));
    try {
      const script = ["tests/python/make_shards.py", folder, `${world}`, mesh];
      const made = run(t, python, script);
      assert.equal(made.status, 0, made.text);
      const to = join(folder, "hf");
      const merged = run(t, process.execPath, [bin, "convert", folder, to]);
      assert.equal(merged.status, 0, merged.text);
      const expected = join(folder, "merged.safetensors");
      // The whole file: order, header and padding too.
      assert.deepEqual(await readFile(join(to, "model.safetensors")), await readFile(expected));
      const loads = run(t, python, ["tests/python/check_merged.py", to, expected]);
      assert.equal(loads.status, 0, loads.text);
      assert.match(loads.stdout, /ok \d+ tensors/);

      const compare = (other: string) =>
        run(t, process.execPath, [bin, "convert", folder, other, "--compare"]);
      assert.equal(compare(to).status, 0);
      const path = join(to, "model.safetensors");
      const bytes = await readFile(path);
      bytes[bytes.length - 1]! ^= 0x40;
      await writeFile(path, bytes);
      const differs = compare(to);
      assert.equal(differs.status, 1);
      assert.match(differs.stdout, /values differ {2}model\.norm\.weight .*1 differ, 1 beyond/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

test("a pickle of PyTorch's that would run a command is refused, and nothing is run", async (t) => {
  if (!available(t)) return;
  const folder = await mkdtemp(join(tmpdir(), "arpo-evil-"));
  try {
    const program = `
import os, sys, torch
class Evil:
    def __reduce__(self):
        return os.system, ("touch " + sys.argv[1] + "/owned",)
torch.save({"w": torch.zeros(2), "x": Evil()}, sys.argv[1] + "/model_world_size_1_rank_0.pt")`;
    const made = run(t, python, ["-c", program, folder]);
    assert.equal(made.status, 0, made.text);
    await assert.rejects(convertCheckpoint(folder, join(folder, "hf")), /"(posix|nt)\.system"/);
    await assert.rejects(readFile(join(folder, "owned")), /ENOENT/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
