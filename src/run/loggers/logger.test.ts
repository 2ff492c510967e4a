import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { consoleLogger } from "./console.js";
import { duration } from "../../base/show/progress-line.js";
import { guarded } from "./logger.js";
import { mlflowLogger } from "./mlflow.js";
import { wandbLogger } from "./wandb.js";

interface Sent {
  path: string;
  body: Record<string, unknown>;
  authorization: string | undefined;
}

type Fault = (sent: Sent, response: ServerResponse) => boolean;

/** A server of MLflow's shape: keeps what it was sent, unless `fault` answers in its place. */
async function mlflowServer(fault: Fault = () => false) {
  const seen: Sent[] = [];
  const metrics: { key: string; value: number; step: number }[] = [];
  const params = new Map<string, string>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString()));
    request.on("end", () => {
      const path = request.url!.replace("/api/2.0/mlflow/", "");
      const body = JSON.parse(text) as Sent["body"];
      const sent = { path, body, authorization: request.headers.authorization };
      seen.push(sent);
      if (fault(sent, response)) return;
      const { metrics: more = [], params: given = [] } = body as {
        metrics?: typeof metrics;
        params?: { key: string; value: string }[];
      };
      metrics.push(...more);
      for (const { key, value } of given) params.set(key, value);
      const answers: Record<string, unknown> = {
        "experiments/search": {},
        "experiments/create": { experiment_id: "7" },
        "runs/create": { run: { info: { run_id: "abc" } } },
      };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answers[path] ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, seen, metrics, params, close };
}

const folderOf = () => mkdtemp(join(tmpdir(), "arpo-lab-loggers-"));
const config = { trainer: { total: 2, name: "x".repeat(900) } };
const common = { project: "it's", run: "first", config };

test("mlflowLogger() makes the experiment, sends parameters and metrics, and ends the run", async () => {
  const server = await mlflowServer();
  const folder = await folderOf();
  const env = { MLFLOW_TRACKING_TOKEN: "secret" };
  const logger = await mlflowLogger({ ...common, folder, url: server.url, env });
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`m${i}`, i]));
  await logger.log(1, { "val-core/calc/reward/mean@1": 0.5, broken: NaN, ...many });
  await logger.close?.("finished");
  assert.equal(server.metrics.length, 1501);
  assert.equal(server.metrics[0]!.key, "val-core/calc/reward/mean_at_1");
  assert.equal(server.params.get("trainer.total"), "2");
  assert.equal(server.params.get("trainer.name")!.length, 500);
  assert.ok(server.seen.every(({ authorization }) => authorization === "Bearer secret"));
  assert.match(String(server.seen[0]!.body["filter"]), /'it''s'/);
  assert.equal(server.seen.at(-1)!.body["status"], "FINISHED");

  // A resumed run continues in the same one.
  const again = await mlflowLogger({ ...common, folder, url: server.url, env });
  await again.log(2, { a: 1 });
  await again.close?.("failed");
  assert.equal(server.seen.at(-1)!.body["status"], "FAILED");
  assert.equal(server.seen.filter(({ path }) => path === "runs/create").length, 1);
  server.close();
  await rm(folder, { recursive: true });
});

test("mlflowLogger() keeps what a failing server does not take and sends it later", async () => {
  let calls = 0;
  const faults: Fault[] = [
    (_, response) => (response.writeHead(500).end("{}"), true),
    (_, response) => (response.destroy(), true),
    (_, response) => (response.end("<html>not json"), true),
    () => true, // never answers
  ];
  const server = await mlflowServer((sent, response) =>
    sent.path === "runs/log-batch" && sent.body["metrics"] && calls < faults.length
      ? faults[calls++]!(sent, response)
      : false,
  );
  const folder = await folderOf();
  const warnings: string[] = [];
  const logger = guarded(
    [await mlflowLogger({ ...common, folder, url: server.url, timeoutMs: 300, env: {} })],
    (message) => warnings.push(message),
  );
  for (let step = 1; step <= 20; step++) {
    await logger.log(step, { a: step });
    await new Promise((resolve) => setTimeout(resolve, 60)); // slow: a training step
  }
  await logger.close("finished");
  assert.equal(calls, faults.length);
  const steps = new Set(server.metrics.map(({ step }) => step));
  assert.equal(steps.size, 20);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /logger mlflow failed, training goes on: .*status 200, got 500/);
  server.close();
  await rm(folder, { recursive: true });
});

test("mlflowLogger() with nobody there costs one line and no run", async () => {
  const folder = await folderOf();
  const warnings: string[] = [];
  const logger = guarded(
    [await mlflowLogger({ ...common, folder, url: "http://127.0.0.1:9", env: {} })],
    (message) => warnings.push(message),
  );
  for (let step = 1; step <= 5; step++) await logger.log(step, { a: 1 });
  await logger.close("finished");
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /127.0.0.1:9.* must answer, got ECONNREFUSED/);
  await rm(folder, { recursive: true });
});

