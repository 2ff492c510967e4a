/** What is asked of a page's connection: a socket of `ws`, or one within a page. */
export interface Line {
  readonly protocol: string;
  /** Bytes that are not on their way yet. */
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): void;
  /** Calls back when the other end has received all that was sent before. */
  confirm(received: () => void): void;
  close(code: number, reason: string): void;
  /** At once, without a word. */
  terminate(): void;
  onMessage(heard: (data: Uint8Array, binary: boolean) => void): void;
  onClose(gone: () => void): void;
}
