import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../../apps/cli/bin/arpo-lab.mjs", import.meta.url));

/** A process of `arpo-lab` and everything it has printed. */
export interface Running {
  child: ChildProcess;
  output: () => string;
  /** The exit status, or the signal that ended it. */
  ended: Promise<number | string>;
  /** Resolves once it has printed something; rejects if it ends before. */
  said: (text: string | RegExp) => Promise<void>;
}

/** Starts the command as a person would. */
export function start(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const add = (part: Buffer) => (text += part.toString());
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  const ended = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? -1));
  });
  return {
    child,
    output: () => text,
    ended,
    said: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) resolve();
        };
        child.stdout.on("data", look);
        child.stderr.on("data", look);
        look();
        void ended.then((how) => reject(new Error(`ended with ${how}: ${text}`)));
      }),
  };
}

/** Runs it to its end. */
export async function runToEnd(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ status: number | string; output: string }> {
  const running = start(args, env);
  return { status: await running.ended, output: running.output() };
}

/** A small run: two prompts, four trajectories, a calculator; the shipped model. */
export const small = (...more: string[]): string[] => [
  "train",
  "actor_rollout_ref.rollout.tools.tool_instances.python.class_path=calculator",
  "data.train_batch_size=2",
  "data.max_response_length=64",
  "data.val_files=tasks:calc?test=2",
  "actor_rollout_ref.rollout.n=4",
  "actor_rollout_ref.rollout.initial_rollouts=2",
  "actor_rollout_ref.actor.optim.lr=5e-4",
  "trainer.logger=[console]",
  "trainer.val_before_train=false",
  ...more,
];

/** A saved tree without the times in it. */
const timeless = (text: string) =>
  text
    .split("\n")
    .map(
      (line) => line && JSON.stringify(JSON.parse(line, (k, v: unknown) => (k === "run" ? 0 : v))),
    )
    .join("\n");

/** Hashes of a folder's files; files of times are left out, and the times in trees. */
export function fingerprint(folder: string): Record<string, string> {
  const out: Record<string, string> = {};
  const walk = (at: string) => {
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (!/^(timing|tool_calls|tree_sums)\.jsonl$/.test(entry.name)) {
        const bytes = readFileSync(join(folder, path));
        const tree = /^(rollouts|validation)\b/.test(path);
        out[path] = createHash("sha256")
          .update(tree ? timeless(bytes.toString()) : bytes)
          .digest("hex")
          .slice(0, 16);
      }
    }
  };
  walk("");
  return out;
}
