import type { EngineFunctions } from "../engine/engine-functions.js";
import { compiledEngine } from "../engine/compiled-engine.js";
import { tf } from "../tfjs.js";
import { type Work, workOf } from "./work.js";

/** What was recorded of one operation. */
export interface Recorded extends Work {
  calls: number;
  /** Milliseconds, without those of operations inside it. */
  time: number;
}

interface Open {
  name: string;
  inside: number;
}

const runsKernels = () => tf.engine() as unknown as { runKernel: (...given: unknown[]) => unknown };

/**
 * Records every tensor operation and every function of the compiled engine until it is stopped. What the
 * engine does for an operation is part of it; what it does outside of any goes by the function's name.
 */
export class Recorder {
  readonly found = new Map<string, Recorded>();
  readonly #clock: () => number;
  readonly #open: Open[] = [];
  readonly #stops: (() => void)[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
    const engine = runsKernels();
    const { runKernel } = engine;
    engine.runKernel = (...given: unknown[]) =>
      this.#timed((given[0] as string).replace(/^Arpo/, ""), () => runKernel.apply(engine, given));
    // The method itself is the class's.
    this.#stops.push(() => Reflect.deleteProperty(engine, "runKernel"));
    const compiled = compiledEngine();
    if (compiled)
      this.#recordEngine(compiled.call as Record<string, (...given: unknown[]) => unknown>);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #recordEngine(call: Record<string, (...given: unknown[]) => unknown>): void {
    for (const [name, run] of Object.entries(call)) {
      call[name] = (...given: unknown[]) => {
        const operation = this.#open.at(-1)?.name;
        const result = operation ? run(...given) : this.#timed(name, () => run(...given));
        const record = this.#record(operation ?? name);
        const { operations, bytes } = workOf(name as keyof EngineFunctions, given);
        record.operations += operations;
        record.bytes += bytes;
        return result;
      };
      this.#stops.push(() => (call[name] = run));
    }
  }

  #record(name: string): Recorded {
    let record = this.found.get(name);
    if (!record) this.found.set(name, (record = { calls: 0, time: 0, operations: 0, bytes: 0 }));
    return record;
  }

  #timed<T>(name: string, run: () => T): T {
    const open: Open = { name, inside: 0 };
    this.#open.push(open);
    const start = this.#clock();
    try {
      return run();
    } finally {
      const passed = this.#clock() - start;
      this.#open.pop();
      const around = this.#open.at(-1);
      if (around) around.inside += passed;
      const record = this.#record(name);
      record.calls++;
      record.time += passed - open.inside;
    }
  }
}
