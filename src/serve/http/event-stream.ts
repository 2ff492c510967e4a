import type { ServerResponse } from "node:http";

/** Server-sent events, as OpenAI's clients read them. */
export class EventStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Sends one object; the headers go with the first. */
  send(data: unknown): void {
    if (!this.#response.headersSent) {
      this.#response.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
      });
      this.#response.flushHeaders();
    }
    this.#response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }

  end(): void {
    this.send("[DONE]");
    this.#response.end();
  }
}
