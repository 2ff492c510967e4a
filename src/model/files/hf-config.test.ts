import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { architectures } from "../architectures/registry.js";
import { modelConfig } from "../config.js";
import { formatHfConfig, parseHfConfig } from "./hf-config.js";
import { ropeFrequencies } from "../transformer/rope.js";
import { weightShapes } from "../transformer/weights.js";

const qwen = {
  architectures: ["Qwen2ForCausalLM"],
  hidden_act: "silu",
  hidden_size: 896,
  intermediate_size: 4864,
  max_position_embeddings: 32768,
  max_window_layers: 21,
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000.0,
  sliding_window: 32768,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 151936,
  bos_token_id: 151643,
  eos_token_id: 151645,
};
const llama = {
  architectures: ["LlamaForCausalLM"],
  hidden_size: 4096,
  intermediate_size: 14336,
  max_position_embeddings: 131072,
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  rope_theta: 500000.0,
  rope_scaling: {
    factor: 8.0,
    low_freq_factor: 1.0,
    high_freq_factor: 4.0,
    original_max_position_embeddings: 8192,
    rope_type: "llama3",
  },
  vocab_size: 128256,
  bos_token_id: 128000,
  eos_token_id: [128001, 128008, 128009],
};

test("parseHfConfig() reads the config.json of Qwen2.5-0.5B, Qwen3 and Llama 3.1", () => {
  const small = parseHfConfig(qwen);
  assert.equal(small.headDim, 64);
  assert.equal(small.qkvBias, true);
  assert.equal(small.tied, true);
  assert.equal(small.ropeTheta, 1e6);
  let count = 0;
  for (const shape of weightShapes(small).values()) count += shape.reduce((a, b) => a * b, 1);
  assert.equal(count, 494_032_768); // the published size of Qwen2.5-0.5B

  const three = parseHfConfig({ ...qwen, architectures: ["Qwen3ForCausalLM"], head_dim: 128 });
  assert.equal(three.headDim, 128);
  assert.equal(three.qkNorm && !three.qkvBias, true);

  const eight = parseHfConfig(llama);
  assert.deepEqual(eight.eosIds, [128001, 128008, 128009]);
  assert.equal((eight.ropeScaling as { factor: number }).factor, 8);
  assert.equal(weightShapes(eight).get("lm_head.weight")?.[0], 128256);
});

test("parseHfConfig() reads rope_parameters as transformers 5 writes them", () => {
  const { rope_theta, rope_scaling, ...rest } = llama;
  const moved = parseHfConfig({ ...rest, rope_parameters: { rope_theta, ...rope_scaling } });
  assert.deepEqual(moved, parseHfConfig(llama));
});

test("parseHfConfig() reads windows as Qwen has them, and none that leaves nothing out", () => {
  const read = (change: object) => {
    const { window, windowed } = parseHfConfig({ ...qwen, use_sliding_window: true, ...change });
    return [window, windowed?.indexOf(true), windowed?.filter(Boolean).length];
  };
  assert.deepEqual(read({ sliding_window: 4096 }), [4096, 21, 3]);
  assert.deepEqual(read({ sliding_window: 4096, max_window_layers: 24 }), [undefined, undefined, undefined]); // prettier-ignore
  assert.deepEqual(read({ sliding_window: 32768 }), [undefined, undefined, undefined]);
  const layer_types = Array.from({ length: 24 }, (_, i) => `${i === 7 ? "sliding" : "full"}_attention`); // prettier-ignore
  assert.deepEqual(read({ sliding_window: 9, layer_types }), [9, 7, 1]);
});

