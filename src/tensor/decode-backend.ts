import type { BackendName } from "./backends.js";
import { tf } from "./tfjs.js";

let chosen: BackendName | undefined;

/** What decoders are to compute on from here on, where that is another backend than the tensors'. */
export function decodeOn(name: BackendName | undefined): void {
  chosen = name;
}

/** What decoders compute on: what was chosen for them, else what tensors are on. */
export function decodeBackend(): BackendName {
  return chosen ?? (tf.getBackend() as BackendName);
}
