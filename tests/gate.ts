import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./until.js";

/** A place in a cell where it waits for its test: no sleep is too short there, and none too long. */
export class Gate {
  readonly #server: Server;
  readonly #waiting: ServerResponse[] = [];
  #passed = 0;
  #arrived = 0;

  private constructor() {
    this.#server = createServer((_, response) => {
      this.#waiting.push(response);
      this.#arrived++;
      this.#let();
    });
  }

  static async open(): Promise<Gate> {
    const gate = new Gate();
    await new Promise<void>((done) => gate.#server.listen(0, "127.0.0.1", done));
    return gate;
  }

  /** The code that waits, once each time it is come to. */
  get here(): string {
    return `await fetch("http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/");`;
  }

  /** Waits until cells have come here so often. */
  async reached(times = 1): Promise<void> {
    await until(() => this.#arrived >= times, `a cell comes to its gate ${times} times`);
  }

  /** Lets cells go on so many times more, also those that are yet to come. */
  pass(times = 1): void {
    this.#passed += times;
    this.#let();
  }

  #let(): void {
    for (; this.#passed > 0 && this.#waiting.length > 0; this.#passed--)
      this.#waiting.shift()!.end();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}
