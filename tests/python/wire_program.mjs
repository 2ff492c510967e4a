// Clients of Responses and Messages from npm, for dialects.slow.test.ts: node wire_program.mjs NAME [stream] [two]
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const [name, ...ways] = process.argv.slice(2);
const stream = ways.includes("stream") ? true : undefined;
const names = ways.includes("two") ? ["python", "search"] : ["python"];
const env = process.env;
const question = "What is 12 + 34 - 5?";
const parameters = {
  type: "object",
  properties: { code: { type: "string" } },
  required: ["code"],
};

/** Two turns of the user: the second one's history has the first one's answer. */
async function ai(model, options = {}) {
  const python = tool({
    description: "Runs code.",
    inputSchema: z.object({ code: z.string() }),
    execute: () => "41",
  });
  const tools = Object.fromEntries(names.map((name) => [name, python]));
  const messages = [{ role: "user", content: question }];
  let text = "";
  for (const more of ["And again?", undefined]) {
    const asked = {
      ...{ model, messages, tools, temperature: 0, stopWhen: stepCountIs(4) },
      ...{ system: "Use python.", maxOutputTokens: 300, providerOptions: options },
    };
    const answer = stream ? streamText(asked) : await generateText(asked);
    text = await answer.text;
    const said = await (answer.responseMessages ?? (await answer.response).messages);
    messages.push(...said);
    if (more !== undefined) messages.push({ role: "user", content: more });
  }
  return text;
}

const openai = (model = "tiny") => createOpenAI({ baseURL: env.OPENAI_BASE_URL })(model);
const programs = {
  "ai-openai": () => ai(openai()),
  "ai-openai-unstored": () => ai(openai("gpt-5.2"), { openai: { store: false } }),
  "ai-anthropic": () => ai(createAnthropic({ baseURL: `${env.ANTHROPIC_BASE_URL}/v1` })("tiny")),
  "openai-npm": async () => {
    const client = new OpenAI();
    const tools = names.map((name) => ({ type: "function", name, parameters, strict: false }));
    const asked = { model: "tiny", tools, temperature: 0, instructions: "Use python." };
    const ask = (more) =>
      stream
        ? client.responses.stream({ ...asked, ...more }).finalResponse()
        : client.responses.create({ ...asked, ...more });
    const first = await ask({ input: question });
    const input = first.output
      .filter(({ type }) => type === "function_call")
      .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "41" }));
    return (await ask({ input, previous_response_id: first.id })).output_text;
  },
  "anthropic-npm": async () => {
    const runner = new Anthropic().beta.messages.toolRunner({
      ...{ model: "tiny", max_tokens: 500, max_iterations: 4, stream: stream !== undefined },
      ...{ system: "Use python.", messages: [{ role: "user", content: question }] },
      tools: names.map((name) => ({
        ...{ name, input_schema: parameters, run: () => "41", parse: (x) => x },
      })),
    });
    const last = await runner;
    return last.content.map(({ text }) => text ?? "").join("");
  },
};
process.stdout.write(await programs[name]());
