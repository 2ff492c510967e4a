/** A request as a server reads it. */
interface Sending {
  readonly complete: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  resume(): unknown;
  destroy(): unknown;
  once(event: "end" | "close", listener: () => void): unknown;
}

interface Answering {
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  write(bytes: Uint8Array): unknown;
  end(bytes?: Uint8Array): unknown;
}

/** Whether a body is still to come. What stands behind a request that announces none is no part of it. */
const sends = ({ complete, headers }: Sending): boolean =>
  !complete &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > 0);

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
  const more = sends(request);
  const bytes = new TextEncoder().encode(answer.text);
  const headers = { ...answer.headers, "content-length": bytes.length };
  response.writeHead(answer.status, more ? { ...headers, connection: "close" } : headers);
  if (!more) {
    // All at once: a client that sends what is no request may be cut off in the next moment.
    response.end(bytes);
    return;
  }
  response.write(bytes);
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
