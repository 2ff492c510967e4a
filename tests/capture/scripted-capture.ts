import type { TestContext } from "node:test";
import { ByteTokenizer } from "../policy/byte-tokenizer.js";
import { ScriptedDecoder, slowed } from "../policy/scripted-decoder.js";
import type { ChatMessage, ChatOptions } from "../../src/model/tokenizer/tokenizer.js";
import { LocalPolicy } from "../../src/policy/local-policy.js";
import { capture, type CaptureOptions } from "../../src/interop/capture/capture-server.js";
import type { CaptureSession } from "../../src/interop/capture/capture-session.js";

const marks = ["<s>", "<u>", "<a>", "<e>"];

/** Bytes, and a token for each mark of a chat: `<u>` begins the user's words, `<a>` the model's, `<e>` ends them. */
class ChatTokenizer extends ByteTokenizer {
  override readonly eosIds = [256 + marks.indexOf("<e>")];

  constructor() {
    super(marks);
  }

  override decode(ids: ArrayLike<number>, options: { skipSpecial?: boolean } = {}): string {
    const shown = Array.from(ids).filter((id) => !options.skipSpecial || id < 256);
    return super.decode(shown, options);
  }

  override chat(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    const said = messages.map(({ role, content }) => `<${role[0]!}>${content}<e>`);
    return said.join("") + (options.addGenerationPrompt ? "<a>" : "");
  }
}

/** What the model writes behind a text; a list is one answer after another. */
export type Script = Record<string, string | string[]>;

/** A capture server whose model knows a script. */
export async function scriptedCapture(
  t: TestContext,
  script: Script,
  options: CaptureOptions & { delayMs?: number } = {},
) {
  const { delayMs = 0, ...rest } = options;
  const tokenizer = new ChatTokenizer();
  const next = (tokens: readonly number[], uniform: number) => {
    const text = tokenizer.decode(tokens, { skipSpecial: false });
    const fitting = Object.entries(script).flatMap(([before, answers]) =>
      [answers].flat().map((answer) => before + answer),
    );
    const found = fitting.filter((whole) => whole.startsWith(text) && whole.length > text.length);
    if (found.length === 0) return tokenizer.eosIds[0]!;
    const chosen = found[Math.floor(uniform * found.length)]!;
    return tokenizer.encode(chosen.slice(text.length))[0]!;
  };
  const sizes = { vocabSize: tokenizer.vocabSize, contextLength: 512 };
  const decoder = slowed(new ScriptedDecoder(sizes, next), delayMs);
  const policy = new LocalPolicy({ name: "scripted", tokenizer, decoder });
  const server = await capture(policy, rest);
  t.after(() => server.stop());
  return { server, policy, tokenizer };
}

interface Asking {
  stream?: boolean;
  signal?: AbortSignal;
  more?: object;
  headers?: Record<string, string>;
}

/** Asks as a program does. */
export async function ask(
  session: Pick<CaptureSession, "key" | "env">,
  messages: readonly object[],
  { stream = false, signal, more = {}, headers = {} }: Asking = {},
) {
  const response = await fetch(`${session.env["OPENAI_BASE_URL"]!}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${session.key}`,
      ...headers,
    },
    body: JSON.stringify({ model: "gpt-4o", messages, stream, ...more }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  return { status: response.status, text, json: stream ? undefined : (JSON.parse(text) as Answer) };
}

/** What a chat completion says. */
export interface Answer {
  choices: {
    message: {
      content: string | null;
      tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    };
    finish_reason: string;
  }[];
  error?: { message: string };
}

export const user = (content: string) => ({ role: "user", content });
export const assistant = (content: string) => ({ role: "assistant", content });
