// The debugger as JupyterLab drives it: its own packages, over the lab's server. One kernel, whose state is
// kept from case to case.
import {
  type Kernel,
  KernelManager,
  ServerConnection,
  type Session,
  SessionManager,
} from "@jupyterlab/services";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { LabServer } from "../../kernel/server/lab-server.js";
import { until } from "../until.js";
import { JupyterLabDebugger } from "./jupyterlab-debugger.js";

const folder = mkdtempSync(join(tmpdir(), "lab-debugger-"));
let server: LabServer;
let managers: (KernelManager | SessionManager)[];
let session: Session.ISessionConnection;
let kernel: Kernel.IKernelConnection;
let lab: JupyterLabDebugger;

before(async () => {
  server = await LabServer.start({ folder });
  const serverSettings = ServerConnection.makeSettings({
    baseUrl: server.url,
    wsUrl: server.url.replace("http", "ws"),
    token: server.token,
    appendToken: true,
  });
  const kernelManager = new KernelManager({ serverSettings });
  const sessions = new SessionManager({ kernelManager, serverSettings });
  managers = [sessions, kernelManager];
  session = await sessions.startNew({
    name: "",
    path: "debugged.ipynb",
    type: "notebook",
    kernel: { name: "arpo-lab" },
  });
  kernel = session.kernel!;
  lab = await JupyterLabDebugger.start(session);
});
after(async () => {
  await session.shutdown();
  for (const manager of managers) {
    manager.dispose();
    // Its poll leaves a timer of ten seconds behind.
    const { _pollModels: poll } = manager as unknown as {
      _pollModels: { _timeout: NodeJS.Timeout };
    };
    clearTimeout(poll._timeout);
  }
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Runs a cell; resolves to what it shows, or how it failed. */
async function run(code: string): Promise<string> {
  let shown = "";
  const future = kernel.requestExecute({ code });
  future.onIOPub = ({ content }) => {
    if ("data" in content) shown += String((content.data as Record<string, unknown>)["text/plain"]);
  };
  const { content } = await future.done;
  return content.status === "error" ? `${content.ename}: ${content.evalue}` : shown;
}

const loop = `const base = 10;
const twice = (n: number): number => {
  const m = n * 2;
  return m;
};
let total = 0;
for (let i = 0; i < 3; i++) {
  await null;
  total += twice(i) + base;
}
total`;

test("the bug starts the debugger, and both kinds of errors are offered", () => {
  assert.equal(lab.service.isStarted, true);
  const { exceptionBreakpointFilters } = lab.service.session!;
  assert.deepEqual(
    exceptionBreakpointFilters.map(({ filter }) => filter),
    ["uncaught", "all"],
  );
});

test("a dot stops a loop after an await, each time round, with the values of that time", async () => {
  assert.deepEqual(await lab.dots({ cell: loop }, 9), [9]);
  const running = run(loop);
  for (const i of [0, 1, 2]) {
    const at = i === 0 ? await lab.stopped() : await lab.press("continue");
    assert.deepEqual(at, ["cell 1:9"]);
    assert.equal(lab.scope("Locals").get("i"), String(i));
    assert.equal(await lab.evaluate("total + i"), String([0, 11, 24][i]));
  }
  await lab.service.continue();
  assert.equal(await running, "36");
  assert.equal(lab.service.hasStoppedThreads(), false);
  await lab.dots({ cell: loop });
});

test("steps go through three functions, of which two are of earlier cells", async () => {
  await run("function four(n: number) {\n  const t = twice(n);\n  return twice(t);\n}");
  const code = "const before = 1;\nconst e = four(before);\ne";
  await lab.dots({ cell: code }, 2);
  const running = run(code);
  assert.deepEqual(await lab.stopped(), ["cell 3:2"]);
  assert.deepEqual(await lab.press("stepIn"), ["four:2", "cell 3:2"]);
  assert.deepEqual(await lab.press("stepIn"), ["twice:3", "four:2", "cell 3:2"]);
  assert.equal(lab.scope("Locals").get("n"), "1");
  await lab.choose(2);
  assert.equal(await lab.evaluate("before + 41"), "42");
  assert.deepEqual(await lab.press("next"), ["twice:4", "four:2", "cell 3:2"]);
  assert.deepEqual(await lab.press("stepOut"), ["four:3", "cell 3:2"]);
  assert.deepEqual(await lab.press("stepOut"), ["cell 3:3"]);
  await lab.service.continue();
  assert.equal(await running, "4");
  await lab.dots({ cell: code });
});

test("an error is stopped at where it is thrown, until that is turned off", async () => {
  await lab.service.pauseOnExceptionsFilter("uncaught");
  const code =
    "const odd = (n: number) => {\n  if (n % 2) throw new RangeError(`odd: ${n}`);\n};\nodd(3);";
  const running = run(code);
  assert.deepEqual((await lab.stopped())[0], "odd:2");
  assert.equal(lab.scope("Locals").get("n"), "3");
  await lab.service.continue();
  assert.equal(await running, "RangeError: odd: 3");
  await lab.service.pauseOnExceptionsFilter("uncaught");
  assert.equal(await run("odd(5)"), "RangeError: odd: 5");
});

const training = (reward: string): string => `import { tasks } from "arpo-lab/run";
import { Model } from "arpo-lab/model";
import { Policy } from "arpo-lab/policy";
import { CodePointTokenizer } from "arpo-lab/experimental/testing";
import { trainOn } from "arpo-lab/run";
import { ToolSet } from "arpo-lab/tools";
${reward}
const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const policy = Policy.fromModel(Model.init({ ...sizes, contextLength: 128 }, 1), new CodePointTokenizer());
const options = { preset: "grpo", steps: 1, prompts: 1, n: 2, live: false, tools: new ToolSet() } as const;
const trained = await trainOn(policy, tasks.calc({ train: 2, test: 1 }), { ...options, reward });
trained.steps.length`;
const rewardFile = `import type { JudgedTrajectory } from "arpo-lab/learn";

export default function reward(judged: JudgedTrajectory): number {
  const { length } = judged.response;
  return length / 100;
}
`;

test("a dot in a reward's file stops trainOn(), which goes on", async () => {
  const path = join(folder, "reward.ts");
  writeFileSync(path, rewardFile);
  assert.deepEqual(await lab.dots({ path }, 5), [5]);
  const running = run(training('import reward from "./reward.js";'));
  assert.equal((await lab.stopped())[0], "reward:5");
  assert.equal(await lab.evaluate("judged.response.length === length"), "true");
  assert.match((await lab.evaluate("policy")) ?? "", /^ModelPolicy model, context 128/);
  assert.equal((await lab.press("continue"))[0], "reward:5");
  await lab.dots({ path });
  await lab.service.continue();
  assert.equal(await running, "1");
  await lab.service.displayModules();
  const sources = lab.service.model.kernelSources;
  await until(
    () => sources.kernelSources?.some((source) => source.path === path),
    "the reward among the kernel's sources",
  );
  assert.equal((await lab.service.getSource({ path })).content, rewardFile);
});

test("so does one in a file that a configuration names, which Node loads", async () => {
  const path = join(folder, "configured.ts");
  writeFileSync(path, rewardFile);
  await lab.dots({ path }, 5);
  const running = run(
    'import { loadReward } from "arpo-lab/learn";\n' +
      'const configured = await loadReward("./configured.ts");\n' +
      "const twiceTrained = await trainOn(policy, tasks.calc({ train: 2, test: 1 }), { ...options, reward: configured });\n" +
      "twiceTrained.steps.length",
  );
  assert.equal((await lab.stopped())[0], "reward:5");
  assert.equal(await lab.evaluate("judged.response.length === length"), "true");
  await lab.dots({ path });
  await lab.service.continue();
  assert.equal(await running, "1");
});

test("a variable is opened, shown as a cell shows it, and copied to the session", async () => {
  const code =
    "const f = (n: number) => {\n  const row = { n, list: [1, 2, 3] };\n  return row;\n};\nf(7).n";
  await lab.dots({ cell: code }, 3);
  const running = run(code);
  await lab.stopped();
  const { scopes } = lab.service.model.variables;
  const row = scopes[0]!.variables.find(({ name }) => name === "row")!;
  const inner = await lab.service.inspectVariable(row.variablesReference);
  assert.deepEqual(
    inner.map(({ name, value }) => [name, value]),
    [
      ["n", "7"],
      ["list", "Array(3) [1, 2, 3]"],
    ],
  );
  const frame = lab.service.model.callstack.frame!.id;
  const { data } = await lab.service.inspectRichVariable("row", frame);
  assert.match(data["text/plain"]!, /list/);
  await lab.service.copyToGlobals("row");
  await until(() => lab.scope("Session").has("row"), "the copy among the session's variables");
  await lab.service.continue();
  assert.equal(await running, "7");
  assert.equal(await run("row.list[2]"), "3");
  await lab.dots({ cell: code });
  await lab.service.displayDefinedVariables();
  assert.equal(lab.scope("Globals").get("total"), "36");
});

test("a page that is reloaded in the middle of a stop finds it again", async () => {
  await lab.dots({ cell: loop }, 4);
  const running = run("twice(21)");
  await lab.stopped();
  const again = await JupyterLabDebugger.start(session);
  assert.deepEqual((await again.stopped())[0], "twice:4");
  assert.deepEqual(
    [...again.service.model.breakpoints.breakpoints.values()].map(([dot]) => dot?.line),
    [4],
  );
  await again.service.continue();
  assert.equal(await running, "42");
});

test("who turns the debugger off lets the cell go on, and the state is kept", async () => {
  const running = run("twice(total)");
  await lab.stopped();
  await lab.service.stop();
  assert.equal(await running, "72");
  assert.equal(lab.service.isStarted, false);
  assert.equal(await run("twice(4) + total + e + row.n"), "55");
});

test("after a restart the same dots stop the same cell", async () => {
  await lab.service.restoreState(true);
  await lab.dots({ cell: loop }, 9);
  await kernel.restart();
  await lab.restarted();
  const running = run(loop);
  assert.deepEqual(await lab.stopped(), ["cell 1:9"]);
  await lab.dots({ cell: loop });
  await lab.service.continue();
  assert.equal(await running, "36");
});
