// docs/openenv.md with the real server: `openenv init`, uvicorn, some steps of its program; and trees that do not
// depend on how many sessions the server has. Needs a Python that has openenv (ARPO_LAB_OPENENV_PYTHON).
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../free-port.js";
import { temporaryFolder } from "../temporary.js";
import { until } from "../until.js";

const python = process.env["ARPO_LAB_OPENENV_PYTHON"];
const root = fileURLToPath(new URL("../../../", import.meta.url));

function missing(): string | false {
  if (python === undefined) return "ARPO_LAB_OPENENV_PYTHON names no Python";
  const { status } = spawnSync(python, ["-c", "import openenv, uvicorn"]);
  return status !== 0 && `${python} has no openenv`;
}

test(
  "docs/openenv.md: a policy is trained on what `openenv init` writes",
  { skip: missing() },
  async (t) => {
    const folder = temporaryFolder("openenv");
    const made = spawnSync(join(dirname(python!), "openenv"), ["init", "lamp_env"], {
      cwd: folder,
    });
    assert.equal(made.status, 0, String(made.stderr));
    const port = await freePort();
    const args = ["-m", "uvicorn", "lamp_env.server.app:app", "--port", String(port)];
    const child = spawn(python!, args, { cwd: folder, stdio: "ignore" });
    t.after(() => child.kill());
    const url = `http://127.0.0.1:${port}`;
    await until(
      async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok === true,
      "it answers",
    );

    for (const name of ["node_modules", "data"]) symlinkSync(join(root, name), join(folder, name));
    const page = readFileSync(join(root, "docs/openenv.md"), "utf8");
    const [, name, text] = /^```ts (\S+)\n([^]*?)^```$/m.exec(page)!;
    writeFileSync(join(folder, name!), text!);
    const run = spawn(process.execPath, [join(root, "bin/arpo-lab.mjs"), "run", name!], {
      cwd: folder,
      env: { ...process.env, LAMP_URL: url, STEPS: "30" },
    });
    let said = "";
    for (const stream of [run.stdout, run.stderr]) stream.on("data", (more) => (said += more));
    const [status] = (await once(run, "exit")) as [number];
    assert.equal(status, 0, said);
    const rewards = [...said.matchAll(/^\d+ (\d\.\d+)$/gm)].map(([, mean]) => Number(mean));
    assert.equal(rewards.length, 30, said);
    const mean = (list: number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
    assert.ok(mean(rewards.slice(-5)) > mean(rewards.slice(0, 2)) + 0.2, rewards.join(" "));
  },
);
