import { WORDS } from "../contract/bridge.js";

/** What is done to a main thread that does not answer; nothing where there is no way to. */
export interface Force {
  /** Ends whatever JavaScript it runs. */
  terminate?: () => Promise<unknown>;
  interruptChildren?: () => void;
}

/** How long compiled code gets to notice by itself, which keeps its `finally` blocks running. */
const GRACE = 40;
/** How often to try again while the main thread does not answer. */
const AGAIN = 20;
/** What the kernel loads of its own takes less than this. */
const LOADING = 5000;
/** After this long the main thread is inside a child process or native code. */
const CHILDREN = 120;

/**
 * Stops whatever the main thread is doing. First politely: a flag that loops of cells check and a
 * message that ends a cell that waits. A main thread that does not answer is running code we did not
 * compile: the inspector terminates it, again and again until the thread is back in its event loop.
 *
 * A termination may strike late, or strike the kernel's own code, and take a message with it. So every
 * question is repeated until it is answered, and an interrupt is over only when the main thread has
 * answered a question that was asked after the last termination had struck. A module of the kernel that is
 * struck while it loads can never be loaded again: nothing strikes then.
 */
export class Interrupter {
  readonly #words: Int32Array;
  readonly #ask: (interrupt: number, question: number) => void;
  readonly #force: Force;
  #interrupt = 0;
  #question = 0;
  /** Terminations on their way. */
  #striking = 0;
  /** The first question asked after the last termination. */
  #clean = 0;
  #answered = false;
  #since = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over: (() => void)[] = [];

  /** `ask` sends both numbers to the main thread; its answer, the same numbers, goes to `answered`. */
  constructor(words: Int32Array, force: Force, ask: (interrupt: number, question: number) => void) {
    this.#words = words;
    this.#force = force;
    this.#ask = ask;
  }

  get pending(): boolean {
    return this.#timer !== undefined;
  }

  /** Resolves when the main thread can be given work again. */
  over(): Promise<void> {
    if (!this.pending) return Promise.resolve();
    return new Promise((resolve) => this.#over.push(resolve));
  }

  interrupt(): void {
    if (this.pending) return;
    Atomics.store(this.#words, WORDS.interrupt, 1);
    this.#interrupt++;
    this.#answered = false;
    this.#clean = this.#question + 1;
    this.#since = performance.now();
    this.#ask(this.#interrupt, ++this.#question);
    this.#timer = setTimeout(() => this.#insist(), GRACE);
  }

  answered(interrupt: number, question: number): void {
    if (!this.pending || interrupt !== this.#interrupt) return;
    this.#answered = true;
    if (this.#striking > 0 || question < this.#clean) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    Atomics.store(this.#words, WORDS.interrupt, 0);
    for (const resolve of this.#over.splice(0)) resolve();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #insist(): void {
    const { terminate, interruptChildren } = this.#force;
    const passed = performance.now() - this.#since;
    const isLoading = Atomics.load(this.#words, WORDS.loading) > 0 && passed < LOADING;
    if (terminate && !this.#answered && this.#striking === 0 && !isLoading) {
      this.#striking++;
      const struck = (): void => {
        this.#striking--;
        this.#clean = this.#question + 1;
        if (this.pending) this.#ask(this.#interrupt, ++this.#question);
      };
      terminate().then(struck, struck);
    }
    if (!this.#answered && passed > CHILDREN) interruptChildren?.();
    this.#ask(this.#interrupt, ++this.#question);
    this.#timer = setTimeout(() => this.#insist(), AGAIN);
  }
}
