import { addLora } from "../../../model/lora/add-lora.js";
import type { Model } from "../../../model/transformer/transformer.js";
import type { Tokenizer } from "../../../model/tokenizer/tokenizer.js";
import { ModelPolicy } from "../../../policy/policy-from-model.js";
import { accumulate } from "../../../learn/update/trainee.js";
import { AdamW, type AdamWState } from "../../../tensor/adamw.js";
import { detached } from "../../../tensor/detached.js";
import { gradientsOf } from "../../../tensor/gradients.js";
import { tf } from "../../../tensor/tf.js";

/** One datum, as it is sent. */
export interface WireDatum {
  model_input: { chunks: { tokens: number[] }[] };
  loss_fn_inputs: Record<string, { data: number[] }>;
}

/** The settings of a step, as they are sent. */
export interface WireAdam {
  learning_rate: number;
  beta1: number;
  beta2: number;
  eps: number;
  weight_decay: number;
  grad_clip_norm: number;
}

/** Weights and the optimiser, as they were. */
export interface Snapshot {
  adapters: Map<string, Float32Array>;
  optimizer: AdamWState | undefined;
}

type Reduction = "sum" | "mean";

/** A token's loss as a server's documents define it. */
function tokenLosses(
  name: string,
  logprobs: tf.Tensor1D,
  given: (key: string) => tf.Tensor1D,
  config: Record<string, number>,
): tf.Tensor1D {
  if (name === "cross_entropy") return logprobs.neg();
  const ratio: tf.Tensor1D = tf.exp(logprobs.sub<tf.Tensor1D>(given("logprobs")));
  const [low, high] = [config["clip_low_threshold"] ?? 0.8, config["clip_high_threshold"] ?? 1.2];
  const clipped: tf.Tensor1D = tf.clipByValue(ratio, low, high);
  const advantages = given("advantages");
  if (name === "importance_sampling") return ratio.mul<tf.Tensor1D>(advantages).neg();
  if (name === "ppo") {
    const smaller: tf.Tensor1D = tf.minimum(ratio.mul(advantages), clipped.mul(advantages));
    return smaller.neg();
  }
  if (name === "cispo") {
    const weight: tf.Tensor1D = detached(clipped).mul(advantages);
    return weight.mul<tf.Tensor1D>(logprobs).neg();
  }
  throw new RangeError(`Unknown loss ${name}`);
}

/** A model with adapters that is trained the way Tinker's servers train it. */
export class FakeModel {
  readonly model: Model;
  #gradient: Record<string, tf.Tensor> | undefined;
  #rows = 0;
  #optimizer: AdamW | undefined;

  constructor(
    base: Model,
    readonly rank: number,
    seed: number,
    private readonly reduction: Reduction,
  ) {
    this.model = base.copy();
    addLora(this.model, { rank, alpha: 32, seed });
  }

  #logprobs(tokens: readonly number[], targets: readonly number[]): tf.Tensor1D {
    const places = tf.range(0, tokens.length, 1, "int32");
    const labels = tf.tensor1d([...targets], "int32");
    return this.model.logProbsAt(this.model.batch([[...tokens]]), places, labels).logprobs;
  }

  /** ln p of each datum's targets; with `train` their loss's gradient is added up. */
  pass(
    data: readonly WireDatum[],
    loss: string,
    config: Record<string, number>,
    train: boolean,
  ): number[][] {
    return data.map(({ model_input: { chunks }, loss_fn_inputs: inputs }) => {
      const tokens = chunks.flatMap((chunk) => chunk.tokens);
      const targets = inputs["target_tokens"]!.data;
      const given = (key: string) => tf.tensor1d(inputs[key]?.data ?? []);
      const weights = inputs["weights"]?.data ?? targets.map(() => 1);
      let said: tf.Tensor | undefined;
      const objective = () => {
        const logprobs = this.#logprobs(tokens, targets);
        said = tf.keep(logprobs.clone());
        const losses = tokenLosses(loss, logprobs, given, config).mul(tf.tensor1d(weights));
        const sum = losses.sum();
        const divisor = weights.reduce((a, b) => a + b, 0);
        return (this.reduction === "mean" ? sum.div(Math.max(divisor, 1e-9)) : sum).asScalar();
      };
      if (train) {
        const { value, gradients } = gradientsOf(objective, this.model.trainable);
        value.dispose();
        this.#gradient = accumulate(this.#gradient, gradients as Record<string, tf.Tensor>);
        this.#rows++;
      } else tf.tidy(objective);
      const out = Array.from(said!.dataSync());
      said!.dispose();
      return out;
    });
  }

  /** One optimiser step; the gradient's norm. */
  async step(adam: WireAdam, clips: boolean): Promise<number> {
    this.#optimizer ??= new AdamW(this.model.trainable, {
      ...{ learningRate: 0, beta1: adam.beta1, beta2: adam.beta2, epsilon: adam.eps },
    });
    const { reduction } = this;
    const rows = reduction === "mean" ? Math.max(1, this.#rows) : 1;
    const gradient = Object.fromEntries(
      Object.entries(this.#gradient ?? {}).map(([name, g]) => [name, g.div<tf.Tensor>(rows)]),
    );
    const { norm } = await this.#optimizer.step(gradient, {
      learningRate: adam.learning_rate,
      weightDecay: adam.weight_decay,
      maxNorm: clips && adam.grad_clip_norm > 0 ? adam.grad_clip_norm : Infinity,
    });
    tf.dispose([gradient, this.#gradient ?? {}]);
    this.#gradient = undefined;
    this.#rows = 0;
    this.model.changed();
    return norm;
  }

  async snapshot(): Promise<Snapshot> {
    const adapters = new Map<string, Float32Array>();
    for (const [name, weight] of this.model.trainable) {
      adapters.set(name, Float32Array.from(await weight.data()));
    }
    return { adapters, optimizer: await this.#optimizer?.state() };
  }

  restore({ adapters, optimizer }: Snapshot): void {
    for (const [name, weight] of this.model.trainable) {
      tf.tidy(() => weight.assign(tf.tensor(adapters.get(name)!, weight.shape)));
    }
    if (optimizer) {
      this.#optimizer ??= new AdamW(this.model.trainable, { learningRate: 0 });
      this.#optimizer.restore(optimizer);
    }
    this.model.changed();
  }

  /** What samples: the weights of now, in memory of their own. */
  sampler(tokenizer: Tokenizer): ModelPolicy {
    return new ModelPolicy(this.model.copy(), tokenizer, { name: "sampler" });
  }

  dispose(): void {
    this.model.dispose();
  }
}
