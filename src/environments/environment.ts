import { checkArguments, shown } from "../../common/options/check-arguments.js";
import type { Random } from "../base/random/random.js";
import type { ToolCall, ToolResult } from "../tools/tool.js";

/** What an environment is told when it begins. */
export interface EnvironmentStart {
  /**
   * Its own randomness: a function of the rollout's seed and the prompt's place, the same for every trajectory
   * of a tree. A clone must continue it (`Random.restore(random.state())`).
   */
  random: Random;
  /** Aborted when the rollout is over. */
  signal: AbortSignal;
}

/** How a trajectory ended, as its environment is told. */
export interface EpisodeEnd {
  /** What the model wrote in the trajectory; an empty result block stands for each answer. */
  response: string;
  /** Why it ended; `done` where the environment said so. */
  end: string;
}

/** A method that the model calls by writing `<name>input</name>`. */
type EnvironmentMethod = (
  input: string,
  call: ToolCall,
) => string | ToolResult | Promise<string | ToolResult>;

/** A score with its reason, as rewards give it. */
export interface EpisodeScore {
  score: number;
  reason: string;
  parts?: Record<string, number>;
}

/**
 * A world that one trajectory acts in. Its tools are its own methods: for each name in `tools` there is a
 * method of that name. What a method gives is what the model reads; with `{ text, ok: true, reward }` a call
 * earns a reward of its own. A method is never tried twice.
 *
 * When a trajectory branches, so does its world: by `clone()`, or, without it, by a new instance that is reset
 * and takes the same calls again; it must then answer as before.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import type { Environment } from "arpo-lab/tools";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * class Counter implements Environment {
 *   readonly tools = { add: "Adds a whole number." };
 *   total = 0;
 *   reset() {
 *     return "Reach 5.";
 *   }
 *   add(input: string) {
 *     this.total += Number(input);
 *     return `The total is ${this.total}.`;
 *   }
 *   get done() {
 *     return this.total >= 5;
 *   }
 *   reward() {
 *     return Number(this.total === 5);
 *   }
 * }
 * const policy = new ScriptedPolicy(({ turn }) => ({ text: turn < 2 ? "<add>3</add>" : "\u0001" }));
 * const tree = await rollout(policy, { prompt: "Count." }, { environment: Counter });
 * assert.match(tree.prompt.text, /Count\.\nReach 5\./);
 * assert.equal(tree.trajectories[0].toolCalls[1].text, "The total is 6.");
 * assert.deepEqual([tree.trajectories[0].end, tree.trajectories[0].outcome?.score], ["done", 0]);
 * ```
 */
export interface Environment {
  /** What the model may call: a description by tag. The same in every instance. */
  readonly tools: Readonly<Record<string, string>>;
  /**
   * Waits until the instance may act, where it must wait for its turn: before its reset and before each call.
   * This is not counted as the call's time.
   */
  ready?(signal: AbortSignal): Promise<void>;
  /** False: this world cannot be had twice, so trajectories do not branch in it. */
  readonly branches?: boolean;
  /**
   * Begins a task. It gives text, which stands behind the prompt, or nothing; also as a promise.
   * @param task the task that the trajectory answers
   * @param start the random stream and the signal of this trajectory
   */
  reset(task: unknown, start: EnvironmentStart): unknown;
  /** True ends the trajectory after the call that made it so. */
  readonly done?: boolean;
  /** What the trajectory was worth, asked once, when it has ended. */
  reward?(end: EpisodeEnd): number | EpisodeScore | Promise<number | EpisodeScore>;
  /** Another instance in the same state. */
  clone?(): Environment | Promise<Environment>;
  /** Called once per instance, whatever happens. */
  dispose?(): void | Promise<void>;
}

/** What makes instances: a class without arguments, or a function. */
export type EnvironmentSource =
  (new () => Environment) | (() => Environment | Promise<Environment>);

/** What an environment is called in errors and trees: the name of its class or function. */
export function environmentName(source: EnvironmentSource): string {
  return source.name || "environment";
}

/** An instance that was not reset yet. */
export async function makeEnvironment(source: EnvironmentSource): Promise<Environment> {
  checkArguments("make an environment", { source }, { source: "function" });
  const { prototype } = source as { prototype?: Partial<Environment> };
  const made: unknown =
    typeof prototype?.reset === "function"
      ? new (source as new () => Environment)()
      : await (source as () => Environment | Promise<Environment>)();
  return checkEnvironment(made, `Cannot make environment ${environmentName(source)}`);
}

/** Throws unless a value is an environment with a method for each of its tools. */
export function checkEnvironment(made: unknown, problem: string): Environment {
  const { tools, reset } = (made ?? {}) as Partial<Environment>;
  if (typeof reset !== "function" || typeof tools !== "object" || tools === null) {
    throw new TypeError(`${problem}: it must have tools and a reset, got ${shown(made)}`);
  }
  for (const tag of Object.keys(tools)) {
    const method = (made as Record<string, unknown>)[tag];
    if (!/^[A-Za-z_][\w.-]*$/.test(tag)) {
      throw new SyntaxError(
        `${problem}: a tool's name must be a letter followed by letters, digits, "_", "." or "-", got ${shown(tag)}`,
      );
    }
    if (reserved.has(tag)) {
      throw new RangeError(`${problem}: a tool must have another name than ${tag}`);
    }
    if (typeof method !== "function") {
      throw new TypeError(
        `${problem}: it must have a method ${tag} for its tool, got ${shown(method)}`,
      );
    }
  }
  return made as Environment;
}

const reserved = new Set([
  ...["tools", "ready", "branches", "reset", "done", "reward", "clone", "dispose", "constructor"],
]);

/** The method that a tag calls, bound to its instance. */
export function methodOf(environment: Environment, tag: string): EnvironmentMethod {
  const method = (environment as unknown as Record<string, EnvironmentMethod>)[tag]!;
  return method.bind(environment);
}
