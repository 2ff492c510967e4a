import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { shown } from "../../../common/options/check-arguments.js";
import type { Environment } from "../../environments/environment.js";
import { Random } from "../../base/random/random.js";
import type { ToolResult } from "../../tools/tool.js";
import {
  type Expert,
  type TaskSet,
  type TaskSetOptions,
  fill,
  taskSetRules,
} from "../tasks/task-set.js";

const kinds = ["cup", "lamp", "rope", "bag", "pen"] as const;
const colours = ["red", "blue", "green", "black"] as const;

/** What one thing costs. */
interface Price {
  thing: string;
  kind: string;
  price: number;
}

/** What a task of the shop holds. */
interface ShopPlan {
  goods: Price[];
  /** The things to buy. */
  wanted: string[];
  /** How each is asked for: by its name, or as the cheapest of its kind. */
  asked: string[];
  purse: number;
}

interface ShopOptions extends TaskSetOptions {
  /** Most things to buy, from 1 to 3; fewer are among them. Default 2. */
  things?: number;
}

const planOf = (task: unknown): ShopPlan => {
  const { plan } = ((task as { extra?: unknown } | null)?.extra ?? {}) as { plan?: ShopPlan };
  if (Array.isArray(plan?.goods)) return plan;
  throw new TypeError(`Cannot reset a shop: the task must hold a plan, got ${shown(task)}`);
};

const listed = (goods: readonly Price[]) =>
  goods.map(({ thing, price }) => `${thing} ${price}`).join(", ");

/**
 * A shop with shelves, prices and a purse. Buying what was asked for earns its share, buying anything else
 * loses as much, and what is given back undoes both. The trajectory ends when the policy says so.
 */
export class Shop implements Environment {
  readonly tools = {
    look: "Shows a shelf with its prices.",
    buy: "Buys a thing.",
    return: "Gives a thing back for its price.",
  };
  #plan: ShopPlan = { goods: [], wanted: [], asked: [], purse: 0 };
  #basket: string[] = [];
  #purse = 0;

