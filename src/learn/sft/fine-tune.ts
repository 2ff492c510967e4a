import { checkOptions, valuesOf } from "../../../common/options/check-options.js";
import { type Given, option, rulesOf, unset } from "../../../common/options/option-table.js";
import { isRecord } from "../../../common/options/is-record.js";
import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import type { Demonstration } from "../../tasks/tasks/demonstrate.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { yieldToEventLoop } from "#platform/process";
import { ProgressLine } from "../../base/show/progress-line.js";
import { logged, showAs, type Shown, stepLines, watchAs } from "../../base/show/show-as.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import { readConversation } from "./conversation.js";
import {
  type Completion,
  encodeConversation,
  exampleOf,
  exampleOfCompletion,
  type Example,
  noteTags,
} from "./encode.js";
import { type SftOptions, type SftStep, sftTable, SftTrainer } from "./train.js";

/** What fine-tuning in a cell gave: one report per step. */
export class FineTuning {
  /** The step it was stopped after, by the button on its page. */
  stoppedAt: number | undefined;

  constructor(
    readonly steps: readonly SftStep[],
    /** Steps that it was to have. */
    readonly totalSteps: number = steps.length,
  ) {}

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    const stopped = this.stoppedAt === undefined ? "" : `, stopped at step ${this.stoppedAt}`;
    return { group: "Runs", text: `fine-tuning, ${this.steps.length} steps${stopped}` };
  }

  /** Its first and its last loss. */
  toString(): string {
    const first = this.steps[0];
    const last = this.steps[this.steps.length - 1];
    return last
      ? `${this.steps.length} steps, loss ${first!.loss.toFixed(3)} -> ${last.loss.toFixed(3)}`
      : "no step";
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("FineTuning", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}

/** What fine-tuning in a cell can be told besides. */
const cellTable = {
  /** Called after each optimiser step. Default: none. */
  onStep: unset(valuesOf<(step: SftStep) => void>("function?")),
  /** Show the loss on a board while it continues, where a notebook looks. Default: true. */
  live: option(valuesOf<boolean>("boolean?"), true),
  /** Print nothing. Default: false, a line per step in a program. */
  quiet: option(valuesOf<boolean>("boolean?"), false),
};

/** How a policy is fine-tuned in a cell. */
interface FineTuneOptions extends SftOptions, Given<typeof cellTable> {}

/** What may be learned from. */
type Learnable =
  Demonstration | Example | Completion | { readonly messages: readonly ChatMessage[] };

const forms = "it must be { messages }, { prompt, completion }, a demonstration or { ids, labels }";

const chatTags = { messages: "messages", role: "role", content: "content" };

/** What is learned of one of them; an error says which it was. */
function exampleIn(given: unknown, place: number, tokenizer: Tokenizer): Example {
  if (!isRecord(given)) {
    throw new TypeError(`Cannot fine-tune on example ${place}: ${forms}, got ${shown(given)}`);
  }
  if ("ids" in given) return given as unknown as Example;
  if ("segments" in given) return exampleOf(given as unknown as Demonstration, tokenizer);
  try {
    if ("messages" in given)
      return encodeConversation(readConversation(given, chatTags), tokenizer);
    if ("completion" in given)
      return exampleOfCompletion(given as unknown as Completion, tokenizer);
  } catch (error) {
    const kind = "messages" in given ? "chat" : "example";
    const why = (error as Error).message.replace(/^Cannot fine-tune: /, "");
    throw new TypeError(`Cannot fine-tune on ${kind} ${place}: ${why}`, { cause: error });
  }
  const names = Object.keys(given).join(", ") || "no fields";
  throw new TypeError(
    `Cannot fine-tune on example ${place}: ${forms}, got an object with ${names}`,
  );
}

const rules = rulesOf({ ...sftTable, ...cellTable });

/**
 * Fine-tunes a policy in place on chats (`{ messages }`), `{ prompt, completion }`, demonstrations or encoded examples. The loss covers
 * what the assistant writes; tool results (`<result>…</result>` and messages of the role `tool`) are masked.
 *
 * @param policy the policy to train; it is changed in place
 * @param from chats, prompts with completions, demonstrations or encoded examples
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fineTune } from "arpo-lab/learn";
 * import { Model } from "arpo-lab/model";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 *
 * // Usually: await Policy.load("data/models/tiny"), or a folder or file of a pretrained model.
 * const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const policy = { model: Model.init(sizes, 1), tokenizer: new CodePointTokenizer() };
 * const messages = [
 *   { role: "user", content: "What is 3+4?" },
 *   { role: "assistant", content: "<calc>3+4</calc>" },
 *   { role: "tool", content: "7" },
 *   { role: "assistant", content: "It is 7." },
 * ];
 * const { steps } = await fineTune(policy, [{ messages }], { epochs: 2 });
 * assert.equal(steps.length, 2);
 * ```
 */
export async function fineTune(
  policy: { readonly model: Model; readonly tokenizer: Tokenizer },
  from: readonly Learnable[],
  options: FineTuneOptions = {},
): Promise<FineTuning> {
  checkArguments(
    "fine-tune",
    { policy, from },
    { policy: { model: "model", tokenizer: "tokenizer" }, from: "list" },
  );
  checkOptions("fine-tune", options, rules);
  const { onStep, live = true, quiet = false, ...how } = options;
  const examples = from.map((one, i) => exampleIn(one, i, policy.tokenizer));
  const trainer = new SftTrainer(policy.model, examples, how);
  const { totalSteps } = trainer;
  const steps: SftStep[] = [];
  const tuning = new FineTuning(steps, totalSteps);
  const watched = live ? watchAs("FineTuning", tuning) : undefined;
  const line = new ProgressLine();
  const lines = await stepLines(quiet, (how.resume?.step ?? 0) / totalSteps);
  const tell = (done: number) => {
    const progress = { step: done + 1, totalSteps, progress: done / totalSteps };
    watched?.tell?.(line.tell({ ...progress, doing: "updating" }));
  };
  try {
    tell(how.resume?.step ?? 0);
    for await (const step of trainer) {
      const done = step.step + 1;
      steps.push(step);
      watched?.step();
      const { loss, tokens } = step;
      const figures = [`loss ${loss.toFixed(3)}`, `${tokens} tokens`];
      lines?.step({ step: done, totalSteps, progress: done / totalSteps, figures });
      onStep?.(step);
      // The page's Stop button is heard between two steps.
      if (watched) await yieldToEventLoop();
      if (done === totalSteps) continue;
      if (watched?.stopping) {
        tuning.stoppedAt = done;
        break;
      }
      tell(done);
    }
  } finally {
    watched?.done();
    trainer.dispose();
  }
  noteTags(examples, policy.tokenizer);
  lines?.end(`fine-tuned: ${String(tuning)}`);
  return tuning;
}
