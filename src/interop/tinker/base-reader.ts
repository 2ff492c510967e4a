import type { Policy } from "../../policy/policies.js";
import type { SequenceToScore, SequenceLogProbs } from "../../policy/policy.js";
import * as answers from "./client/answers.js";
import { TinkerError } from "./client/errors.js";
import type { TinkerClient } from "./client/tinker-client.js";

/**
 * Reads sequences under a server's base model: a sampling session without adapters is asked what it thinks of
 * a whole prompt.
 */
export class BaseReader implements Required<Pick<Policy, "logProbs">> {
  readonly #client: () => TinkerClient;
  readonly #baseModel: string;
  #session: Promise<string> | undefined;

  constructor(client: () => TinkerClient, baseModel: string) {
    this.#client = client;
    this.#baseModel = baseModel;
  }

  async logProbs(
    sequences: readonly SequenceToScore[],
    { temperature = 1 }: { temperature?: number } = {},
  ): Promise<SequenceLogProbs[]> {
    if (temperature !== 1) {
      throw new RangeError(
        `Cannot read sequences at a Tinker server: temperature must be 1, at which it says log-probabilities, got ${temperature}`,
      );
    }
    this.#session ??= this.#open();
    const id = await this.#session;
    return Promise.all(sequences.map((sequence) => this.#read(id, sequence)));
  }

  async #open(): Promise<string> {
    const client = this.#client();
    const { sampling_session_id: id } = await client.call(
      {
        doing: "read sequences under the base model",
        path: "create_sampling_session",
        body: {
          session_id: client.sessionId,
          sampling_session_seq_id: client.next("sampling session") - 1,
          base_model: this.#baseModel,
          type: "create_sampling_session",
        },
      },
      answers.samplingSession,
    );
    return id;
  }

  async #read(id: string, { prompt, tokens }: SequenceToScore): Promise<SequenceLogProbs> {
    const client = this.#client();
    const all = [...Array.from(prompt), ...Array.from(tokens)];
    const { prompt_logprobs: said } = await client.work(
      {
        doing: "read sequences under the base model",
        path: "asample",
        gated: true,
        body: {
          sampling_session_id: id,
          seq_id: client.next(id),
          num_samples: 1,
          prompt: { chunks: [{ type: "encoded_text", tokens: all }] },
          sampling_params: { max_tokens: 1, seed: 0, temperature: 1, top_k: -1, top_p: 1 },
          prompt_logprobs: true,
          type: "sample",
        },
      },
      answers.sampled,
    );
    // One for each token, or for each but the first.
    const from = (said?.length ?? 0) - tokens.length;
    if (!said || (said.length !== all.length && said.length !== all.length - 1)) {
      throw new TinkerError(
        `Cannot read sequences under the base model: the server must say a log-probability for each of ${all.length} tokens, got ${said?.length ?? "none"}`,
        "server",
      );
    }
    const logprobs = Float32Array.from(said.slice(from), (p) => p ?? NaN);
    return { logprobs, entropies: logprobs.map((p) => -p) };
  }
}
