// Templates come with models: one that loops for ever, or that grows without end, must not take the process along.
import { jinja } from "#platform/packages";
import type * as Jinja from "@huggingface/jinja";

type Package = typeof Jinja;
type Evaluate = Jinja.Interpreter["evaluate"];
type Value = ReturnType<Evaluate>;
/** A function of the template's language. */
type Call = (args: { value: unknown }[], scope: unknown) => Value;

/** What a template may take, whatever it is given, and more for each message. */
const stepsOfItsOwn = 500_000;
const stepsOfMessage = 1000;
/** The longest text and the longest list that it may make. */
const mostCharacters = 64 << 20;
const mostItems = 1_000_000;

/** Steps that are left to the template being rendered; undefined while none is. */
let left: number | undefined;
let bounded: Package | undefined;

const refuse = (what: string): never => {
  throw new RangeError(`a template may ${what}`);
};

/** `range()`, which makes its whole list at once, with a bound on its length. */
function boundedRange(range: Value): Value {
  const own = range.value as Call;
  const value: Call = (args, scope) => {
    const [first = 0, second, step = 1] = args.map((arg) => Number(arg.value));
    const [start, stop] = second === undefined ? [0, first] : [first, second];
    const count = Math.abs((stop - start) / step);
    if (!(count <= mostItems)) refuse(`make a list of at most ${mostItems} items`);
    left! -= count;
    return own(args, scope);
  };
  return Object.create(range, { value: { value } }) as Value;
}

function boundedEvaluate(evaluate: Evaluate): Evaluate {
  return function (
    this: Jinja.Interpreter,
    ...[statement, environment]: Parameters<Evaluate>
  ): Value {
    if (left === undefined) return evaluate.call(this, statement, environment);
    if (--left < 0) refuse("take only so many steps: it loops without end");
    const value = evaluate.call(this, statement, environment);
    const size = (value.value as { length?: number } | null | undefined)?.length ?? 0;
    if (typeof value.value === "string" && size > mostCharacters) {
      refuse(`write at most ${mostCharacters} characters`);
    }
    if (Array.isArray(value.value) && size > mostItems) {
      refuse(`make a list of at most ${mostItems} items`);
    }
    const { type, value: name } = (statement ?? {}) as { type?: string; value?: unknown };
    const isRange = type === "Identifier" && name === "range";
    return isRange && typeof value.value === "function" ? boundedRange(value) : value;
  };
}

/** Jinja, whose templates {@link renderBounded} can hold to a number of steps. */
export function boundedJinja(): Package {
  if (bounded === undefined) {
    bounded = jinja(); // only now: it takes a while
    const { prototype } = bounded.Interpreter;
    prototype.evaluate = boundedEvaluate(prototype.evaluate);
  }
  return bounded;
}

/** Renders a template within its bounds. */
export function renderBounded(
  template: Jinja.Template,
  items: Record<string, unknown>,
  messages: number,
): string {
  left = stepsOfItsOwn + stepsOfMessage * messages;
  try {
    return template.render(items);
  } finally {
    left = undefined;
  }
}