test("formatHfConfig() is undone by parseHfConfig(), for logits and value heads", () => {
  const stretched = (rope_scaling: object) => ({ ...llama, rope_scaling });
  const factors = Array.from({ length: 64 }, (_, i) => 1 + i / 8);
  for (const source of [
    qwen,
    llama,
    stretched({ rope_type: "linear", factor: 2 }),
    stretched({ type: "dynamic", factor: 2 }),
    stretched({ type: "yarn", factor: 4, original_max_position_embeddings: 32768 }),
    stretched({ type: "yarn", factor: 4, mscale: 0.7, mscale_all_dim: 1, truncate: false }),
    stretched({ type: "longrope", short_factor: factors, long_factor: factors, factor: 8 }),
    { ...llama, attention_bias: true, mlp_bias: true, hidden_act: "gelu_pytorch_tanh" },
    { ...qwen, use_sliding_window: true, sliding_window: 64, max_window_layers: 11 },
  ]) {
    const config = parseHfConfig(source);
    assert.deepEqual(parseHfConfig(formatHfConfig(config, "bfloat16")), config);
    const critic = modelConfig({ ...config, head: "value" });
    assert.deepEqual(parseHfConfig(formatHfConfig(critic, "float32")), critic);
    assert.deepEqual([...weightShapes(critic).keys()].slice(-2), ["score.weight", "score.bias"]);
  }
});

/** The published shape of Qwen3.5-0.8B. */
const hybrid = {
  attention_bias: false,
  attn_output_gate: true,
  full_attention_interval: 4,
  head_dim: 256,
  hidden_act: "silu",
  hidden_size: 1024,
  intermediate_size: 3584,
  linear_conv_kernel_dim: 4,
  linear_key_head_dim: 128,
  linear_num_key_heads: 16,
  linear_num_value_heads: 16,
  linear_value_head_dim: 128,
  max_position_embeddings: 262144,
  mtp_num_hidden_layers: 1,
  num_attention_heads: 8,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_parameters: { rope_theta: 1e7, rope_type: "default", partial_rotary_factor: 0.25 },
  vocab_size: 248320,
};

test("parseHfConfig() reads the text of Qwen3.5, alone or with pictures around it", () => {
  const around = {
    architectures: ["Qwen3_5ForConditionalGeneration"],
    text_config: hybrid,
    tie_word_embeddings: true,
    vision_config: { depth: 12 },
  };
  const config = parseHfConfig(around);
  assert.deepEqual(
    config.linear?.layers.map((linear, i) => (linear ? undefined : i)).filter((i) => i),
    [3, 7, 11, 15, 19, 23],
  );
  const { family, rotaryDim, ropeTheta, gatedAttention, normOffset } = config;
  assert.deepEqual(
    [family, rotaryDim, ropeTheta, gatedAttention, normOffset],
    ["qwen3_5", 64, 1e7, true, 1],
  );
  let count = 0;
  for (const shape of weightShapes(config).values()) count += shape.reduce((a, b) => a * b, 1);
  assert.equal(count, 752_393_024);
  const alone = { ...hybrid, architectures: ["Qwen3_5ForCausalLM"], tie_word_embeddings: true };
  assert.deepEqual(parseHfConfig(alone), config);
  assert.deepEqual(parseHfConfig(formatHfConfig(config, "bfloat16")), config);
  const refused = (change: object, message: RegExp) =>
    assert.throws(() => parseHfConfig({ ...alone, ...change }), message);
  refused({ attn_output_gate: false }, /attn_output_gate must be true, got false/);
  refused({ attention_bias: true }, /attention_bias must be false, got true/);
  refused({ hidden_act: "gelu_pytorch_tanh" }, /hidden_act must be silu/);
  refused({ layer_types: ["sliding_attention"] }, /must be among full_attention, linear_attention, got "sliding_attention" \(layer 0\)/); // prettier-ignore
  refused({ layer_types: ["linear_attention"] }, /an entry for each of 24 layers, got 1/);
  refused({ linear_num_value_heads: 17 }, /linear.valueHeads must be a multiple of keyHeads \(16\), got 17/); // prettier-ignore
  refused({ head_dim: 20 }, /rotaryDim must be an even number up to 20, got 5/);
  const yarn = { rope_type: "yarn", rope_theta: 1e7, factor: 4, original_max_position_embeddings: 8192 }; // prettier-ignore
  refused({ rope_parameters: yarn }, /rotaryDim must be all of a head where rope is scaled/);
  assert.throws(
    () => parseHfConfig({ ...around, text_config: 3 }),
    /text_config must be an object/,
  );
});

