import { join } from "node:path";
import { attach, cluster, keptJobs } from "../../../src/interop/job/cluster.js";
import { aside, say } from "../terminal/say.js";
import { stoppable } from "../terminal/stopping.js";
import { driveSweep, printAll } from "./submit.js";

/** `arpo-lab jobs`. */
export async function listJobs(options: { kept?: boolean }): Promise<void> {
  const records = await keptJobs();
  if (records.length === 0) {
    say("no job was sent from this machine; arpo-lab submit --address URL sends one");
    return;
  }
  const away = new Set<string>();
  for (const { id, address, at, settings, state: known } of records) {
    let state: string = known;
    if (options.kept !== true && !away.has(address)) {
      try {
        state = await (await attach(id)).status();
      } catch (error) {
        away.add(address);
        aside(`note: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const changed = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
    const seen = away.has(address) ? " (known last)" : "";
    say(
      [new Date(at).toISOString().slice(0, 19), id, `${state}${seen}`, address, ...changed].join(
        "  ",
      ),
    );
  }
}

/** `arpo-lab jobs logs`. */
export async function showLog(id: string): Promise<void> {
  const job = await attach(id);
  const state = await printAll(job.lines({ signal: stoppable("early") }));
  aside(`${id} is over: ${state}`);
}

/** `arpo-lab jobs attach`. */
export async function attachTo(id: string, options: { out?: string }): Promise<void> {
  const signal = stoppable("early");
  const ofSweep = (await keptJobs()).find(({ sweep }) => sweep === id);
  if (ofSweep) {
    const { address, tokenEnv } = ofSweep;
    const there = await cluster(address, tokenEnv === undefined ? {} : { tokenEnv });
    await driveSweep(there.openSweep(id));
    return;
  }
  const folder = options.out ?? join("runs", id);
  const job = await attach(id);
  say(`board(${JSON.stringify(folder)}) in a cell shows ${id}; Ctrl-C leaves it running`);
  const state = await job.follow(folder, { signal });
  say(`${id} is over: ${state}; arpo-lab jobs fetch ${id} ${folder} brings the rest`);
}

/** `arpo-lab jobs stop`. */
export async function stopJob(id: string): Promise<void> {
  const state = await (await attach(id)).stop({ signal: stoppable("early") });
  say(`${id} is over: ${state}; arpo-lab jobs retry ${id} continues from its last step`);
}

/** `arpo-lab jobs retry`. */
export async function retryJob(id: string): Promise<void> {
  const again = await (await attach(id)).retry();
  say(`sent ${again.id} to ${again.record.address}`);
}

/** `arpo-lab jobs fetch`. */
export async function fetchRun(
  id: string,
  folder: string | undefined,
  options: { checkpoints?: boolean },
): Promise<void> {
  const job = await attach(id);
  const checkpoints = options.checkpoints === true;
  const there = await job.fetch(folder ?? join("runs", id), { checkpoints });
  say(`everything of ${id}${checkpoints ? "" : " but its checkpoints"} is in ${there}`);
}
