import {
  checkOptions,
  fromTo,
  notNegative,
  type OptionRule,
  type OptionRules,
  required,
} from "../../common/options/check-options.js";
import { defined } from "../../common/options/defined.js";
import { unshare } from "./kernels/unshare.js";
import { adamwUpdate, type AdamWMoments, type AdamWScalars, globalNorm } from "./plain/adamw.js";
import { tf } from "./tf.js";

/** Settings of AdamW; the defaults are PyTorch's. */
export interface AdamWOptions {
  /** How far a step goes. */
  learningRate: number;
  /** Decay of the gradients' average. Default: 0.9. */
  beta1?: number;
  /** Decay of the squared gradients' average. Default: 0.999. */
  beta2?: number;
  /** Added to the root of the squared gradients' average. Default: 1e-8. */
  epsilon?: number;
  /**
   * Decoupled: the weight shrinks by learningRate * weightDecay, whatever its gradient. Default:
   * 0.01.
   */
  weightDecay?: number;
  /** Gradients whose joint 2-norm is above this are scaled down to it. Default: no clipping. */
  maxNorm?: number;
}

/** What one step did. */
export interface AdamWReport {
  /** The joint 2-norm of all gradients before clipping. */
  norm: number;
  /** What the gradients were multiplied by: 1 where nothing was clipped. */
  scale: number;
  /** True where the norm was not finite: nothing was changed, not even the step count. */
  skipped: boolean;
}

/** Everything needed to continue: plain data, one pair of moments for each parameter. */
export interface AdamWState {
  step: number;
  moments: Record<string, { m: Float32Array; v: Float32Array }>;
}

const decay: OptionRule = {
  must: "a number of at least 0 and below 1",
  holds: (value) => typeof value === "number" && value >= 0 && value < 1,
  number: true,
};

const stepRules: OptionRules<Pick<AdamWOptions, "learningRate" | "weightDecay" | "maxNorm">> = {
  learningRate: notNegative,
  weightDecay: notNegative,
  maxNorm: fromTo(0, Infinity),
};

const rules: OptionRules<AdamWOptions> = {
  ...stepRules,
  learningRate: required(notNegative),
  beta1: decay,
  beta2: decay,
  epsilon: notNegative,
};

/**
 * AdamW over named parameters with clipping by the global norm. Parameters are changed in place. A
 * step whose gradients are not finite is skipped, and the report says so.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { AdamW, tf } from "arpo-lab/model";
 *
 * const w = tf.variable(tf.tensor1d([1, 2]));
 * const optimizer = new AdamW(new Map([["w", w]]), { learningRate: 0.1, weightDecay: 0, maxNorm: 1 });
 * const report = await optimizer.step({ w: tf.tensor1d([3, -4]) });
 * assert.equal(report.norm, 5);
 * assert.ok(Math.abs(w.dataSync()[0] - 0.9) < 1e-5);
 * const bad = await optimizer.step({ w: tf.tensor1d([NaN, 0]) });
 * assert.ok(bad.skipped);
 * ```
 */
export class AdamW {
  readonly options: Required<AdamWOptions>;
  readonly #parameters: ReadonlyMap<string, tf.Variable>;
  readonly #moments = new Map<string, AdamWMoments>();
  #step = 0;

  /** @param parameters the parameters by name; they are changed in place */
  constructor(parameters: ReadonlyMap<string, tf.Variable>, options: AdamWOptions) {
    checkOptions("make AdamW", options, rules);
    this.#parameters = parameters;
    this.options = {
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-8,
      weightDecay: 0.01,
      maxNorm: Infinity,
      ...defined(options),
    };
  }

  /** Steps taken so far; skipped ones do not count. */
  get steps(): number {
    return this.#step;
  }

