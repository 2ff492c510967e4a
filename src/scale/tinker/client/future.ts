import { z } from "#zod";
import { HttpError } from "../../../http/request-json.js";
import { pause } from "../../../http/pause.js";
import { TinkerError } from "./errors.js";
import { reasonOf, type TinkerHttp } from "./http.js";

const tryAgain = z.looseObject({
  type: z.literal("try_again"),
  queue_state: z.string().optional(),
});
const failed = z.looseObject({
  error: z.string(),
  category: z.string().optional(),
  status: z.string().optional(),
});

/** What a piece of work at the server is awaited with. */
export interface Awaited {
  doing: string;
  requestId: string;
  busy?: () => void;
  signal?: AbortSignal;
}

const category = (said: string | undefined) =>
  said === "user" || said === "server" ? said : "unknown";

/**
 * Waits for a piece of work: asks until it is done, has failed, or took too long. Asking changes nothing,
 * so whatever goes wrong with a question is no reason to give the work up.
 */
export async function awaitFuture(http: TinkerHttp, work: Awaited): Promise<unknown> {
  const { doing, requestId, signal } = work;
  const { workMs, attempts, note } = http.settings;
  const until = Date.now() + workMs;
  let [failures, pauses, saidPaused] = [0, 0, false];
  while (Date.now() < until) {
    signal?.throwIfAborted();
    let wait: number;
    try {
      const answer = await http.once({
        doing,
        path: "retrieve_future",
        body: { request_id: requestId, allow_metadata_only: false },
        signal,
      });
      failures = 0;
      const again = tryAgain.safeParse(answer);
      if (!again.success) return finished(doing, answer);
      if (again.data.queue_state?.startsWith("paused")) {
        work.busy?.();
        if (!saidPaused)
          note(`arpo-lab: the Tinker server holds work back: ${again.data.queue_state}`);
        saidPaused = true;
      }
      wait = http.wait(Math.min(pauses++, 4));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      // A question that the server kept open until it was dropped: nothing has failed.
      const pending = error.status === 408 || error.fault === "timeout";
      if (!pending) {
        const final = error.status !== undefined && !error.retry;
        if (final || ++failures >= attempts) throw lost(error, requestId);
        if (error.status === 429) work.busy?.();
      }
      wait = http.wait(pending ? 0 : failures - 1, error);
    }
    await pause(Math.max(0, Math.min(wait, until - Date.now())), signal);
  }
  throw new TinkerError(
    `Cannot ${doing}: work ${requestId} must be done within ${workMs} ms, got no end of it`,
    "server",
  );
}

/** What was answered, unless that is a failure. */
function finished(doing: string, answer: unknown): unknown {
  const refusal = failed.safeParse(answer);
  if (!refusal.success) return answer;
  const { error, category: whose } = refusal.data;
  throw new TinkerError(`Cannot ${doing}: the server must do it, got ${error}`, category(whose));
}

function lost(error: HttpError, requestId: string): TinkerError {
  const reason = reasonOf(error);
  const gone = error.status === 404 || error.status === 410;
  const why = gone ? `it no longer knows work ${requestId}, as after a restart` : reason;
  return new TinkerError(
    why === undefined ? error.message : `${error.message}: ${why}`,
    !gone && error.status !== undefined && error.status < 500 ? "user" : "server",
  );
}
