// llama.cpp's own server on a GGUF file, for tests that hold it beside what is here.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const python = process.env.ARPO_LAB_PYTHON;
const script = fileURLToPath(new URL("../../../tests/python/serve_gguf.py", import.meta.url));

/** What keeps a test with these Python packages from running, if anything does. */
export function missing(...packages: string[]): string | false {
  const names = packages.join(", ");
  if (python === undefined) return `LEFT OUT: ARPO_LAB_PYTHON names no Python with ${names}`;
  const { status } = spawnSync(python, ["-c", `import ${names}`]);
  return status !== 0 && `LEFT OUT: ${python} lacks one of ${names}`;
}

/** Serves a GGUF file until the test ends, to so many sequences at a time; gives the server's address. */
export async function serveGguf(
  t: Pick<TestContext, "after">,
  file: string,
  sequences = 4,
): Promise<string> {
  const child = spawn(python!, [script, file, String(sequences)]);
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("http")) return line;
  }
  throw new Error(`Cannot test: the server must say its address, got ${said.slice(-2000)}`);
}

async function ask<T>(address: string, path: string, body: unknown): Promise<T> {
  const response = await fetch(`${address}${path}`, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as T;
}

/** The tokens llama.cpp gives a text, special ones recognised. */
export async function tokensThere(address: string, text: string): Promise<number[]> {
  const body = { content: text, add_special: false, parse_special: true };
  return (await ask<{ tokens: number[] }>(address, "/tokenize", body)).tokens;
}

/**
 * What llama.cpp writes after a prompt, taking the most likely token each time. It gives no log-probability
 * to a token that is only a part of a character: from the first such on there are none (NaN).
 */
export async function greedyThere(
  address: string,
  prompt: readonly number[],
  maxTokens: number,
): Promise<{ tokens: number[]; logprobs: number[] }> {
  interface Answer {
    tokens: number[];
    completion_probabilities: { id: number; logprob: number }[];
  }
  const { tokens, completion_probabilities: told } = await ask<Answer>(address, "/completion", {
    ...{ prompt, n_predict: maxTokens, temperature: 0, n_probs: 1, cache_prompt: false },
    ...{ samplers: ["temperature"], repeat_penalty: 1, return_tokens: true },
  });
  const known = tokens.findIndex((id, i) => told[i]?.id !== id);
  const logprobs = tokens.map((_, i) => (known < 0 || i < known ? told[i]!.logprob : NaN));
  return { tokens, logprobs };
}

/** The likeliest tokens after a prompt there, and their log-probabilities. */
export async function topThere(
  address: string,
  prompt: readonly number[],
  top: number,
): Promise<Map<number, number>> {
  const { completion_probabilities: told } = await ask<{
    completion_probabilities: { top_logprobs: { id: number; logprob: number }[] }[];
  }>(address, "/completion", {
    ...{ prompt, n_predict: 1, temperature: 0, n_probs: top, cache_prompt: false },
    ...{ samplers: ["temperature"], repeat_penalty: 1, ignore_eos: true },
  });
  return new Map(told[0]!.top_logprobs.map(({ id, logprob }) => [id, logprob]));
}
