import type { GpuBackend } from "../../../tensor/gpu/gpu-backend.js";
import { tf } from "../../../tensor/tf.js";
import type { Model } from "../../transformer/transformer.js";
import { decoderWeights } from "../of-model.js";
import { endNames } from "../weight-names.js";
import { type GpuWeightSource, uploaded, type WeightPart } from "./weight-source.js";

const layerNames: Partial<Record<WeightPart, string>> = {
  inputNorm: "input_layernorm.weight",
  query: "self_attn.q_proj.weight",
  key: "self_attn.k_proj.weight",
  value: "self_attn.v_proj.weight",
  queryBias: "self_attn.q_proj.bias",
  keyBias: "self_attn.k_proj.bias",
  valueBias: "self_attn.v_proj.bias",
  queryNorm: "self_attn.q_norm.weight",
  keyNorm: "self_attn.k_norm.weight",
  output: "self_attn.o_proj.weight",
  postNorm: "post_attention_layernorm.weight",
  gate: "mlp.gate_proj.weight",
  up: "mlp.up_proj.weight",
  down: "mlp.down_proj.weight",
};

/** The GPU backend where tensors are on this device. */
export function tensorsOn(device: GPUDevice): GpuBackend | undefined {
  if (tf.getBackend() !== "webgpu") return undefined;
  const backend = tf.backend() as unknown as GpuBackend;
  return backend.device === device ? backend : undefined;
}

/**
 * A model's weights as they are now, with adapters added: copied on the card where training has them
 * there, else uploaded.
 */
export function modelWeights(device: GPUDevice, model: Model): GpuWeightSource {
  const backend = tensorsOn(device);
  if (!backend) return uploaded(device, decoderWeights(model));
  return {
    tied: model.config.tied,
    put(part, layer, to, offset) {
      const inside = layerNames[part];
      const name =
        inside === undefined
          ? endNames[part as keyof typeof endNames]
          : `model.layers.${layer}.${inside}`;
      const acting = model.acting(name);
      if (!acting) return false;
      const { buffer, offset: at = 0 } = backend.at(acting);
      backend.copy(buffer, at, to, offset, 4 * acting.size);
      if (acting !== model.weights.get(name)) acting.dispose();
      return true;
    },
    run: (dispatch) => backend.run(dispatch),
    done() {
      if (backend.commandEncoder) backend.submitQueue();
    },
  };
}
