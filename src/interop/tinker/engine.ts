import { defined } from "../../../common/options/defined.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  either,
  integer,
  oneOf,
  type OptionRules,
  optionsFor,
  optionsOf,
  required,
} from "../../../common/options/check-options.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { modelFolder } from "../../model/files/model-folder.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { TinkerError } from "./client/errors.js";
import { connectionRules, type TinkerConnection } from "./client/settings.js";
import { type ServerModel, TinkerClient } from "./client/tinker-client.js";
import { type TinkerLora, TinkerRun } from "./client/tinker-run.js";
import { TinkerPolicy, type TinkerSaved } from "./tinker-policy.js";
import { TinkerTrainee } from "./tinker-trainee.js";
import type { TinkerCapabilities } from "./capabilities.js";

/** How a model at a Tinker server is opened. */
export interface TinkerOptions extends TinkerConnection, Partial<TinkerCapabilities> {
  /**
   * The server's name of the base model.
   *
   * @default the only one it has
   */
  model?: string;
  /**
   * The model's tokenizer: a Hugging Face folder, found as `Policy.load` finds it, or one that is loaded.
   * Sequences are tokens, and tags are found in them, so the server's own will not do.
   */
  tokenizer: string | Tokenizer;
  /**
   * The longest sequence, prompt included.
   *
   * @default what the server says, else 32,768
   */
  contextLength?: number;
  /** The adapters that are trained. */
  lora?: TinkerLora;
  /** What `save` gave: continues from there, in a new model with the saved weights and optimiser. */
  resume?: TinkerSaved;
  /**
   * Alternatives asked for per sampled token. A server that gives none is branched on by surprisal.
   *
   * @default 10
   */
  topLogprobs?: number;
}

function chosen(models: readonly ServerModel[], wanted: string | undefined): ServerModel {
  const [only] = models;
  const found = wanted === undefined && models.length === 1 ? only : undefined;
  const model = found ?? models.find(({ name }) => name === wanted);
  if (model) return model;
  throw new RangeError(
    `Cannot use a Tinker server: model must be one of ${models.map(({ name }) => name).join(", ") || "those it has, which are none"}, got ${wanted ?? "none"}`,
  );
}

const rules: OptionRules<TinkerOptions> = {
  ...connectionRules,
  model: "text?",
  tokenizer: required(either("text", "tokenizer")),
  contextLength: integer(1),
  lora: optionsOf<TinkerLora>({
    rank: integer(1),
    seed: integer(0),
    trainAttention: "boolean?",
    trainMlp: "boolean?",
    trainUnembedding: "boolean?",
  }),
  resume: optionsOf<TinkerSaved>({
    path: "text",
    steps: "count",
    baseModel: "text",
    rank: integer(1),
  }),
  topLogprobs: integer(0),
  reduction: oneOf(["sum", "mean"]),
  clips: "boolean?",
};

/** Opens a model at a Tinker server: `engine.tinker`. */
export async function openTinker(url: string, options: TinkerOptions): Promise<TinkerPolicy> {
  checkArguments("use a Tinker server", { url }, { url: "text" });
  checkOptions("use a Tinker server", options, rules);
  const { topLogprobs = 10, reduction, clips, resume, lora = {} } = options;
  const { rank = resume?.rank ?? 16 } = lora;
  const tokenizer =
    typeof options.tokenizer === "string"
      ? await HfTokenizer.load(modelFolder(options.tokenizer))
      : options.tokenizer;
  const connect = () => TinkerClient.connect(url, optionsFor(connectionRules, options));
  const client = await connect();
  try {
    const model = chosen(await client.models(), options.model ?? resume?.baseModel);
    const run = await TinkerRun.create(client, model.name, { ...lora, rank });
    if (resume) await run.load(resume.path);
    const given = defined({ reduction, clips });
    const trainee = new TinkerTrainee(run, given, resume?.steps ?? 0);
    await trainee.probe(tokenizer.eosId);
    return new TinkerPolicy({
      ...{ client, trainee },
      ...{ baseModel: model.name, rank, tokenizer, topLogprobs, reconnect: connect },
      contextLength: options.contextLength ?? model.contextLength ?? 32_768,
    });
  } catch (error) {
    client.close();
    if (error instanceof TinkerError && error.category === "user" && /rank/i.test(error.message)) {
      throw new RangeError(`${error.message} (lora.rank is ${rank})`, { cause: error });
    }
    throw error;
  }
}