test("parseHfConfig() refuses what it would compute wrongly", () => {
  const refused = (change: object, message: RegExp) =>
    assert.throws(() => parseHfConfig({ ...qwen, ...change }), message);
  refused({ architectures: ["MambaForCausalLM"] }, /architecture must be one of Qwen2.*MambaFor/);
  refused({ architectures: undefined }, /architecture must be one of/);
  refused({ hidden_act: "gelu" }, /hidden_act must be one of silu, gelu_pytorch_tanh, got "gelu"/);
  refused({ rope_scaling: { type: "su" } }, /rope scaling must be one of default, linear, .*"su"/);
  refused({ rope_scaling: { type: "linear" } }, /factor must be a number, got undefined/);
  refused({ layer_types: ["sliding_attention"] }, /an entry for each of 24 layers, got 1/);
  const mixed = Array.from({ length: 24 }, (_, i) => (i % 4 < 3 ? "linear" : "full"));
  const layer_types = mixed.map((kind) => `${kind}_attention`);
  refused({ layer_types }, /layer_types must be among .*, got "linear_attention" \(layer 0\)/);
  refused(
    { architectures: ["ZambaForCausalLM"], layer_types: ["hybrid"] },
    /got "ZambaForCausalLM".*; layers of hybrid are not computed here/,
  );
  refused(
    { architectures: ["Qwen3_5MoeForCausalLM"], num_experts: 8, layer_types },
    /got "Qwen3_5MoeForCausalLM".*; experts are not computed here/,
  );
  refused({ num_key_value_heads: 3 }, /multiple of kvHeads \(3\), got 14/);
  refused({ hidden_size: 900 }, /headDim must be a positive integer, got 64.28/);
  refused({ hidden_size: -896 }, /hiddenSize must be a positive integer, got -896/);
  refused({ num_hidden_layers: undefined }, /num_hidden_layers must be a number, got undefined/);
  refused({ vocab_size: "many" }, /vocab_size must be a number, got "many"/);
  refused({ eos_token_id: 151936 }, /ids must be below vocabSize \(151936\), got 151936/);
  refused({ rms_norm_eps: 0 }, /normEpsilon must be between 0 and 1, got 0/);
  refused({ rope_theta: 0 }, /ropeTheta must be a number above 1, got 0/);
  assert.throws(() => parseHfConfig([]), TypeError);
});

test("ropeFrequencies() stretches only the slow pairs of Llama 3.1", () => {
  const config = parseHfConfig(llama);
  const stretched = ropeFrequencies(config);
  const plain = ropeFrequencies({ ...config, ropeScaling: undefined });
  assert.equal(stretched.length, 64);
  assert.equal(stretched[0], plain[0]);
  assert.ok(Math.abs(stretched[63]! * 8 - plain[63]!) < 1e-12);
  const blended = stretched.findIndex((f, i) => f < plain[i]! && f * 8 > plain[i]! * 1.001);
  assert.ok(blended > 0 && blended < 63);
});

test("the documentation names every architecture, and the models that are of it", async () => {
  const [models, gguf] = await Promise.all(
    ["docs/which-models.md", "docs/gguf.md"].map((path) => readFile(path, "utf8")),
  );
  for (const { name, words } of architectures.built) {
    assert.ok(models!.includes(`\`${name}\` (${words})`), name);
    assert.ok(gguf!.includes(`\`${name}\``), name);
  }
});

test("an architecture that is not known is refused, and the nearest is named", () => {
  assert.throws(
    () => parseHfConfig({ ...qwen, architectures: ["Qwen3ForCasualLM"] }),
    /got "Qwen3ForCasualLM"; did you mean "Qwen3ForCausalLM"\?/,
  );
  assert.throws(
    () => modelConfig({ ...parseHfConfig(qwen), family: "qwn2" as "qwen2" }),
    /family must be one of qwen2, qwen3, llama, smollm3, gemma3, qwen3_5, got "qwn2"; did you mean "qwen2"\?/,
  );
});
