import {
  checkOptions,
  either,
  integer,
  optionsFor,
  type OptionRules,
  required,
  rulesWithout,
} from "../../../common/options/check-options.js";
import { z } from "#zod";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { modelFolder } from "../../model/files/model-folder.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { Endpoints } from "../../base/http/endpoints.js";
import { endpointRules, type EndpointOptions } from "../../base/http/endpoint-options.js";
import { RemotePolicy, type RemotePolicyOptions, remoteRules } from "./remote-policy.js";

export interface ConnectOptions extends Omit<
  RemotePolicyOptions,
  "urls" | "tokenizer" | "model" | "contextLength"
> {
  /**
   * The endpoint's tokenizer: a Hugging Face folder, found as `Policy.load` finds it, or one that is
   * loaded. Sequences are tokens and are taken apart at once, so asking the endpoint for every text will not
   * do.
   */
  tokenizer: string | Tokenizer;
  /** Default: the only model the endpoint has. */
  model?: string;
  /** Default: what the endpoint says. */
  contextLength?: number;
}

const rules: OptionRules<ConnectOptions> = {
  ...rulesWithout(remoteRules, "urls"),
  tokenizer: required(either("path", "tokenizer")),
  model: "text?",
  contextLength: integer(1),
};

const listed = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      max_model_len: z.number().int().positive().nullish(),
      meta: z.looseObject({ n_ctx_train: z.number().int().positive().optional() }).nullish(),
    }),
  ),
});

function readModels(answer: unknown): z.infer<typeof listed> {
  const parsed = listed.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new TypeError(`no list of models: ${z.prettifyError(parsed.error)}`);
}

/** Connects to endpoints of one model, asking the first for what was not said. */
export async function connectRemote(
  urls: readonly string[],
  options: ConnectOptions,
): Promise<RemotePolicy> {
  checkOptions("connect to a remote policy", options, rules);
  let { model, contextLength } = options;
  if (model === undefined || contextLength === undefined) {
    const endpoints = new Endpoints({
      ...optionsFor<Partial<EndpointOptions>>(endpointRules, options),
      urls,
      doing: "connect to a remote policy",
    });
    const { data } = await endpoints.get("models", { read: readModels });
    const found =
      model === undefined && data.length === 1 ? data[0] : data.find(({ id }) => id === model);
    if (!found) {
      throw new RangeError(
        `Cannot connect to a remote policy: model must be one of ${data.map(({ id }) => id).join(", ")}, got ${model ?? "none"}`,
      );
    }
    model = found.id;
    contextLength ??= found.max_model_len ?? found.meta?.n_ctx_train;
  }
  if (contextLength === undefined) {
    throw new TypeError(
      `Cannot connect to a remote policy: contextLength must be given where the endpoint does not say it, got none for ${model}`,
    );
  }
  const tokenizer =
    typeof options.tokenizer === "string"
      ? await HfTokenizer.load(modelFolder(options.tokenizer))
      : options.tokenizer;
  return new RemotePolicy({ ...options, urls, model, contextLength, tokenizer });
}
