import { checkOptions, type OptionRules } from "../../common/options/check-options.js";

/** One option of a stage cell, written `key=value` on its first line. */
export interface StageOption {
  /** A sentence, for completion and inspection. */
  doc: string;
  /**
   * Its TypeScript type. With `string`, or a union of texts (`"grpo" | "gae"`), the value is taken as
   * it stands; with any other type it is an expression (`n=2*groups`).
   */
  type: string;
  /** Written when the cell does not say. */
  default?: string;
  /**
   * How it appears among the options of the call, instead of `key: {value}`. A text is a literal
   * there (`...presets[{value}]`), except after a dot (`...presets.{value}`).
   */
  as?: string;
}

/**
 * A stage cell: `%%name key=value …` and a body, rewritten into typed calls.
 *
 * The template is TypeScript with `{body}`, `{options}` (an object literal of the options given) and
 * `{into}` (the binding it makes, which `into=name` changes). It stands on one line around the body.
 */
export interface Stage {
  name: string;
  /** A paragraph, for completion and inspection. */
  doc: string;
  options: Record<string, StageOption>;
  /** The name of what it makes. */
  into?: string;
  template: string;
  /** What the template names and where it comes from: imported unless the session has the name. */
  uses?: Record<string, string>;
  /** The body when the cell has none; without it, a template with `{body}` needs one. */
  body?: string;
  /** Takes long: a notebook that runs cells by itself asks before it runs this one. Default: false. */
  long?: boolean;
}

const key = Symbol.for("arpo-lab.kernel.stages");
type Register = (stage: Stage) => Promise<void>;

/** The import by which a cell's `registerStage` reaches the compiler; the stage is its importer. */
export const stageSpecifier = "arpo-lab:stage";

/** Tells `registerStage` where stages go; the session's scope does that. */
export function setStageRegister(register: Register | undefined): void {
  (globalThis as { [key]?: Register })[key] = register;
}

/**
 * Adds a kind of cell to the running notebook: afterwards `%%name` is completed, inspected, checked
 * and run like the calls it stands for.
 *
 * A package makes its stages known without being asked by naming a module in its package.json,
 * `"arpo-lab": { "stages": ["./stages.js"] }`, that exports them as `stages`.
 *
 * @param stage the stage, as plain data: name, options and template
 * @example
 * ```ts
 * import { registerStage } from "arpo-lab/kernel";
 *
 * await registerStage({
 *   name: "repeat",
 *   doc: "Repeats a text.",
 *   options: { times: { doc: "how often", type: "number", default: "2" } },
 *   into: "repeated",
 *   template: "const {into} = String({body}).repeat(({options}).times); {into}",
 * });
 * ```
 */
export async function registerStage(stage: Stage): Promise<void> {
  checkStage(stage);
  await (globalThis as { [key]?: Register })[key]?.(stage);
}

const stageRules: OptionRules<Stage> = {
  name: "text",
  doc: "text",
  options: "object",
  into: "text?",
  template: "text",
  uses: "object?",
  body: "text?",
  long: "boolean?",
};

const optionRules: OptionRules<StageOption> = {
  doc: "text",
  type: "text",
  default: "text?",
  as: "text?",
};

/** Throws when a stage could not work. */
export function checkStage(stage: Stage): void {
  const fail = (rule: string, got: unknown): never => {
    throw new TypeError(`Cannot register a stage: ${rule}, got ${JSON.stringify(got)}`);
  };
  checkOptions("register a stage", stage, stageRules);
  if (!/^[a-z][\w-]*$/i.test(stage.name)) fail("its name must be a word", stage.name);
  if (/\n/.test(stage.template)) fail("its template must be one line", stage.template);
  if (stage.template.includes("{into}") && stage.into === undefined) {
    fail("a template with {into} must name what it makes", stage.into);
  }
  for (const [name, option] of Object.entries(stage.options)) {
    if (!/^[\w-]+$/.test(name)) fail("an option's name must be a word", name);
    checkOptions("register a stage", option, optionRules, `options.${name}.`);
  }
}

/** The texts an option may have, when its type is a union of them. */
export function choices({ type }: StageOption): string[] | undefined {
  if (type === "boolean") return ["true", "false"];
  const parts = type.split("|").map((part) => part.trim());
  const texts = parts.map((part) => /^(["'])(.*)\1$/.exec(part)?.[2]);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** Whether values of an option are texts that need no quotes. */
export function isText(option: StageOption): boolean {
  return option.type === "string" || (option.type !== "boolean" && choices(option) !== undefined);
}