/** Reads a log of records back: blocks of 32 KiB, pieces with a checksum and a type. */
function* records(bytes: Buffer): Generator<Buffer> {
  let parts: Buffer[] = [];
  for (let at = 7; at < bytes.length;) {
    const left = 32768 - (at % 32768);
    if (left < 7) {
      at += left;
      continue;
    }
    const size = bytes.readUInt16LE(at + 4);
    const type = bytes[at + 6]!;
    const data = bytes.subarray(at + 7, at + 7 + size);
    const sum = crc32(Buffer.concat([Buffer.of(type), data]));
    // wandb continues from the checksum of the type, which is the checksum of both together.
    assert.equal(bytes.readUInt32LE(at), sum);
    parts.push(data);
    at += 7 + size;
    if (type === 1 || type === 4) {
      yield Buffer.concat(parts);
      parts = [];
    }
  }
}

test("wandbLogger() writes a log of records that wandb reads, long ones in pieces", async () => {
  const folder = await folderOf();
  const long = { text: "y".repeat(70_000) };
  const logger = await wandbLogger({
    ...common,
    folder,
    config: long,
    id: "0a1b2c3d",
    group: "seeds",
  });
  for (let step = 1; step <= 30; step++) await logger.log(step, { "a/b": step / 3, c: NaN });
  await logger.close?.("finished");
  const [run] = await readdir(join(folder, "wandb"));
  assert.match(run!, /^offline-run-\d{8}_\d{6}-0a1b2c3d$/);
  const bytes = await readFile(join(folder, "wandb", run!, "run-0a1b2c3d.wandb"));
  assert.equal(bytes.subarray(0, 4).toString(), ":W&B");
  const all = [...records(bytes)].map((record) => record.toString("latin1"));
  assert.equal(all.length, 2 + 30 + 1);
  assert.ok(all[1]!.includes(long.text));
  // Field 6 of the run: a text of five bytes.
  assert.ok(all[1]!.includes("\x32\x05seeds"));
  assert.ok(all[2]!.includes("a/b") && all[2]!.includes(String(1 / 3)));
  assert.ok(all[2]!.includes('"NaN"'));
  await rm(folder, { recursive: true });
});

test("consoleLogger() keeps a line of progress below its table on a terminal", async () => {
  let text = "";
  const logger = consoleLogger({ live: true, write: (more) => (text += more) });
  await logger.begin?.({ step: 0, totalSteps: 2 });
  await logger.log(1, { "critic/score/mean": 0.5, "timing_s/step": 90 });
  await logger.answers?.(1, [{ input: "1+1?", output: "2", score: 1, reason: "right" }]);
  await logger.log(2, { "critic/score/mean": 0.6, "timing_s/step": 90, "val-core/x/mean@1": 0.7 });
  await logger.close?.("finished");
  assert.match(text, /█{12}░{12} 1\/2, 1 min 30 s left/);
  assert.match(text, /score 1.00 \(right\)\n +1\+1\?\n +2/);
  assert.equal(text.split("step").length - 1, 3); // one head with "step" and "step s", one answer
  assert.ok(text.endsWith("\n"));
  assert.deepEqual([59.4, 125, 7500].map(duration), ["59 s", "2 min 5 s", "2 h 5 min"]);
});

test("consoleLogger()'s columns never run into each other", async () => {
  let text = "";
  const logger = consoleLogger({ write: (more) => (text += more) });
  await logger.log(1, {
    "critic/score/mean": 0.8688,
    "actor/entropy_loss": 0.0006083,
    "actor/pg_clipfrac": -0.00012345,
    "actor/grad_norm": 123456.789,
    "response_length/mean": -1.2345e-12,
    "tools/total_calls": 1234567890,
    "timing_s/gen": NaN,
  });
  const [head, row] = text.trimEnd().split("\n") as [string, string];
  assert.deepEqual(row.trim().split(/\s+/), [
    ...["1", "0.8688", "0.000608", "-0.00012", "123500", "-1.2e-12"],
    ...["1.2e+9", "NaN"],
  ]);
  assert.equal(row.length, head.length);
});

test("guarded() goes on with the others when one logger throws", async () => {
  const heard: number[] = [];
  const warnings: string[] = [];
  const logger = guarded(
    [
      {
        name: "bad",
        log: () => {
          throw new Error("no disk");
        },
      },
      { name: "good", log: (step) => void heard.push(step) },
    ],
    (message) => warnings.push(message),
  );
  await logger.log(1, {});
  await logger.log(2, {});
  assert.deepEqual(heard, [1, 2]);
  assert.deepEqual(warnings, ["the logger bad failed, training goes on: no disk"]);
});
