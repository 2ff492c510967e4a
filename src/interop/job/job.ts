import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { appendDurably, makeFolder, writeDurably } from "../../../common/files/durable.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import { pause } from "../../base/http/pause.js";
import { runLine } from "../../run/loggers/json-lines.js";
import type { RayApi } from "../ray/ray-api.js";
import { RayError } from "../ray/ray-connection.js";
import { tail } from "../ray/tail.js";
import { readVerlRun } from "../verl/read-verl-run.js";
import { verlStep } from "../verl/verl-step.js";
import type { JobLedger } from "./job-ledger.js";
import { isOver, type JobRecord, type JobState } from "./job-record.js";
import { sendJob } from "./send-job.js";
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

interface Step {
  step: number;
  metrics: Record<string, number>;
}

/** Writes steps into a run folder's metrics, each once, in their order. */
async function followInto(
  folder: string,
  steps: AsyncGenerator<Step, JobState>,
): Promise<JobState> {
  await makeFolder(folder);
  const file = join(folder, "metrics.jsonl");
  let last = lastStep((await readIfThere(file)) ?? "");
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return value;
    if (value.step <= last) continue;
    last = value.step;
    await appendDurably(file, `${JSON.stringify({ step: value.step, ...value.metrics })}\n`);
  }
}

function lastStep(text: string): number {
  const last = text.trimEnd().split("\n").at(-1);
  return last ? Number((JSON.parse(last) as { step: number }).step) : -1;
}

/** A step of a far run. */
export interface JobStep {
  step: number;
  metrics: Record<string, number>;
}

const secondsBetween = 1000;

/**
 * A run on a cluster. What is known of it is kept on this machine, so a notebook or a command that comes
 * later resumes where another was killed.
 */
export class Job {
  #record: JobRecord;
  readonly #api: RayApi;
  readonly #ledger: JobLedger;

  /** Made by `cluster(address).submit(…)` and `.attach(id)`. */
  constructor(record: JobRecord, api: RayApi, ledger: JobLedger) {
    this.#record = record;
    this.#api = api;
    this.#ledger = ledger;
  }

  get id(): string {
    return this.#record.id;
  }

  /** What is kept of it here. */
  get record(): Readonly<JobRecord> {
    return this.#record;
  }

