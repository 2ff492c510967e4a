import { z } from "#zod";
import { HttpError } from "../../base/http/request-json.js";
import { blocks } from "../../base/text/result-block.js";

/**
 * Why a judge gave no verdict. `timeout`: nothing in time. `rate-limit`: 429. `server`: another status.
 * `connection`: refused or broken off. `malformed`: not JSON, or not a chat completion. `refusal`: it
 * would not say. `cut-off`: its reply ended before a verdict. `nonsense`: neither correct nor incorrect.
 */
export type JudgeFault =
  | "timeout"
  | "rate-limit"
  | "server"
  | "connection"
  | "malformed"
  | "refusal"
  | "cut-off"
  | "nonsense";

/** An answer that came, of which no verdict can be made. */
export class JudgeReplyError extends Error {
  override name = "JudgeReplyError";
  constructor(
    readonly fault: "malformed" | "refusal" | "cut-off" | "nonsense",
    message: string,
    readonly reply?: string,
  ) {
    super(message);
  }
}

/** Which fault an error is; undefined for anything that is not the endpoint's doing. */
export function faultOf(error: unknown): JudgeFault | undefined {
  if (error instanceof JudgeReplyError) return error.fault;
  if (!(error instanceof HttpError)) return undefined;
  if (error.fault === "status") return error.status === 429 ? "rate-limit" : "server";
  return error.fault === "content" ? "malformed" : error.fault;
}

const completion = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        finish_reason: z.string().nullish(),
        message: z.looseObject({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
});

const counted = z.looseObject({
  usage: z.looseObject({
    prompt_tokens: z.number().int().nonnegative(),
    completion_tokens: z.number().int().nonnegative(),
  }),
});

interface Usage {
  promptTokens: number;
  completionTokens: number;
}

/** The tokens an answer cost, if it says so. */
export function readUsage(body: unknown): Usage | undefined {
  const read = counted.safeParse(body);
  if (!read.success) return undefined;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = read.data.usage;
  return { promptTokens, completionTokens };
}

/** How models begin when they will not answer. */
const refusing = /^\W*(i['’]?m sorry|sorry\b|i (cannot|can['’]?t|won['’]?t|am unable)|as an ai\b)/i;

/** The reply's part that holds the verdict: its `<judgment>` block, else all of it. */
function verdictPart(reply: string): string {
  const [block] = blocks(reply, "<judgment>", "</judgment>");
  return (block?.inner ?? reply).toLowerCase();
}

/** Whether a reply says anything that the reference's rule understands. */
export function isVerdict(reply: string): boolean {
  const part = verdictPart(reply);
  // "I cannot say whether it is correct" holds the word, but is no verdict.
  if (refusing.test(reply) && !/<judgment>/.test(reply)) return false;
  return part.includes("correct") || part.includes("wrong");
}

/** The judge's own words; throws a `JudgeReplyError` when there is no verdict in them. */
export function readReply(body: unknown): string {
  const read = completion.safeParse(body);
  if (!read.success) {
    throw new JudgeReplyError(
      "malformed",
      "Cannot read the judge's answer: it must be a chat completion, got other JSON",
    );
  }
  const { message, finish_reason: finish } = read.data.choices[0]!;
  const reply = (message.content ?? "").trim();
  const no = (fault: JudgeReplyError["fault"], rule: string, got: string) =>
    new JudgeReplyError(fault, `Cannot read the judge's verdict: ${rule}, got ${got}`, reply);
  const shown = JSON.stringify((message.refusal ?? reply).slice(0, 80));
  if (message.refusal || finish === "content_filter") {
    throw no("refusal", "it must answer", `a refusal, ${shown}`);
  }
  if (finish === "length" && !reply.includes("</judgment>")) {
    throw no("cut-off", "the reply must be whole", `one cut off at ${reply.length} characters`);
  }
  if (isVerdict(reply)) return reply;
  if (refusing.test(reply)) throw no("refusal", "it must answer", `a refusal, ${shown}`);
  throw no("nonsense", "it must say correct or incorrect", shown);
}
