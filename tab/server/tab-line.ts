import type { Line } from "../../kernel/server/kernels/line.js";
import type { FromServer } from "./messages.js";

/** A socket of the page as a line of the server. */
export class TabLine implements Line {
  readonly bufferedAmount = 0;
  #heard: (data: Uint8Array, binary: boolean) => void = () => undefined;
  #gone: (() => void)[] = [];
  readonly #say: (message: FromServer) => void;

  constructor(
    readonly socket: number,
    readonly protocol: string,
    say: (message: FromServer) => void,
  ) {
    this.#say = say;
  }

  send(data: string | Uint8Array): void {
    this.#say({ type: "data", socket: this.socket, data });
  }

  /** Nothing is lost within a page. */
  confirm(received: () => void): void {
    received();
  }

  close(code: number, reason: string): void {
    this.#say({ type: "closed", socket: this.socket, code, reason });
    this.closed();
  }

  terminate(): void {
    this.close(1006, "");
  }

  onMessage(heard: (data: Uint8Array, binary: boolean) => void): void {
    this.#heard = heard;
  }

  onClose(gone: () => void): void {
    this.#gone.push(gone);
  }

  /** The page sent something. */
  hear(data: string | Uint8Array): void {
    if (typeof data === "string") this.#heard(new TextEncoder().encode(data), false);
    else this.#heard(data, true);
  }

  /** The page closed it. */
  closed(): void {
    for (const gone of this.#gone.splice(0)) gone();
  }
}
