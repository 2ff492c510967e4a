// Runs a tree again in a worker of its own, with the engine: a long rollout stops nothing, and can be ended.
import { mkdir, writeFile } from "#platform/files";
import { packagePath } from "#platform/modules";
import { basename, dirname, join } from "#platform/path";
import { escapeHtml } from "../../../common/picture/escape.js";
import { environment } from "../../../common/platform/browser/process.js";
import { readRollouts } from "../../../src/formats/read-rollouts.js";
import { Policy } from "../../../src/policy/policies.js";
import { runAgain } from "../../../src/rollout/again/run-again.js";
import { explore } from "../../../src/view/explorer/explore.js";
import type { GivenFile } from "./messages.js";

// The page lets no script start but its own, so there are no further threads. One gives the same bytes.
Object.assign(environment, { ARPO_LAB_THREADS: "1" });
const folder = "/policy";

async function put(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
}

/** Runs a finding again by a policy; HTML of what came of it. `own` are files of the package. */
export async function againHtml(
  finding: string,
  policy: readonly GivenFile[],
  own: readonly GivenFile[],
): Promise<string> {
  for (const { name, bytes } of own) await put(packagePath(name), bytes);
  for (const { name, bytes } of policy) await put(join(folder, basename(name)), bytes);
  const read = readRollouts([JSON.parse(finding) as Record<string, unknown>]);
  const tree = read.parts.prompts[0]?.tree;
  if (!tree) throw new TypeError("Cannot run a tree again: it must be one that arpo-lab grew");
  const began = performance.now();
  const loaded = await Policy.load(folder);
  const { verdict, same, tree: made } = await runAgain(loaded, tree);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const line = `<p><b>${escapeHtml(verdict)}</b> Run again in this page in ${seconds} s, seed ${tree.seed}; each tool answered as it had.</p>`;
  return same === "none" && made ? line + explore(made).html() : line;
}
