import { closeSync, existsSync, openSync, readSync } from "#platform/files";
import { architecture, ownProgram, system } from "#platform/process";
import { packagePath, requirePackage } from "#platform/modules";
import { join } from "#platform/path";
import { checkSignatures, type EngineFunctions, type Floats } from "./engine-functions.js";
import type { Engine } from "./engine.js";

const native = packagePath("native");

/** Whether this Node was linked against musl, as Alpine's is: its file names the loader it needs. */
function onMusl(): boolean {
  if (system !== "linux") return false;
  try {
    const file = openSync(ownProgram, "r");
    const head = new Uint8Array(4096);
    readSync(file, head, 0, head.length, 0);
    closeSync(file);
    return String.fromCharCode(...head).includes("/ld-musl-");
  } catch {
    return false;
  }
}

/** What the addon for this machine is called: `linux-x64`, `linux-arm64-musl`, `darwin-arm64`. */
export function addonName(
  machine: { platform: string; arch: string; musl: boolean } = {
    platform: system,
    arch: architecture,
    musl: onMusl(),
  },
): string {
  return `${machine.platform}-${machine.arch}${machine.musl ? "-musl" : ""}`;
}

/** The addon's file: the one that this clone compiled, else the one that came with the package. */
export function findAddon(folder = native): string | undefined {
  return [join(folder, "build/arpo.node"), join(folder, `prebuilt/${addonName()}.node`)].find(
    existsSync,
  );
}

/** A range of a slab, in bytes. */
interface Range {
  at: number;
  size: number;
}

interface Slab {
  buffer: ArrayBuffer;
  /** What is free, by rising place; neighbours are joined. */
  free: Range[];
}

const ALIGNMENT = 64;
const SLAB_BYTES = 32 << 20;

/**
 * Large Float32Arrays cut out of slabs of memory, whatever their sizes, so that a slab can be backed by
 * large pages: with pages of 4 KB a tenth of a training step is the processor looking up where they are.
 * An array that is forgotten without `release` comes back when it is collected.
 */
export class Arena {
  readonly #make: (bytes: number) => ArrayBuffer;
  readonly #slabs = new Map<ArrayBuffer, Slab>();
  readonly #forgotten = new FinalizationRegistry<{ buffer: ArrayBuffer; range: Range }>(
    ({ buffer, range }) => this.#giveBack(buffer, range),
  );
  #used = 0;
  #peak = 0;
  #held = 0;

  /** `make` gives zeroed memory of a size. */
  constructor(make: (bytes: number) => ArrayBuffer) {
    this.#make = make;
  }

  allocate(length: number): Float32Array {
    const size = Math.ceil((length * 4) / ALIGNMENT) * ALIGNMENT;
    const { buffer, at } = this.#take(size) ?? this.#grow(size);
    this.#used += size;
    this.#peak = Math.max(this.#peak, this.#used);
    const array = new Float32Array(buffer, at, length);
    this.#forgotten.register(array, { buffer, range: { at, size } }, array);
    return array;
  }

  owns(array: Float32Array): boolean {
    return this.#slabs.has(array.buffer as ArrayBuffer);
  }

  release(array: Float32Array): void {
    this.#forgotten.unregister(array);
    const size = Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
    this.#giveBack(array.buffer as ArrayBuffer, { at: array.byteOffset, size });
  }

  memory(): { used: number; idle: number } {
    return { used: this.#used, idle: this.#held - this.#used };
  }

  /** The smallest free range that is large enough. */
  #take(size: number): { buffer: ArrayBuffer; at: number } | undefined {
    let best: Slab | undefined;
    let index = 0;
    let bestSize = Infinity;
    for (const slab of this.#slabs.values()) {
      for (let i = 0; i < slab.free.length; i++) {
        const found = slab.free[i]!.size;
        if (found >= size && found < bestSize) {
          best = slab;
          index = i;
          bestSize = found;
        }
      }
    }
    if (!best) return undefined;
    const range = best.free[index]!;
    const { at } = range;
    range.at += size;
    range.size -= size;
    if (range.size === 0) best.free.splice(index, 1);
    return { buffer: best.buffer, at };
  }

  #grow(size: number): { buffer: ArrayBuffer; at: number } {
    const bytes = Math.max(SLAB_BYTES, size);
    const buffer = this.#make(bytes);
    const free = bytes > size ? [{ at: size, size: bytes - size }] : [];
    this.#slabs.set(buffer, { buffer, free });
    this.#held += bytes;
    return { buffer, at: 0 };
  }

  #giveBack(buffer: ArrayBuffer, range: Range): void {
    const slab = this.#slabs.get(buffer)!;
    this.#used -= range.size;
    const { free } = slab;
    let i = 0;
    let end = free.length;
    while (i < end) {
      const middle = (i + end) >> 1;
      if (free[middle]!.at < range.at) i = middle + 1;
      else end = middle;
    }
    const before = free[i - 1];
    const after = free[i];
    if (before && before.at + before.size === range.at) {
      before.size += range.size;
      if (after && before.at + before.size === after.at) {
        before.size += after.size;
        free.splice(i, 1);
      }
    } else if (after && range.at + range.size === after.at) {
      after.at = range.at;
      after.size += range.size;
    } else {
      free.splice(i, 0, range);
    }
    // An empty slab goes when what is left would do for as much as was once in use, and some more.
    if (free.length === 1 && free[0]!.size === buffer.byteLength) {
      if (this.#held - buffer.byteLength >= this.#peak * 1.25) {
        this.#slabs.delete(buffer);
        this.#held -= buffer.byteLength;
      }
    }
  }
}

