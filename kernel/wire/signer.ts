import { createHmac, timingSafeEqual } from "node:crypto";

/** Signs and checks the four parts of a message with the connection's key. */
export class Signer {
  readonly #key: string;
  readonly #hash: string;

  /** An empty key means that messages are not signed, as Jupyter allows. */
  constructor(key: string, scheme = "hmac-sha256") {
    const hash = /^hmac-(\w+)$/.exec(scheme)?.[1];
    if (hash === undefined) {
      throw new RangeError(`Cannot sign messages: the scheme must be hmac-HASH, got ${scheme}`);
    }
    this.#key = key;
    this.#hash = hash;
  }

  sign(parts: Uint8Array[]): string {
    if (this.#key === "") return "";
    const hmac = createHmac(this.#hash, this.#key);
    for (const part of parts) hmac.update(part);
    return hmac.digest("hex");
  }

  verify(signature: Uint8Array, parts: Uint8Array[]): boolean {
    if (this.#key === "") return true;
    const expected = Buffer.from(this.sign(parts));
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  }
}