  reset(task: unknown): string {
    this.#plan = planOf(task);
    this.#basket = [];
    this.#purse = this.#plan.purse;
    const shelves = [...new Set(this.#plan.goods.map(({ kind }) => `${kind}s`))];
    return `You have ${this.#purse}. Shelves: ${shelves.join(", ")}.`;
  }

  look(input: string): ToolResult {
    const shelf = input.trim().toLowerCase();
    const goods = this.#plan.goods.filter(({ kind }) => shelf === kind || shelf === `${kind}s`);
    const text = goods.length > 0 ? listed(goods) : `There is no shelf of ${shelf.slice(0, 40)}.`;
    return { text, ok: true, reward: 0 };
  }

  buy(input: string): ToolResult {
    const found = this.#find(input);
    if (!found) return { text: "There is no such thing.", ok: true, reward: 0 };
    if (found.price > this.#purse) return { text: "You cannot pay that.", ok: true, reward: 0 };
    const before = this.#worth();
    this.#basket.push(found.thing);
    this.#purse -= found.price;
    return { text: `Bought. ${this.#purse} left.`, ok: true, reward: this.#worth() - before };
  }

  return(input: string): ToolResult {
    const found = this.#find(input);
    const at = found ? this.#basket.indexOf(found.thing) : -1;
    if (at < 0) return { text: "You have no such thing.", ok: true, reward: 0 };
    const before = this.#worth();
    this.#basket.splice(at, 1);
    this.#purse += found!.price;
    return { text: `Returned. ${this.#purse} left.`, ok: true, reward: this.#worth() - before };
  }

  reward() {
    const bought = this.#basket.length === 0 ? "nothing" : this.#basket.join(", ");
    const score = Math.max(0, this.#worth());
    return { score, reason: `bought ${bought}`, parts: { all: Number(score === 1) } };
  }

  clone(): Shop {
    const copy = new Shop();
    copy.#plan = this.#plan;
    copy.#basket = [...this.#basket];
    copy.#purse = this.#purse;
    return copy;
  }

  #find(input: string): Price | undefined {
    const name = input.trim().toLowerCase();
    return this.#plan.goods.find(({ thing }) => thing === name);
  }

  /** Right things less wrong ones, as a share of those asked for; a second of one is wrong. */
  #worth(): number {
    const { wanted } = this.#plan;
    const right = wanted.filter((thing) => this.#basket.includes(thing)).length;
    return (right - (this.#basket.length - right)) / Math.max(1, wanted.length);
  }
}

const named = (thing: string) => `a ${thing}`;

/** Looks at the shelf of what is asked for as the cheapest, buys, and says that it is done. */
const expert: Expert = (task, results, choose) => {
  const { goods, wanted, asked } = planOf(task);
  const steps = wanted.flatMap((thing, i) => {
    const { kind } = goods.find((one) => one.thing === thing)!;
    const buy = { tag: "buy", input: thing, kind };
    return asked[i] === named(thing) ? [buy] : [{ tag: "look", input: `${kind}s`, kind }, buy];
  });
  const step = steps[results.length];
  if (!step) return { text: "<answer>done</answer>" };
  const others = goods.filter(({ kind, thing }) => kind === step.kind && thing !== step.input);
  const input =
    step.tag === "look" || others.length === 0
      ? step.input
      : choose(step.input, (random) => random.choose(others).thing);
  return { text: `<${step.tag}>${input}</${step.tag}>`, call: { tag: step.tag, input } };
};

function drawPlan(random: Random, count: number): ShopPlan {
  const shelves = random.shuffle(kinds).slice(0, 3);
  const goods = shelves.flatMap((kind) => {
    // Different prices, so that one thing is the cheapest.
    const prices = random.shuffle([2, 3, 4, 5, 6, 7, 8, 9]);
    return random
      .shuffle(colours)
      .slice(0, 3)
      .map((colour, i) => ({ thing: `${colour} ${kind}`, kind, price: prices[i]! }));
  });
  const wanted: string[] = [];
  const asked: string[] = [];
  for (const kind of random.shuffle(shelves).slice(0, count)) {
    const shelf = goods.filter((one) => one.kind === kind);
    const cheapest = random.uniform() < 0.5;
    const { thing } = cheapest
      ? shelf.reduce((a, b) => (b.price < a.price ? b : a))
      : random.choose(shelf);
    wanted.push(thing);
    asked.push(cheapest ? `the cheapest ${kind}` : named(thing));
  }
  const cost = wanted.reduce((sum, name) => sum + goods.find((g) => g.thing === name)!.price, 0);
  return { goods, wanted, asked, purse: cost + random.integer(3) };
}

/**
 * Errands in a small shop: up to `things` to buy, some by name, some as the cheapest of their kind, with
 * hardly more money than they cost.
 */
export function shop(options: ShopOptions = {}): TaskSet {
  checkOptions("make tasks", options, {
    ...taskSetRules,
    things: integer(1),
  } satisfies OptionRules<ShopOptions>);
  const { seed = 1, train = 256, test = 64, things = 2 } = options;
  if (!(Number.isInteger(things) && things >= 1 && things <= 3)) {
    throw new RangeError(`Cannot make errands: things must be from 1 to 3, got ${shown(things)}`);
  }
  const parts = fill("shop", Random.from(seed).split("shop"), { train, test }, (random) => {
    const plan = drawPlan(random, 1 + random.integer(things));
    return {
      question: `Buy ${plan.asked.join(" and ")}.`,
      answer: plan.wanted.join(", "),
      extra: { plan, things: plan.wanted.length },
      key: JSON.stringify(plan),
    };
  });
  return { name: "shop", ...parts, tools: [], expert, environment: Shop };
}
