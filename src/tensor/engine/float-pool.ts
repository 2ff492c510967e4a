import { sizeClass } from "./size-class.js";

/**
 * Float32Arrays that are used again. A fresh array costs a page fault for every 4 KB; a training step
 * makes and drops the same sizes each time, so nearly all of its arrays come from here.
 */
export class FloatPool {
  readonly #idle = new Map<number, ArrayBuffer[]>();
  #used = 0;
  #idleBytes = 0;
  #peak = 0;

  allocate(length: number): Float32Array {
    const capacity = sizeClass(length);
    const buffer = this.#idle.get(capacity)?.pop();
    this.#used += capacity * 4;
    this.#peak = Math.max(this.#peak, this.#used);
    if (!buffer) return new Float32Array(new ArrayBuffer(capacity * 4), 0, length);
    this.#idleBytes -= buffer.byteLength;
    return new Float32Array(buffer, 0, length);
  }

  release(array: Float32Array): void {
    const buffer = array.buffer as ArrayBuffer;
    this.#used -= buffer.byteLength;
    // Never hold more in all than was once in use, and a little.
    if (this.#used + this.#idleBytes + buffer.byteLength > this.#peak + (16 << 20)) {
      this.#drop();
    }
    const list = this.#idle.get(buffer.byteLength / 4);
    if (list) list.push(buffer);
    else this.#idle.set(buffer.byteLength / 4, [buffer]);
    this.#idleBytes += buffer.byteLength;
  }

  #drop(): void {
    this.#idle.clear();
    this.#idleBytes = 0;
    this.#peak = this.#used;
  }

  memory(): { used: number; idle: number } {
    return { used: this.#used, idle: this.#idleBytes };
  }
}
