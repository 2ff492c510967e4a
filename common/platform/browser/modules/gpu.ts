import type * as node from "../../node/modules/gpu.js";

export const openGpu: typeof node.openGpu = () =>
  navigator.gpu
    ? Promise.resolve(navigator.gpu)
    : Promise.reject(new Error("this browser must have WebGPU, got none"));

export const agent: typeof node.agent = () => navigator.userAgent;
