import { checkArguments } from "../../../common/options/check-arguments.js";
import { loadConfig } from "../../run/config/load.js";
import { parseOverride } from "../../run/config/override.js";
import { put, remove, type Tree } from "../../run/config/tree.js";

/** A training script, read. */
export interface ImportedScript {
  /** What the script sets, as a configuration of ours has it. */
  config: Tree;
  /** What was left out or needs a look. */
  notes: string[];
}

/** Words of a shell line, quotes taken off, variables filled in; those nobody set are empty. */
function words(line: string, variables: ReadonlyMap<string, string>, notes: string[]): string[] {
  const out: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (quote === "" && /[\s]/.test(c)) {
      if (word !== undefined) out.push(word);
      word = undefined;
    } else if (quote === "" && (c === "'" || c === '"')) {
      quote = c;
      word ??= "";
    } else if (c === quote) quote = "";
    else if (c === "\\" && quote !== "'" && i + 1 < line.length) word = (word ?? "") + line[++i]!;
    else if (c === "$" && quote !== "'") {
      const [whole, braced, bare] = /^\$(?:\{(\w+|[@*])\}|(\w+|[@*]))/.exec(line.slice(i)) ?? [];
      const name = braced ?? bare;
      if (whole === undefined || name === undefined) word = (word ?? "") + c;
      else {
        if (!variables.has(name)) notes.push(`$${name} is not set in the script: taken as empty`);
        word = (word ?? "") + (variables.get(name) ?? "");
        i += whole.length - 1;
      }
    } else if (quote === "" && c === "#" && word === undefined) break;
    else if (quote === "" && (c === "|" || c === ";" || c === "&" || c === ">")) break;
    else word = (word ?? "") + c;
  }
  if (word !== undefined) out.push(word);
  return out;
}

/**
 * Reads a shell script that starts verl or ARPO's fork of it (`python3 -m verl.trainer.main_ppo key=value …`):
 * its variables, and the overrides of that one command. Keys are checked as a configuration's are.
 * Nothing of the script is run.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { importScript } from "arpo-lab/experimental/scale";
 *
 * const { config } = await importScript(`
 *   N=16
 *   python3 -m verl.trainer.main_ppo --config-name=ppo_trainer \\
 *     actor_rollout_ref.rollout.n=\${N} ++actor_rollout_ref.rollout.beam_size=2 2>&1 | tee log
 * `);
 * assert.deepEqual(config, { actor_rollout_ref: { rollout: { n: 16, beam_size: 2 } } });
 * ```
 */
export async function importScript(script: string): Promise<ImportedScript> {
  checkArguments("import a script", { script }, { script: "text" });
  const notes: string[] = [];
  const variables = new Map<string, string>();
  let config: Tree | undefined;
  const overrides: string[] = [];
  for (const line of script.replace(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const assigned = /^\s*(?:export\s+)?(\w+)=(.*)$/.exec(line);
    if (assigned && !line.includes("verl.trainer.main_ppo")) {
      const [, name, value] = assigned as unknown as [string, string, string];
      if (/\$\(|`/.test(value)) notes.push(`${name} is what a command gives: taken as empty`);
      else variables.set(name, words(value, variables, notes).join(" "));
      continue;
    }
    if (!line.includes("verl.trainer.main_ppo")) continue;
    if (config) {
      throw new SyntaxError("Cannot import the script: it must start verl once, got two commands");
    }
    const said = words(line, variables, notes);
    config = {};
    for (const word of said.slice(said.indexOf("verl.trainer.main_ppo") + 1)) {
      if (word.startsWith("--")) {
        notes.push(`${word} is not read: its keys must be given as a file of ours`);
        continue;
      }
      if (/^\d*$/.test(word)) continue; // what is left of 2>&1
      const change = parseOverride(word);
      if (!change) continue;
      overrides.push(word);
      config =
        change.kind === "remove"
          ? remove(config, change.path)
          : put(config, change.path, change.value);
    }
  }
  if (!config) {
    throw new SyntaxError(
      "Cannot import the script: it must start verl (python3 -m verl.trainer.main_ppo), got no such command",
    );
  }
  const { kept } = await loadConfig({ overrides });
  if (kept.length > 0) notes.push(`kept for a cluster, without meaning here: ${kept.join(", ")}`);
  return { config, notes };
}
