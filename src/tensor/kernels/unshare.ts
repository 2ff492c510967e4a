import { EngineBackend } from "../engine/engine-backend.js";
import { tf } from "../tfjs.js";

/**
 * Gives a variable memory that nothing else sees, so that a kernel may change it in place: tensors it
 * was cloned to, and the array it was made from, keep the old values.
 */
export function unshare(variable: tf.Variable): void {
  const backend = tf.backend();
  if (!(backend instanceof EngineBackend)) {
    // On a GPU, where every tensor has memory that can be changed.
    if (backend.refCount(variable.dataId) > 1) tf.tidy(() => variable.assign(variable.mul(1)));
    return;
  }
  if (backend.exclusive(variable.dataId)) return;
  if (backend.refCount(variable.dataId) > 1) {
    const copy = tf.tensor(variable.dataSync(), variable.shape, "float32");
    variable.assign(copy);
    copy.dispose();
  }
  backend.own(variable.dataId);
}
