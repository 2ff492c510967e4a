/** A request as a server reads it. */
interface Sending {
  readonly complete: boolean;
  resume(): unknown;
  destroy(): unknown;
  once(event: "end" | "close", listener: () => void): unknown;
}

interface Answering {
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  write(bytes: Uint8Array): unknown;
  end(): unknown;
}

/** How long a client may go on sending what nobody reads, in milliseconds. */
const longest = 30_000;

/**
 * Answers a request that is refused. What its client still sends is read and dropped, for a while, before the
 * connection is closed: closed on unread bytes it would be reset, and the client could not read why.
 */
export function refuse(
  request: Sending,
  response: Answering,
  answer: { status: number; headers: Readonly<Record<string, string>>; text: string },
): void {
  const { complete } = request;
  const bytes = new TextEncoder().encode(answer.text);
  const headers = { ...answer.headers, "content-length": bytes.length };
  response.writeHead(answer.status, complete ? headers : { ...headers, connection: "close" });
  response.write(bytes);
  if (complete) {
    response.end();
    return;
  }
  const timer = setTimeout(() => request.destroy(), longest);
  (timer as { unref?: () => void }).unref?.();
  const finish = () => {
    clearTimeout(timer);
    response.end();
  };
  request.once("end", finish);
  request.once("close", finish);
  request.resume();
}
