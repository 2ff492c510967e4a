import { toBase64 } from "#platform/bytes";
import { environment } from "#platform/process";
import { checkOptions, milliseconds } from "../../../common/options/check-options.js";
import { join } from "#platform/path";
import { readIfThere } from "../../base/files/read-if-there.js";
import { HttpError, requestJson } from "../../base/http/request-json.js";
import { leaves } from "../../base/show/leaves.js";
import { writeDurably } from "../../../common/files/durable.js";
import { defineLogger } from "./definition.js";
import type { Logger } from "./logger.js";

/** What MLflow takes in one request, and how long a parameter may be. */
const limits = { metrics: 1000, params: 100, paramLength: 500 };

/** Failed requests in a row after which steps are only kept, and how many steps one then waits. */
const patience = { failures: 3, rest: 10 };

interface Metric {
  key: string;
  value: number;
  timestamp: number;
  step: number;
}

/** MLflow's names have no "@"; the reference writes them this way. */
const keyOf = (name: string) => name.replaceAll("@", "_at_");

function* chunks<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size);
}

/** Keys and addresses as MLflow's own client takes them from the environment. */
function access(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const { MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user } = env;
  if (token) return { authorization: `Bearer ${token}` };
  if (!user) return {};
  const pair = `${user}:${env["MLFLOW_TRACKING_PASSWORD"] ?? ""}`;
  return { authorization: `Basic ${toBase64(new TextEncoder().encode(pair))}` };
}

/**
 * A logger that sends parameters and metrics to an MLflow server over REST. Training does not wait for
 * the server; only the end of the run does. What could not be sent is sent with a later step. The run folder
 * has every metric even if the server stays unavailable. A resumed run continues the same MLflow run.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createServer } from "node:http";
 * import { mlflowLogger } from "arpo-lab/run";
 *
 * const asked: string[] = [];
 * const answer = { experiments: [{ experiment_id: "1" }], run: { info: { run_id: "r" } } };
 * const server = createServer((request, response) => {
 *   asked.push(request.url!.split("/mlflow/")[1]);
 *   request.resume().on("end", () => response.end(JSON.stringify(answer)));
 * }).listen(0, "127.0.0.1");
 * await new Promise((listening) => server.once("listening", listening));
 * const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * const logger = await mlflowLogger({ folder, url, project: "p", run: "r", config: {}, env: {} });
 * await logger.log(1, { "actor/entropy_loss": 0.5 });
 * await logger.close?.("finished");
 * const steps = ["experiments/search", "runs/create", "runs/log-batch", "runs/update"];
 * assert.deepEqual(asked, steps);
 * server.close();
 * await rm(folder, { recursive: true });
 * ```
 */
export async function mlflowLogger(options: {
  /**
   * The run's folder; `mlflow.json` there remembers the MLflow run, so that a resumed run goes on
   * with it.
   */
  folder: string;
  /** The experiment's name. */
  project: string;
  /** The run's name. */
  run: string;
  /** The configuration, logged as parameters. */
  config: Readonly<Record<string, unknown>>;
  /** Default: `MLFLOW_TRACKING_URI`, else http://127.0.0.1:5000. */
  url?: string;
  /** Milliseconds a request may take. Default: 10,000. */
  timeoutMs?: number;
  /**
   * Where MLFLOW_TRACKING_URI, user name, password and token are read. Default: the process's
   * environment variables.
   */
  env?: Readonly<Record<string, string | undefined>>;
}): Promise<Logger> {
  checkOptions("log to MLflow", options, {
    folder: "path",
    project: "text",
    run: "text",
    config: "object",
    url: "text?",
    timeoutMs: milliseconds,
    env: "object?",
  });
  const { project, run, timeoutMs = 10_000, env = environment } = options;
  const base = options.url ?? env["MLFLOW_TRACKING_URI"] ?? "http://127.0.0.1:5000";
  const headers = access(env);
  const noted = join(options.folder, "mlflow.json");
  let runId: string | undefined;
  const queue: Metric[] = [];
  let failures = 0;
  let resting = 0;
  let trouble: unknown;
  let sending: Promise<void> = Promise.resolve();

  const call = (path: string, body: unknown) =>
    requestJson(`log to MLflow`, {
      method: "POST",
      url: `${base.replace(/\/$/, "")}/api/2.0/mlflow/${path}`,
      headers,
      body,
      timeoutMs,
    }) as Promise<object>;

  async function experiment(): Promise<string> {
    const found = (await call("experiments/search", {
      max_results: 1,
      filter: `name = '${project.replaceAll("'", "''")}'`,
    })) as { experiments?: { experiment_id: string }[] };
    const id = found.experiments?.[0]?.experiment_id;
    if (id !== undefined) return id;
    const made = (await call("experiments/create", { name: project })) as {
      experiment_id: string;
    };
    return made.experiment_id;
  }

  async function open(): Promise<string> {
    if (runId !== undefined) return runId;
    const text = await readIfThere(noted);
    const before = text ? (JSON.parse(text) as { url: string; runId: string }) : undefined;
    if (before?.url === base) {
      await call("runs/update", { run_id: before.runId, status: "RUNNING" });
      return (runId = before.runId);
    }
    const made = (await call("runs/create", {
      experiment_id: await experiment(),
      run_name: run,
      start_time: Date.now(),
      tags: [{ key: "mlflow.source.name", value: "arpo-lab" }],
    })) as { run: { info: { run_id: string } } };
    const id = made.run.info.run_id;
    const params = [...leaves(options.config)].map(([key, value]) => ({
      key: keyOf(key),
      value: (typeof value === "string" ? value : JSON.stringify(value)).slice(
        0,
        limits.paramLength,
      ),
    }));
    for (const part of chunks(params, limits.params)) {
      await call("runs/log-batch", { run_id: id, params: part });
    }
    await writeDurably(noted, `${JSON.stringify({ url: base, runId: id })}\n`);
    return (runId = id);
  }

  async function send(): Promise<void> {
    const id = await open();
    while (queue.length > 0) {
      const part = queue.slice(0, limits.metrics);
      await call("runs/log-batch", { run_id: id, metrics: part });
      queue.splice(0, part.length);
    }
  }

  /** Sends what there is, behind what is being sent. */
  function pump(): Promise<void> {
    sending = sending.then(async () => {
      try {
        await send();
        failures = 0;
      } catch (error) {
        failures++;
        if (failures >= patience.failures) resting = patience.rest;
        trouble ??= error;
      }
    });
    return sending;
  }

  return {
    name: "mlflow",
    log: (step, metrics) => {
      const timestamp = Date.now();
      for (const [name, value] of Object.entries(metrics)) {
        if (Number.isFinite(value)) queue.push({ key: keyOf(name), value, timestamp, step });
      }
      if (resting > 0) resting--;
      else void pump();
      if (trouble === undefined) return;
      throw trouble instanceof Error ? trouble : new Error(String(trouble));
    },
    close: async (outcome) => {
      await pump();
      if (queue.length > 0 || runId === undefined) {
        throw trouble instanceof HttpError
          ? trouble
          : new Error(`Cannot log to MLflow: ${base} must take every metric, ${queue.length} left`);
      }
      await call("runs/update", {
        run_id: runId,
        status: outcome.toUpperCase(),
        end_time: Date.now(),
      });
    },
  };
}

/** An MLflow server. */
export const mlflowDefinition = defineLogger({
  name: "mlflow",
  open: ({ folder, project, run, config }) => mlflowLogger({ folder, project, run, config }),
});
