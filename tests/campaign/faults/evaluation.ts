// `arpo-lab eval`, disturbed and started again: the report of a run that was not.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runToEnd, start } from "../../cli/training-run.js";
import { type Area, Broken, type Place } from "../attempt.js";
import { disturbances, preloaded } from "./disturbed-process.js";

const tiny = fileURLToPath(new URL("../../../../data/models/tiny", import.meta.url));
const args = (out: string) => [
  ...["eval", tiny, "aime24-lookalike", "gsm8k-lookalike", "--samples", "1", "--seed", "3"],
  ...["--out", out],
];
const report = (folder: string) => readFileSync(join(folder, "evaluation.json"), "utf8");

async function calm(place: Place): Promise<string> {
  const out = join(place.shared, "calm-eval");
  if (!existsSync(join(out, "evaluation.json"))) {
    const { status, output } = await runToEnd(args(out));
    if (status !== 0) throw new Error(output);
  }
  return report(out);
}

export const evaluation: Area = {
  name: "eval",
  share: 2,
  seconds: 180,
  make: (random) => {
    const ms = random.integer(2500);
    const signal = random.choose(["SIGKILL", "SIGTERM", "SIGSTOP", "clock", "disk"] as const);
    const [clock, disk] = disturbances(random);
    const world = signal === "clock" ? clock : signal === "disk" ? disk : undefined;
    return {
      name: world ? `eval: ${world.name}` : `eval: ${signal} after ${ms} ms`,
      promise: "no finished sample is lost, and the report is that of a calm run",
      run: async (place) => {
        const expected = await calm(place);
        const out = place.path("out");
        const running = start(args(out), world ? preloaded(place, world.source) : {});
        if (!world) {
          await Promise.race([pause(ms), running.ended]);
          running.child.kill(signal as NodeJS.Signals);
          await pause(100);
          if (signal === "SIGSTOP") running.child.kill("SIGCONT");
        }
        const ended = await running.ended;
        const again = await runToEnd(args(out));
        if (again.status !== 0) throw new Broken("lost", `it does not go on: ${again.output}`);
        assert.equal(report(out), expected);
        return `ended with ${ended}; the report is the same`;
      },
    };
  },
};
