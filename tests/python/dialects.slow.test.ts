// Responses and Messages by the clients that people use, captured. Needs a Python that has openai, anthropic and
// openai-agents (ARPO_LAB_AGENTS_PYTHON), and a folder in which npm has installed `ai`, @ai-sdk/openai,
// @ai-sdk/anthropic, openai and @anthropic-ai/sdk (ARPO_LAB_AI_FOLDER).
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { capture } from "../../src/interop/capture/capture-server.js";
import { advantages } from "../../src/learn/advantages.js";
import { update } from "../../src/learn/update/learner.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../../src/model/tokenizer/train-bpe.js";
import { LocalPolicy } from "../../src/policy/local-policy.js";
import { Policy } from "../../src/policy/policies.js";
import { score } from "../../src/reward/score-trees.js";
import { ScriptedDecoder } from "../policy/scripted-decoder.js";
import { tinyFolder } from "../serve/tiny-server.js";
import { temporaryFolder } from "../temporary.js";

const python = process.env["ARPO_LAB_AGENTS_PYTHON"];
const npmFolder = process.env["ARPO_LAB_AI_FOLDER"];
const script = (name: string) =>
  fileURLToPath(new URL(`../../../tests/python/${name}`, import.meta.url));
const execute = promisify(execFile);

const modules = "import agents, anthropic, openai";
const noPython =
  python === undefined
    ? "ARPO_LAB_AGENTS_PYTHON names no Python"
    : spawnSync(python, ["-c", modules]).status !== 0 && `${python} cannot ${modules}`;
