import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { loadTools } from "../../tools/load-tools.js";
import { infer } from "./infer.js";

/** Pages, and a summariser that repeats what it read of them. */
async function world(t: TestContext) {
  const asked: string[] = [];
  const visits: string[] = [];
  const state = { down: false };
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      visits.push(request.url!);
      const filler = "Nothing of note happened here. ".repeat(400);
      response.setHeader("content-type", "text/html");
      response.end(
        `<p>${filler}</p><p>Oslo is the capital of Norway, says page ${request.url}.</p><p>${filler}</p>`,
      );
      return;
    }
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      if (state.down) return response.writeHead(400).end();
      const body = JSON.parse(text) as { messages: { content: string }[] };
      asked.push(body.messages[0]!.content);
      const content = `I read them.\n**Final Information**\nno\n**Final Information**\n\nOslo (${asked.length})`;
      return response.end(
        JSON.stringify({ choices: [{ message: { role: "assistant", content } }] }),
      );
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = mkdtempSync(join(tmpdir(), "deep-"));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const page = (n: number) => ({
    title: `Page ${n}`,
    text: "Oslo: capital of Norway",
    url: `${url}/${n}`,
  });
  const corpus = join(folder, "corpus.jsonl");
  writeFileSync(corpus, [1, 2, 3].map((n) => JSON.stringify(page(n))).join("\n"));
  const tools = await loadTools({
    retry_count: 1,
    tool_instances: {
      search: {
        class_path: "search.deep",
        params: {
          ...{ provider: "offline", provider_params: { corpus }, max_pages: 2, retry_wait: 0 },
          ...{ page_cache: join(folder, "pages.jsonl"), allow_private: true },
          summarizer: { urls: [`${url}/v1`], model: "m" },
        },
      },
    },
  });
  t.after(() => tools.dispose());
  return { tools, asked, visits, state };
}

const question = {
  benchmark: { name: "toy", title: "Toy", task: "qa", prompt: "none" } as const,
  items: [{ index: 0, question: "Which city?", answer: "Oslo", row: {} }],
  path: "",
  sha256: "",
};

test("infer() searches deeply: pages, passages, and a summariser that knows the reasoning", async (t) => {
  const { tools, asked, visits } = await world(t);
  const texts = [
    "<think>I wonder.</think><search>capital of Norway</search>",
    "<think>Again.</think><search>Norway's capital</search>",
    "<answer>\\boxed{Oslo}</answer>",
  ];
  const policy = new ScriptedPolicy(({ turn }) => ({ text: texts[turn]! }));
  const [sample] = await infer(policy, [question], { tools });
  assert.equal(sample!.logs[1], " <result>\nOslo (1)\n</result>");
  assert.equal(sample!.logs[3], " <result>\nOslo (2)\n</result>");
  assert.equal(sample!.prediction, "Oslo");
  assert.match(asked[0]!, /Step 1: <think>I wonder\.<\/think><search>capital of Norway<\/search>/);
  assert.match(asked[0]!, /\*\*Search query:\*\*\ncapital of Norway\n/);
  assert.match(asked[0]!, /Oslo is the capital of Norway, says page \/1\./);
  assert.match(asked[1]!, /Step 2: <result>\nOslo \(1\)\n<\/result>\n\nStep 3: <think>Again/);
  // A passage is what stands around the sentence that fits, 3,000 characters on each side.
  const passages = [...asked[0]!.matchAll(/"text": "(.*)"/g)].map((match) => match[1]!.length);
  assert.equal(passages.length, 2);
  assert.ok(
    passages.every((length) => length > 5900 && length < 6200),
    passages.join(),
  );
  assert.deepEqual(visits.sort(), ["/1", "/2"]);
});

test("infer() tells a summariser that is down from a wrong answer", async (t) => {
  const { tools, state } = await world(t);
  state.down = true;
  const policy = new ScriptedPolicy(({ turn }) => ({
    text: turn === 0 ? "<search>capital of Norway</search>" : "<answer>\\boxed{none}</answer>",
  }));
  const [sample] = await infer(policy, [question], { tools });
  assert.equal(sample!.failed_tool_calls, 1);
  const [, result] = sample!.steps;
  assert.ok(result?.kind === "result");
  assert.match(result.tool.failure!.message, /Cannot ask the summariser.*got 400/);
});
