// A base module: whoever calls a user's own code says here what it calls, and whoever looks after the
// process (`guardProcess`) can say what an error came from, what never settled and what never returned.
import { makeContext } from "#platform/process";

/** What is under way: a word of what it is, and of whose. */
interface Running {
  what: string;
}

const open = new Set<Running>();
/** What is in the middle of its synchronous part, the innermost last. */
const inside: string[] = [];
const context = makeContext<string>();
let tracing = false;
let tell: (what: string) => void = () => undefined;
let userCode: () => Promise<void> = () => Promise.resolve();

/**
 * Calls code that a user may have written and writes down, until what it gives is settled, what runs:
 * `the tool <python>`, `the reward of task calc-3, row 2`.
 */
export function running<T>(what: string, call: () => T): T {
  const entry = { what };
  open.add(entry);
  inside.push(what);
  tell(what);
  let settled = true;
  try {
    const result = tracing ? context.run(what, call) : call();
    if (!isThenable(result)) return result;
    settled = false;
    return Promise.resolve(result).finally(() => open.delete(entry)) as T;
  } finally {
    if (settled) open.delete(entry);
    inside.pop();
    tell(inside.at(-1) ?? "");
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as { then?: unknown }).then === "function";

/** What is under way, the longest first. */
export function unsettled(): string[] {
  return [...open].map(({ what }) => what);
}

/** What the code that runs now, or the error that is looked at now, comes from, if it is known. */
export function origin(): string | undefined {
  return context.getStore() ?? inside.at(-1);
}

/**
 * From here on asynchronous code knows what it comes from, and is watched. Awaited where a user's module is about to be
 * imported; until then it would cost every `await` a little for nothing.
 */
export async function expectUserCode(): Promise<void> {
  if (tracing) return;
  tracing = true;
  await userCode();
}

/** Tells what begins (and with "", that nothing runs), and once when user code is expected. */
export function observe(observer: {
  tell: (what: string) => void;
  userCode: () => Promise<void>;
}): void {
  ({ tell, userCode } = observer);
  if (tracing) void userCode();
}
