import { jinja } from "#platform/packages";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { pythonText } from "./python-text.js";
import type { ChatMessage, ChatOptions } from "./tokenizer.js";
import type * as Jinja from "@huggingface/jinja";

// Templates come with models: one that loops for ever, or that grows without end, must not take the process along.

type Package = typeof Jinja;
type Evaluate = Jinja.Interpreter["evaluate"];
type Value = ReturnType<Evaluate>;
/** A function of the template's language. */
type Call = (args: { value: unknown }[], scope: unknown) => Value;

/** What a template may take, whatever it is given, and more for each message; 1,024 characters or items are a step. */
const stepsOfItsOwn = 500_000;
const stepsOfMessage = 1000;
/** The longest text and the longest list that it may make. */
const mostCharacters = 8 << 20;
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

/**
 * The text of a mapping or a list where a template asks for it by `| string`, as transformers writes it; any other
 * part of a template as it is.
 */
function asText(
  interpreter: Jinja.Interpreter,
  statement: Parameters<Evaluate>[0],
  environment: Parameters<Evaluate>[1],
): Parameters<Evaluate>[0] {
  const { type, filter, operand } = (statement ?? {}) as unknown as {
    type?: string;
    filter?: { value?: unknown };
    operand: Parameters<Evaluate>[0];
  };
  if (type !== "FilterExpression" || filter?.value !== "string") return statement;
  const text = pythonText(interpreter.evaluate(operand, environment), mostCharacters);
  const literal = { type: "StringLiteral", value: text };
  return text === undefined ? statement : (literal as unknown as typeof statement);
}

function boundedEvaluate(evaluate: Evaluate): Evaluate {
  return function (
    this: Jinja.Interpreter,
    ...[statement, environment]: Parameters<Evaluate>
  ): Value {
    if (left === undefined) return evaluate.call(this, statement, environment);
    if (--left < 0) refuse("take only so many steps: it loops without end");
    const value = evaluate.call(this, asText(this, statement, environment), environment);
    const size = (value.value as { length?: number } | null | undefined)?.length ?? 0;
    if (typeof value.value === "string" && size > mostCharacters) {
      refuse(`write at most ${mostCharacters} characters`);
    }
    if (Array.isArray(value.value) && size > mostItems) {
      refuse(`make a list of at most ${mostItems} items`);
    }
    if (typeof size === "number") left -= size >> 10;
    const { type, value: name } = (statement ?? {}) as { type?: string; value?: unknown };
    const isRange = type === "Identifier" && name === "range";
    return isRange && typeof value.value === "function" ? boundedRange(value) : value;
  };
}

/** Jinja, whose templates {@link renderBounded} can hold to a number of steps. */
function boundedJinja(): Package {
  if (bounded === undefined) {
    bounded = jinja(); // only now: it takes a while
    const { prototype } = bounded.Interpreter;
    prototype.evaluate = boundedEvaluate(prototype.evaluate);
  }
  return bounded;
}

/** Renders a template within its bounds. */
function renderBounded(
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

/**
 * The ChatML template: `<|im_start|>role`, the content, `<|im_end|>`. What {@link trainBpe} gives a new
 * tokenizer unless told otherwise.
 */
export const chatMl = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`;

/** Longer ones are no templates. */
const mostSource = 1 << 20;

/** A chat template in the Jinja dialect of Hugging Face tokenizers, compiled once. */
export class ChatTemplate {
  readonly #compiled: Jinja.Template;

  /** `specials` are the names a template may use for special tokens, such as `bos_token`. */
  constructor(
    readonly source: string,
    readonly specials: Readonly<Record<string, string>> = {},
  ) {
    checkArguments("compile the chat template", { source }, { source: "text" });
    if (source.length > mostSource) {
      throw new RangeError(
        `Cannot compile the chat template: it must have at most ${mostSource} characters, got ${source.length}`,
      );
    }
    const { Template } = boundedJinja();
    try {
      this.#compiled = new Template(source);
    } catch (error) {
      throw new SyntaxError(
        `Cannot compile the chat template: it must be Jinja, got ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  /** Tools by the names that templates know them by: SmolLM3's has `xml_tools`. */
  #named(tools: readonly unknown[]): Record<string, unknown> {
    return { tools, ...(/\bxml_tools\b/.test(this.source) && { xml_tools: tools }) };
  }

  /** The prompt text of a chat. */
  render(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    try {
      const items = {
        ...options.variables,
        ...this.specials,
        messages: messages.map((message) => ({ ...message })),
        add_generation_prompt: options.addGenerationPrompt ?? false,
        ...(options.tools ? this.#named([...options.tools]) : {}),
      };
      return renderBounded(this.#compiled, items, messages.length);
    } catch (error) {
      throw new SyntaxError(
        `Cannot render the chat: the template must accept these messages, got ${(error as Error).message}`,
        { cause: error },
      );
    }
  }
}