/**
 * The capacity, in floats, that a block of `length` floats is allotted: at most an eighth more, so
 * that blocks of nearly one size can take each other's place.
 */
function sizeClass(length: number): number {
  if (length <= 64) return 64;
  const step = 2 ** Math.max(4, Math.floor(Math.log2(length - 1)) - 3);
  return Math.ceil(length / step) * step;
}

/**
 * Float32Arrays that are used again. A fresh array costs a page fault for every 4 KB; a training step
 * makes and drops the same sizes each time, so nearly all of its arrays come from here.
 */
class FloatPool {
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

const addon = findAddon();

/** Arrays of at least this many floats come from slabs. */
const LARGE = 8192;

/** Whether there is an addon for this machine. */
export function nativeEngineExists(): boolean {
  return addon !== undefined;
}

/** Loads the C++ addon; throws where there is none or it does not load. */
export function loadNativeEngine(): Engine {
  if (addon === undefined)
    throw new Error(`Cannot load the native engine: there is no addon for ${addonName()} here`);
  const { isa, signatures, map_file, forget_file, map_memory, address_of, ...call } =
    requirePackage(addon) as {
      isa: string;
      signatures: Record<string, string>;
      map_file: (path: string) => ArrayBuffer | null;
      forget_file: (file: ArrayBuffer) => void;
      map_memory: (bytes: number) => ArrayBuffer | null;
      address_of: (array: Float32Array) => number;
    } & EngineFunctions;
  checkSignatures("native", signatures);
  const pool = new FloatPool();
  const arena = new Arena((bytes) => map_memory(bytes) ?? new ArrayBuffer(bytes));
  const allocate = (length: number) => (length < LARGE ? pool : arena).allocate(length);
  const array = (floats: Floats) => floats as Float32Array;
  return {
    kind: "native",
    isa,
    call,
    allocate,
    release(floats) {
      (arena.owns(array(floats)) ? arena : pool).release(array(floats));
    },
    address: (floats) => address_of(array(floats)),
    read: (floats) => array(floats).slice(),
    upload(values) {
      const floats = allocate(values.length);
      floats.set(values);
      return floats;
    },
    map: map_file,
    forget: forget_file,
    memory() {
      const [small, large] = [pool.memory(), arena.memory()];
      return { used: small.used + large.used, idle: small.idle + large.idle };
    },
  };
}
