// Training, a page that is open and a kernel that runs cells, for as long as is asked: whether memory and descriptors
// grow, with the interval of each slope.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { small, start } from "../cli/training-run.js";
import { temporaryFolder } from "../temporary.js";
import { FrontEnd } from "../kernel/front-end.js";

interface Sample {
  hours: number;
  megabytes: number;
  descriptors: number;
}

/** What a process holds; undefined once it has ended. */
function held(pid: number, hours: number): Sample | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    return { hours, megabytes: kilobytes / 1024, descriptors };
  } catch {
    return undefined; // It ended while we looked.
  }
}

/** The slope of a line through samples, for each hour, and the half width of its 95 % interval. */
export function slopeOf(points: readonly [number, number][]): { slope: number; half: number } {
  const n = points.length;
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / n;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  const slope = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread;
  const rest = points.reduce((sum, [a, b]) => sum + (b - y - slope * (a - x)) ** 2, 0);
  // Samples that follow each other are alike: a tenth of them counts.
  const free = Math.max(1, n / 10 - 2);
  return { slope, half: 2 * Math.sqrt(rest / free / (spread / 10)) };
}

/** Growth that is no noise and is more than this, in an hour, is a leak. */
const mostMegabytes = 20;
const mostDescriptors = 6;

export async function soak(minutes: number): Promise<boolean> {
  const folder = temporaryFolder("soak");
  const { chromium } = await import("playwright-core");
  const executablePath = process.env["ARPO_LAB_CHROMIUM"] ?? "/usr/bin/chromium";
  // A process of its own: what this one keeps of pages and messages is not the lab's.
  const lab = start(["lab", "--no-browser", "--dir", folder]);
  const address = /^http:\S+$/m;
  await lab.said(address);
  const kernel = await FrontEnd.start();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.goto(address.exec(lab.output())![0]);
  const runArgs = [
    ...small(
      "trainer.total_training_steps=1000000",
      "trainer.save_freq=50",
      "trainer.test_freq=-1",
    ),
    ...["trainer.max_actor_ckpt_to_keep=1", "--out", join(folder, "run")],
  ];
  const training = start(runArgs);
  const watched = {
    training: training.child.pid!,
    kernel: kernel.process.pid!,
    lab: lab.child.pid!,
  };
  const samples = new Map<string, Sample[]>(Object.keys(watched).map((name) => [name, []]));
  const began = Date.now();
  const warm = Math.min(10, minutes / 4) * 60_000;
  const every = Math.min(10_000, Math.max(500, (minutes * 60_000 - warm) / 200));
  let cells = 0;
  try {
    while (Date.now() - began < minutes * 60_000) {
      await pause(every);
      for (let i = 0; i < 5; i++, cells++) {
        const { reply } = await kernel.execute(
          `{ const xs = Array.from({ length: 1e5 }, (_, i) => i * ${cells}); console.log(xs.length); } ${i === 0 ? "" : "let "}xs_${cells % 10} = new Float64Array(1e5)`,
        );
        // The type check refuses one of five, whose last name nobody declared.
        const expected = i === 0 ? "error" : "ok";
        if (reply.status !== expected)
          throw new Error(`A cell must end with ${expected}, got ${JSON.stringify(reply)}`);
      }
      kernel.forget();
      // A page that has to show its files anew; what it holds itself is the browser's.
      if (cells % 50 === 0) await page.reload();
      const since = Date.now() - began;
      if (since < warm) continue;
      for (const [name, pid] of Object.entries(watched)) {
        const sample = held(pid, since / 3_600_000);
        if (sample === undefined)
          throw new Error(`The ${name} ended: ${training.output().slice(-500)}`);
        samples.get(name)!.push(sample);
      }
    }
  } finally {
    training.child.kill("SIGKILL");
    await training.ended;
    await browser.close();
    await kernel.close();
    lab.child.kill("SIGTERM");
    await lab.ended;
    rmSync(folder, { recursive: true, force: true });
  }
  let isFlat = true;
  const steps = training.output().match(/^ +\d+\/1000000 /gm)?.length ?? 0;
  console.log(`## soak of ${minutes} minutes: ${steps} training steps, ${cells} cells`);
  console.log(
    "\n| process | figure | first | last | slope per hour |\n| --- | --- | --: | --: | --: |",
  );
  for (const [name, some] of samples) {
    if (some.length < 30)
      throw new Error(`A soak needs 30 samples of the ${name}, got ${some.length}`);
    for (const [figure, most] of [
      ["megabytes", mostMegabytes],
      ["descriptors", mostDescriptors],
    ] as const) {
      const { slope, half } = slopeOf(some.map((sample) => [sample.hours, sample[figure]]));
      const grows = slope - half > most;
      if (grows) isFlat = false;
      const shown = (x: number) => x.toFixed(1);
      console.log(
        `| ${name} | ${figure} | ${shown(some[0]![figure])} | ${shown(some.at(-1)![figure])} | ${shown(slope)} ± ${shown(half)}${grows ? " grows" : ""} |`,
      );
    }
  }
  return isFlat;
}
