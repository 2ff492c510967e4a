import WebSocket from "ws";
import { type RayConnection, RayError } from "./ray-connection.js";

/** How a tail ended: 1000 where the log did, anything else where the line broke. */
interface TailEnd {
  code: number;
}

/**
 * A job's log from its first line on, line by line as it is written; returns when the log ends or the
 * line breaks. Without compression: Ray hands the client's headers on to its own backend, which then
 * closes with 1000 and not a single line.
 */
export async function* tail(
  connection: RayConnection,
  id: string,
  signal?: AbortSignal,
): AsyncGenerator<string, TailEnd> {
  const url = `${connection.url.replace(/^http/, "ws")}/api/jobs/${id}/logs/tail`;
  const headers = connection.headers();
  const socket = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: 2 ** 26 });
  const lines: string[] = [];
  let rest = "";
  let ended: TailEnd | undefined;
  let refused: RayError | undefined;
  let wake: () => void = () => undefined;
  const stop = (): void => {
    wake();
  };
  signal?.addEventListener("abort", stop);
  socket.on("message", (data: Buffer) => {
    const parts = (rest + data.toString()).split("\n");
    rest = parts.pop()!;
    lines.push(...parts);
    wake();
  });
  socket.on("unexpected-response", (_, { statusCode = 0 }) => {
    refused = new RayError(
      `Cannot read the log of job ${id}: ${connection.url} must answer with a log, got status ${statusCode}`,
      statusCode,
    );
    wake();
  });
  socket.on("error", () => {
    ended ??= { code: -1 };
    wake();
  });
  socket.on("close", (code) => {
    ended ??= { code };
    wake();
  });
  try {
    for (;;) {
      while (lines.length > 0 && !signal?.aborted) yield lines.shift()!;
      // Also where it was told to stop while its reader was busy with a line: nothing wakes it any more.
      signal?.throwIfAborted();
      if (refused) throw refused;
      if (ended) {
        if (rest !== "" && ended.code === 1000) yield rest;
        return ended;
      }
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    socket.terminate();
  }
}