const packages = ["ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "openai", "@anthropic-ai/sdk"];
const lacking = packages.find((name) => !existsSync(join(npmFolder ?? "", "node_modules", name)));
const noNpm =
  npmFolder === undefined
    ? "ARPO_LAB_AI_FOLDER names no folder"
    : lacking !== undefined && `${npmFolder} has no ${lacking}`;

type Env = Record<string, string>;
const pythonProgram = (args: readonly string[]) => async (env: Env) =>
  execute(python!, [script("wire_program.py"), ...args], { env: { ...process.env, ...env } });

/** Runs wire_program.mjs beside the packages that it imports. */
const npmProgram = (args: readonly string[]) => async (env: Env) => {
  const folder = temporaryFolder("wire");
  symlinkSync(join(npmFolder!, "node_modules"), join(folder, "node_modules"));
  copyFileSync(script("wire_program.mjs"), join(folder, "program.mjs"));
  const given = { env: { ...process.env, ...env } };
  return execute(process.execPath, [join(folder, "program.mjs"), ...args], given);
};

/** A capture server of the tiny model, which samples where `temperature` says so. */
async function tinyCapture(t: TestContext, temperature = 0) {
  const policy = await Policy.load(tinyFolder);
  const server = await capture(policy, { temperature });
  t.after(async () => {
    await server.stop();
    policy.dispose();
  });
  return { policy, server };
}

const template =
  '{% if tools %}{{ tools | tojson }}<tool_call></tool_call>{% endif %}{% for m in messages %}<|{{ m.role }}|>{{ m.content or \'\' }}{% for c in m.tool_calls or [] %}\n<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}';
const call = (name: string) =>
  `<tool_call>\n{"name": "${name}", "arguments": {"code": "12 + 34 - 5"}}\n</tool_call>`;

/** A capture server of a model that calls two tools at once and answers when it has seen a result. */
async function twoCallsCapture(t: TestContext) {
  const files = trainBpe([call("python")], { vocabSize: 300 });
  files.config.chat_template = template;
  const tokenizer = new HfTokenizer(files);
  const next = (tokens: readonly number[]) => {
    const text = tokenizer.decode(tokens, { skipSpecial: false });
    const [before = "", said = ""] = text.split(/<\|assistant\|>(?!.*<\|assistant\|>)/s);
    const whole = before.includes("<|tool|>")
      ? "Both say 41."
      : `${call("python")}\n${call("search")}`;
    return tokenizer.encode(whole.slice(said.length))[0] ?? tokenizer.eosIds[0]!;
  };
  const decoder = new ScriptedDecoder(
    { vocabSize: tokenizer.vocabSize, contextLength: 8192 },
    next,
  );
  const server = await capture(new LocalPolicy({ name: "two", tokenizer, decoder }));
  t.after(() => server.stop());
  return server;
}

/** Passes requests on to a server and counts them; the first that was answered is told 500 instead, where asked. */
async function between(t: TestContext, origin: string, tells500: boolean) {
  const seen = { requests: 0 };
  let failed = !tells500;
  const proxy = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      seen.requests++;
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(
          ([name]) => name !== "host" && name !== "connection",
        ),
      ) as Record<string, string>;
      const body = Buffer.concat(pieces);
      const answer = await fetch(`${origin}${request.url}`, {
        method: request.method!,
        headers,
        body,
      });
      const text = await answer.text();
      const isFailure = !failed && !request.url!.includes("count_tokens");
      failed ||= isFailure;
      const again = answer.headers.get("x-should-retry");
      response.writeHead(isFailure ? 500 : answer.status, {
        "content-type": answer.headers.get("content-type") ?? "application/json",
        ...(again === null ? {} : { "x-should-retry": again }),
      });
      response.end(isFailure ? "{}" : text);
    })();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy.close());
  return { seen, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

const pythonNames = [
  "openai",
  "openai-previous",
  "agents",
  "agents-previous",
  "anthropic",
  "anthropic-runner",
];
const npmNames = ["ai-openai", "ai-openai-unstored", "ai-anthropic", "openai-npm", "anthropic-npm"];
/** Clients that repeat by themselves, one of each interface. */
const oneOfEach = ["openai", "anthropic", "openai-npm", "ai-openai", "ai-anthropic"];
const cases = [
  ...pythonNames.map((name) => ({ name, program: pythonProgram, skip: noPython })),
  ...npmNames.map((name) => ({ name, program: npmProgram, skip: noNpm })),
];
for (const { name, program, skip } of cases) {
  for (const way of [[], ["stream"], ["two"], ["stream", "two"]]) {
    test(
      `${[name, ...way].join(", ")}: one root, one leaf, and each prompt begins with the record before it`,
      { skip },
      async (t) => {
        const two = way.includes("two");
        const server = two ? await twoCallsCapture(t) : (await tinyCapture(t)).server;
        const session = server.session({ task: { id: "sum" } });
        await program([name, ...way])(session.env);
        const { calls, trees } = await server.end(session, 1);
        assert.ok(calls.length >= 2, `${calls.length} calls`);
        calls.slice(1).forEach(({ prompt, rewrite, resumes }, i) => {
          const before = [...calls[i]!.prompt, ...calls[i]!.tokens];
          assert.deepEqual([...prompt.subarray(0, before.length)], before);
          assert.deepEqual([rewrite, resumes], [undefined, undefined]);
        });
        assert.equal(trees.length, 1);
        assert.equal(trees[0]!.trajectories.length, 1);
        // Results of one turn stand in one span, under the first call's name.
        const { tag, text } = trees[0]!.trajectories[0]!.toolCalls[0]!;
        assert.deepEqual([tag, text.match(/\b41\b/g)?.length], ["python", two ? 2 : 1]);
      },
    );
  }
}

for (const { name, program, skip } of cases.filter(({ name: one }) => oneOfEach.includes(one))) {
  test(
    `${name}: told 500 once it is one trajectory; at an ended session it asks once`,
    { skip },
    async (t) => {
      const { server } = await tinyCapture(t);
      const through = (env: Env, url: string): Env => {
        const { OPENAI_BASE_URL: base } = env;
        const origin = new URL(base!).origin;
        const moved = Object.entries(env).map(([key, value]) => [key, value.replace(origin, url)]);
        return Object.fromEntries(moved) as Env;
      };
      const session = server.session({ task: { id: "sum" } });
      const { url } = await between(t, server.url, true);
      await program([name])(through(session.env, url));
      const { calls, trees } = await server.end(session, 1);
      assert.equal(calls[0]!.retriedBy, 1);
      assert.equal(trees.flatMap(({ trajectories }) => trajectories).length, 1);

      const { seen, url: again } = await between(t, server.url, false);
      await assert.rejects(program([name])(through(session.env, again)));
      // A client that counts tokens first asks for that once more.
      assert.ok(seen.requests <= (name === "anthropic" ? 2 : 1), `${seen.requests} requests`);
    },
  );
}

test(
  "sessions of anthropic's runner and of openai-agents are a tree that update trains on",
  { skip: noPython },
  async (t) => {
    const { policy, server } = await tinyCapture(t, 1);
    for (const name of ["anthropic-runner", "agents"]) {
      for (const reward of [1, 0]) {
        const session = server.session({ group: name, task: { id: name } });
        await pythonProgram([name])(session.env);
        await server.end(session, reward);
      }
      const scored = await score(server.trees(name));
      const { metrics } = await update(policy, advantages(scored), { learningRate: 1e-5 });
      const norm = Object.entries(metrics).find(([key]) => /grad.*norm/i.test(key));
      assert.ok(norm !== undefined && Number(norm[1]) > 0, JSON.stringify(metrics).slice(0, 300));
    }
  },
);