  /** Asks the cluster where it stands, and keeps the answer. */
  async status(): Promise<JobState> {
    const { state } = this.#record;
    const found = await this.#api.job(this.id);
    if (!found) {
      // A head that is asked too early has not heard of it; one that forgot it never will.
      if (state !== "written" && !isOver(state)) {
        await this.#keep({ state: "lost", message: "the cluster knows nothing of it any more" });
      }
      return this.#record.state;
    }
    const node = found.driver_node_id ?? this.#record.node;
    await this.#keep({
      state: found.status,
      ...(found.message ? { message: found.message } : {}),
      ...(node ? { node } : {}),
    });
    return found.status;
  }

  /**
   * The log from its first line on, as it is written, until the job is over. A line that breaks is taken
   * up again behind the last line seen.
   */
  async *lines(options: { signal?: AbortSignal } = {}): AsyncGenerator<string, JobState> {
    const { signal } = options;
    let seen = 0;
    for (;;) {
      const log = tail(this.#api.connection, this.id, signal);
      try {
        let at = 0;
        for await (const line of log) {
          if (++at <= seen) continue;
          seen = at;
          yield line;
        }
      } catch (error) {
        // The head is being started anew, or has no log yet; what it says of the job decides.
        if (!(error instanceof RayError)) throw error;
        if (error.status === 401 || error.status === 403) throw error;
      }
      const state = await this.#patient(() => this.status(), signal);
      if (isOver(state)) return state;
      await pause(secondsBetween, signal);
    }
  }

  /** Each step's figures as they come, each step once. */
  async *metrics(options: { signal?: AbortSignal } = {}): AsyncGenerator<JobStep, JobState> {
    let last = -1;
    const lines = this.lines(options);
    for (;;) {
      const { done, value } = await lines.next();
      if (done) return value;
      const said = this.#step(value);
      if (said === undefined || said.step <= last) continue;
      last = said.step;
      yield { step: said.step, metrics: said.metrics };
    }
  }

  /**
   * Writes the figures into a run folder of this machine as they come, so that `board(folder)` shows the
   * run while it lasts. Steps that are there already are left as they are.
   */
  async follow(folder: string, options: { signal?: AbortSignal } = {}): Promise<JobState> {
    checkArguments("follow a job", { folder }, { folder: "path" });
    return followInto(resolve(folder), this.metrics(options));
  }

  /** Waits until the job is over. */
  async wait(options: { signal?: AbortSignal } = {}): Promise<JobState> {
    for (;;) {
      const state = await this.#patient(() => this.status(), options.signal);
      if (isOver(state)) return state;
      await pause(secondsBetween, options.signal);
    }
  }

  /** Ends it behind the step that is under way, which is saved; waits until it has. */
  async stop(options: { signal?: AbortSignal } = {}): Promise<JobState> {
    if (isOver(await this.status())) return this.#record.state;
    await this.#api.stop(this.id);
    return this.wait(options);
  }

  /** Sends the run again, under a new id and with the same folder: it continues from its last checkpoint. */
  async retry(): Promise<Job> {
    const state = await this.status();
    if (!isOver(state) && state !== "written") {
      throw new RangeError(
        `Cannot retry job ${this.id}: it must be over, so that two do not write one folder, got ${state}`,
      );
    }
    const { run, attempt } = this.#record;
    const attempts = (await this.#ledger.all()).filter((one) => one.run === run);
    const next = Math.max(attempt, ...attempts.map((one) => one.attempt)) + 1;
    const kept = { ...this.#record };
    delete kept.message;
    delete kept.node;
    const record: JobRecord = {
      ...kept,
      ...{ id: `${run}-${next}`, attempt: next, state: "written", at: Date.now() },
      address: this.#api.connection.url,
    };
    await sendJob(record, this.#api, this.#ledger);
    return new Job(await this.#ledger.find(record.id), this.#api, this.#ledger);
  }

  /**
   * Brings the run folder here: from a path that this machine sees too, nothing needs to come; else through
   * Ray's log files. Checkpoints stay there unless they are asked for. Of a run on verl the folder is made of
   * what it has written so far.
   */
  async fetch(folder: string, options: { checkpoints?: boolean } = {}): Promise<string> {
    checkArguments("fetch a run", { folder }, { folder: "path" });
    checkOptions("fetch a run", options, { checkpoints: "boolean?" });
    const { out } = this.#record;
    if (isAbsolute(out)) {
      if (existsSync(out)) {
        if (this.#record.engine === undefined) return out;
        return (await readVerlRun(out, resolve(folder))).folder;
      }
      throw new RangeError(
        `Cannot fetch the run: ${out} must be seen from this machine too, and it is not; copy it from there, or submit without storage`,
      );
    }
    await this.status();
    const { node } = this.#record;
    if (node === undefined) {
      throw new RangeError(
        `Cannot fetch the run: job ${this.id} must have run on a node, got none`,
      );
    }
    const root = out.replace(/^log:/, "");
    const wanted = (await this.#api.files(node, `${root}/**/*`)).filter(
      (name) => options.checkpoints === true || !/\/global_step_\d+\//.test(name),
    );
    if (wanted.length === 0) {
      throw new RangeError(
        `Cannot fetch the run: node ${node.slice(0, 8)} must have files of it, got none`,
      );
    }
    const to = resolve(folder);
    for (const name of wanted) {
      const path = join(to, name.slice(root.length + 1));
      if (!path.startsWith(to)) throw new RangeError(`Cannot fetch the run: got a file ${name}`);
      await makeFolder(dirname(path));
      await writeDurably(path, await this.#api.file(node, name));
    }
    return to;
  }

  /** The line of a summary in a notebook. */
  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Jobs", text: `${this.id}: ${this.#record.state}` };
  }

  #step(line: string): JobStep | undefined {
    if (this.#record.engine === "verl") return verlStep(line);
    const said = runLine(line);
    return said?.run === "step" ? said : undefined;
  }

  async #keep(change: Partial<JobRecord>): Promise<void> {
    const next = { ...this.#record, ...change };
    const same = JSON.stringify(next) === JSON.stringify(this.#record);
    this.#record = next;
    if (!same) await this.#ledger.save(next);
  }

  /** Asks again while the head is away for less than a minute. */
  async #patient<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const end = Date.now() + 60_000;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof RayError) || !error.away || Date.now() > end) throw error;
        await pause(secondsBetween, signal);
      }
    }
  }
}
