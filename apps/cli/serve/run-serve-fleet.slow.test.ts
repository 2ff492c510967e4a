// Four real servers of the tiny model, of which two are killed while they answer and one returns.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { tasks } from "../../../src/tasks/tasks/index.js";
import { world } from "../../../src/tasks/tasks/world.js";
import { Policy } from "../../../src/policy/policies.js";
import { rollout } from "../../../src/rollout/rollout.js";
import { rolloutPresets } from "../../../src/rollout/presets.js";
import { UnfinishedRollout } from "../../../src/rollout/unfinished-rollout.js";
import { taskTools } from "../../../src/tasks/task-tools.js";
import { until } from "../../../tests/until.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const tiny = `${root}data/models/tiny`;

interface Server {
  process: ChildProcess;
  url: string;
}

async function serve(t: TestContext, port = 0): Promise<Server> {
  const args = [
    `${root}apps/cli/bin/arpo-lab.mjs`,
    "serve",
    tiny,
    "--port",
    String(port),
    "--quiet",
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  for await (const line of createInterface(child.stdout)) {
    const url = /at (http\S+\/v1)/.exec(line)?.[1];
    if (url) return { process: child, url };
  }
  throw new Error("Cannot serve: the process must say its address, got none");
}

test("two of four servers are killed and one returns: no trajectory is lost, none is there twice", async (t) => {
  const servers = await Promise.all([serve(t), serve(t), serve(t), serve(t)]);
  const local = await Policy.load(tiny);
  t.after(() => {
    local.dispose();
  });
  const remote = await Policy.remote(
    servers.map(({ url }) => url),
    { tokenizer: tiny, dialect: "arpo-lab", note: () => undefined },
  );
  await using tools = taskTools(world);
  const { train } = tasks.mixed({ seed: 5, train: 10, test: 1 });
  const options = {
    ...{ ...rolloutPresets.arpo, n: 12, initialRollouts: 6, seed: 2 },
    ...{ tools, keepTop: false, responseLength: 160 },
  };
  const answered = (i: number) => remote.health()[i]!.succeeded;
  let segments = 0;
  let back: Promise<number> | undefined;
  const disturbed = rollout(remote, train, {
    ...options,
    onEvent: ({ type }) => {
      if (type !== "segment") return;
      segments++;
      if (segments === 30) servers[0]!.process.kill("SIGKILL");
      if (segments === 50) servers[1]!.process.kill("SIGTERM");
      if (segments === 60) {
        const before = answered(0);
        back = serve(t, Number(new URL(servers[0]!.url).port)).then(() => before);
      }
    },
  });
  const [there, here] = await Promise.all([disturbed, rollout(local, train, options)]);
  const shape = (trees: typeof here) =>
    trees.map(({ selected: trajectories, trajectories: rows }) => [
      rows.map(({ kind, parent }) => [kind, parent]),
      trajectories.map(({ tokens, end }) => [[...tokens], end]),
    ]);
  assert.deepEqual(shape(there), shape(here));
  assert.ok(there.every(({ selected: trajectories }) => trajectories.length === 12));
  assert.ok(
    remote.health().some(({ failed }) => failed > 0),
    "no request was disturbed",
  );
  assert.ok(back, "the rollout ended before a server could return");
  const before = await back;
  // What returns is asked again: by this rollout, or by the next.
  await rollout(remote, train.slice(0, 4), options);
  assert.ok(answered(0) > before, "the server that returned was not asked");
});

test("when all servers die the complete trees are kept, and a later call grows the others", async (t) => {
  const servers = await Promise.all([serve(t), serve(t)]);
  // Longer than the time between two questions whether a server is there again.
  const outageMs = 3000;
  const remote = await Policy.remote(
    servers.map(({ url }) => url),
    { tokenizer: tiny, dialect: "arpo-lab", note: () => undefined, outageMs },
  );
  await using tools = taskTools(world);
  const { train } = tasks.mixed({ seed: 5, train: 12, test: 1 });
  const options = { ...rolloutPresets.arpo, n: 8, initialRollouts: 4, tools, responseLength: 120 };
  let ended = 0;
  const failure: unknown = await rollout(remote, train, {
    ...{ ...options, promptsAtOnce: 3 },
    onEvent: ({ type }) => {
      if (type === "end" && ++ended === 30) for (const one of servers) one.process.kill("SIGKILL");
    },
  }).catch((error: unknown) => error);
  assert.ok(failure instanceof UnfinishedRollout, String(failure));
  assert.match(failure.message, /\d of 12 trees (is|are) complete and kept/);
  await Promise.all(
    servers.map(({ process: gone }) => gone.exitCode ?? gone.signalCode ?? once(gone, "exit")),
  );
  const again = await serve(t, Number(new URL(servers[1]!.url).port));
  await until(() => again.url, "the server is there again");
  const grown = new Set<number>();
  const trees = await rollout(remote, train, {
    ...options,
    finished: failure.trees,
    onEvent: (event) => {
      if (event.type === "segment") grown.add(event.tree);
    },
  });
  assert.equal(trees.length, 12);
  assert.equal(grown.size, 12 - failure.trees.length);
  assert.ok(failure.trees.every(({ index }) => !grown.has(index)));
});