  /**
   * Moves every parameter that has a gradient. `now` overrides options for this step: a schedule's
   * learning rate, for instance.
   * @param gradients the gradients, under the parameters' names
   * @param now options that differ for this step
   */
  async step(
    gradients: Readonly<Record<string, tf.Tensor | null | undefined>>,
    now: Partial<Pick<AdamWOptions, "learningRate" | "weightDecay" | "maxNorm">> = {},
  ): Promise<AdamWReport> {
    checkOptions("step", now, stepRules);
    const options = { ...this.options, ...defined(now) };
    const moving = [...this.#parameters].flatMap(([name, parameter]) => {
      const gradient = gradients[name];
      return gradient ? [{ name, parameter, gradient }] : [];
    });
    for (const { name, parameter, gradient } of moving) {
      if (`${gradient.shape}` !== `${parameter.shape}`) {
        throw new RangeError(
          `Cannot step ${name}: the gradient must be [${parameter.shape}], got [${gradient.shape}]`,
        );
      }
    }
    const unknown = Object.keys(gradients).find((name) => !this.#parameters.has(name));
    if (unknown !== undefined) {
      throw new RangeError(
        `Cannot step: every gradient must belong to a parameter, got ${unknown}`,
      );
    }
    if (moving.length === 0) return { norm: 0, scale: 1, skipped: false };

    const norm = await this.#norm(moving.map((m) => m.gradient));
    if (!Number.isFinite(norm)) return { norm, scale: 0, skipped: true };
    const { learningRate, maxNorm, beta1, beta2, epsilon, weightDecay } = options;
    const scale = Math.min(1, maxNorm / (norm + 1e-6));
    this.#step++;
    const scalars: AdamWScalars = {
      learningRate,
      beta1,
      beta2,
      epsilon,
      weightDecay,
      scale,
      correction1: 1 - beta1 ** this.#step,
      correction2: 1 - beta2 ** this.#step,
    };
    const compiled = tf.getKernel("ArpoAdamW", tf.getBackend()) !== undefined;
    const inputs: Record<string, tf.Tensor> = {};
    for (const [i, { name, parameter, gradient }] of moving.entries()) {
      const { m, v } = this.#momentsOf(name, parameter);
      if (!compiled) {
        adamwUpdate(parameter, gradient, { m, v }, scalars);
        continue;
      }
      for (const variable of [parameter, m, v]) unshare(variable);
      inputs[`parameter${i}`] = parameter;
      inputs[`gradient${i}`] = gradient;
      inputs[`m${i}`] = m;
      inputs[`v${i}`] = v;
    }
    if (compiled) tf.engine().runKernel("ArpoAdamW", inputs, { ...scalars });
    return { norm, scale, skipped: false };
  }

  async #norm(gradients: tf.Tensor[]): Promise<number> {
    if (tf.getKernel("ArpoSquareSum", tf.getBackend())) {
      const inputs = Object.fromEntries(gradients.map((x, i) => [`gradient${i}`, x]));
      const sum = tf.engine().runKernel("ArpoSquareSum", inputs) as tf.Tensor;
      const [value] = await sum.data();
      sum.dispose();
      return Math.sqrt(value!);
    }
    const norm = globalNorm(gradients);
    const [value] = await norm.data();
    norm.dispose();
    return value!;
  }

  #momentsOf(name: string, parameter: tf.Variable): AdamWMoments {
    let moments = this.#moments.get(name);
    if (!moments) {
      const zeros = () => tf.tidy(() => tf.variable(tf.zeros(parameter.shape), false));
      moments = { m: zeros(), v: zeros() };
      this.#moments.set(name, moments);
    }
    return moments;
  }

  /** Everything a resumed run needs besides the parameters. */
  async state(): Promise<AdamWState> {
    const moments: AdamWState["moments"] = {};
    for (const [name, { m, v }] of this.#moments) {
      moments[name] = {
        m: Float32Array.from(await m.data()),
        v: Float32Array.from(await v.data()),
      };
    }
    return { step: this.#step, moments };
  }

  /**
   * Continues where `state()` was taken.
   * @param state what `state()` returned
   */
  restore(state: AdamWState): void {
    for (const [name, { m, v }] of Object.entries(state.moments)) {
      const parameter = this.#parameters.get(name);
      if (!parameter || m.length !== parameter.size || v.length !== parameter.size) {
        throw new RangeError(
          `Cannot restore AdamW: the moments of ${name} must have the parameter's ` +
            `${parameter?.size ?? 0} numbers, got ${m.length} and ${v.length}`,
        );
      }
    }
    this.#step = state.step;
    for (const [name, parameter] of this.#parameters) {
      const saved = state.moments[name];
      if (!saved) continue;
      const moments = this.#momentsOf(name, parameter);
      tf.tidy(() => {
        moments.m.assign(tf.tensor(saved.m.slice(), parameter.shape, "float32"));
        moments.v.assign(tf.tensor(saved.v.slice(), parameter.shape, "float32"));
      });
    }
  }

  /** Frees the moments; the parameters stay. */
  dispose(): void {
    for (const { m, v } of this.#moments.values()) {
      m.dispose();
      v.dispose();
    }
    this.#moments.clear();
  }
}
