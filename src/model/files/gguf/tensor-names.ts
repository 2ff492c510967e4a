import { architectures } from "../../architectures/registry.js";

const modules: Readonly<Record<string, string>> = {
  input_layernorm: "attn_norm",
  post_attention_layernorm: "ffn_norm",
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.o_proj": "attn_output",
  "self_attn.q_norm": "attn_q_norm",
  "self_attn.k_norm": "attn_k_norm",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down",
};

const ends: Readonly<Record<string, string>> = {
  "model.embed_tokens.weight": "token_embd.weight",
  "model.norm.weight": "output_norm.weight",
  "lm_head.weight": "output.weight",
};

const inverse = (names: Readonly<Record<string, string>>) =>
  new Map(Object.entries(names).map(([hf, gguf]) => [gguf, hf]));

const endsBack = inverse(ends);

/** A layer's modules as an architecture has them, by either name. */
function modulesOf(family: string) {
  const { gguf } = architectures.get(family) ?? {};
  const there = { ...modules, ...(gguf ? gguf.modules : {}) };
  return { there, back: inverse(there) };
}

/** A weight's name in a GGUF file, by its Hugging Face name and its architecture. */
export function ggufName(name: string, family: string): string | undefined {
  if (Object.hasOwn(ends, name)) return ends[name];
  const [, layer, module, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const { there } = modulesOf(family);
  if (module === undefined || !Object.hasOwn(there, module)) return undefined;
  return `blk.${layer}.${there[module]}.${kind}`;
}

/** A weight's Hugging Face name, by its name in a GGUF file and its architecture. */
export function hfName(name: string, family: string): string | undefined {
  const end = endsBack.get(name);
  if (end !== undefined) return end;
  const [, layer, short, kind] = /^blk\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const module = short === undefined ? undefined : modulesOf(family).back.get(short);
  return module === undefined ? undefined : `model.layers.${layer}.${module}.${kind}`;
}
