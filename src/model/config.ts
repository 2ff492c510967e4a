import { checkArguments } from "../../common/options/check-arguments.js";
import type {
  Architecture,
  LayerArithmetic,
  LayerKinds,
  ModelHead,
} from "./architectures/definition.js";
import { type ArchitectureName, architectures } from "./architectures/registry.js";
import { type RopeScaling, scalingKind } from "./rope-scalings/registry.js";

export type { RopeScaling };

/** Everything that decides a model's shape and arithmetic; what a `config.json` comes down to. */
export interface ModelConfig extends LayerArithmetic, LayerKinds {
  family: ArchitectureName;
  vocabSize: number;
  /** Width of the residual stream. */
  hiddenSize: number;
  /** Width inside the feed-forward block. */
  intermediateSize: number;
  layers: number;
  heads: number;
  /** Heads of keys and values; each serves `heads / kvHeads` query heads. */
  kvHeads: number;
  headDim: number;
  /** The longest sequence, prompt included. */
  contextLength: number;
  normEpsilon: number;
  ropeTheta: number;
  ropeScaling?: RopeScaling;
  /** The output matrix is the embedding matrix. */
  tied: boolean;
  /** Biases on the query, key and value projections. */
  qkvBias: boolean;
  /** A bias on what attention puts out. Default: false. */
  outputBias?: boolean;
  /** Biases in the feed-forward block. Default: false. */
  mlpBias?: boolean;
  /** RMSNorm on each head's queries and keys. */
  qkNorm: boolean;
  /** What the model ends in: next-token logits, or one value per token (a critic). */
  head: ModelHead;
  /** Deviation of freshly drawn weights. */
  initializerRange: number;
  bosId?: number;
  eosIds: number[];
  padId?: number;
}

/** What must be said to make a config; the rest has the family's usual value. */
export type ModelConfigInput = Partial<Omit<ModelConfig, "family">> &
  Pick<ModelConfig, "vocabSize" | "hiddenSize" | "intermediateSize" | "layers" | "heads"> & {
    /** An architecture by name, or one of your own, which is from then on known by its name. Default: `qwen2`. */
    family?: ArchitectureName | Architecture;
  };

/**
 * Fills in a config's defaults and checks that its numbers can be a model.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { modelConfig } from "arpo-lab/experimental/formats";
 *
 * const sizes = { vocabSize: 1024, hiddenSize: 128, intermediateSize: 384, layers: 4, heads: 4 };
 * assert.equal(modelConfig({ ...sizes, kvHeads: 2 }).headDim, 32);
 * assert.throws(() => modelConfig({ ...sizes, kvHeads: 3 }), /heads must be a multiple of kvHeads/);
 * ```
 */
export function modelConfig(input: ModelConfigInput): ModelConfig {
  checkArguments("make a model", { input }, { input: "object" });
  const { family = "qwen2", ...given } = input;
  const architecture = architectures.of("configure a model", "family", family);
  // A configuration is plain data, and whatever reads one asks for the architecture by its name.
  architectures.add(architecture);
  const { qkvBias, qkNorm } = architecture;
  const config: ModelConfig = {
    family: architecture.name as ArchitectureName,
    kvHeads: input.heads,
    headDim: input.hiddenSize / input.heads,
    contextLength: 2048,
    normEpsilon: 1e-6,
    ropeTheta: 10_000,
    tied: true,
    qkvBias,
    qkNorm,
    head: "logits",
    initializerRange: 0.02,
    eosIds: [],
    ...architecture.arithmetic,
    ...(Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as typeof given),
  };
  const rule = (holds: boolean, what: string, got: unknown) => {
    if (!holds) throw new RangeError(`Cannot configure a model: ${what}, got ${String(got)}`);
  };
  const sizes = [
    "vocabSize",
    "hiddenSize",
    "intermediateSize",
    "layers",
    "heads",
    "kvHeads",
    "headDim",
    "contextLength",
  ] as const;
  for (const key of sizes) {
    const value = config[key];
    rule(Number.isSafeInteger(value) && value > 0, `${key} must be a positive integer`, value);
  }
  const { heads, kvHeads, headDim, normEpsilon, ropeTheta, initializerRange } = config;
  rule(heads % kvHeads === 0, `heads must be a multiple of kvHeads (${kvHeads})`, heads);
  rule(headDim % 2 === 0, "headDim must be even (rotary positions turn pairs)", headDim);
  rule(normEpsilon > 0 && normEpsilon < 1, "normEpsilon must be between 0 and 1", normEpsilon);
  rule(ropeTheta > 1 && ropeTheta < Infinity, "ropeTheta must be a number above 1", ropeTheta);
  rule(
    initializerRange >= 0 && initializerRange < Infinity,
    "initializerRange must not be negative",
    initializerRange,
  );
  const ids = [config.bosId, config.padId, ...config.eosIds].filter((id) => id !== undefined);
  for (const id of ids) {
    rule(
      Number.isSafeInteger(id) && id >= 0 && id < config.vocabSize,
      `special token ids must be below vocabSize (${config.vocabSize})`,
      id,
    );
  }
  const scaling = config.ropeScaling;
  if (scaling) {
    for (const [holds, what, got] of scalingKind(scaling).rules(scaling, config)) {
      rule(holds, `ropeScaling.${what}`, got);
    }
  }
  const { window, windowed, rotated, windowRopeTheta = ropeTheta, queryScalar = headDim } = config;
  const { linear, rotaryDim = headDim } = config;
  rule(
    window === undefined || (Number.isSafeInteger(window) && window > 0),
    "window must be a positive integer",
    window,
  );
  for (const [key, list] of Object.entries({ windowed, rotated, linear: linear?.layers })) {
    const holds = list === undefined || list.length === config.layers;
    rule(holds, `${key} must have an entry for each of ${config.layers} layers`, list?.length);
  }
  rule(window !== undefined || !windowed?.includes(true), "window must be there", window);
  rule(windowRopeTheta > 1, "windowRopeTheta must be a number above 1", windowRopeTheta);
  rule(queryScalar > 0, "queryScalar must be positive", queryScalar);
  rule(queryScalar === headDim || config.qkNorm, `queryScalar must be ${headDim}`, queryScalar);
  rule(
    Number.isSafeInteger(rotaryDim) && rotaryDim > 0 && rotaryDim <= headDim && rotaryDim % 2 === 0,
    `rotaryDim must be an even number up to ${headDim}`,
    rotaryDim,
  );
  rule(!scaling || rotaryDim === headDim, "rotaryDim must be all of a head where rope is scaled", rotaryDim); // prettier-ignore
  if (linear) {
    const { keyHeads, valueHeads, keyDim, valueDim, taps } = linear;
    for (const [key, value] of Object.entries({ keyHeads, valueHeads, keyDim, valueDim, taps })) {
      rule(Number.isSafeInteger(value) && value > 0, `linear.${key} must be a positive integer`, value); // prettier-ignore
    }
    rule(valueHeads % keyHeads === 0, `linear.valueHeads must be a multiple of keyHeads (${keyHeads})`, valueHeads); // prettier-ignore
  }
  return config;
}
