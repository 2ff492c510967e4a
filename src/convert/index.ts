export { readBaseFiles, type BaseFiles } from "./base-files.js";
export {
  compareCheckpoints,
  type CompareOptions,
  type Comparison,
  type TensorComparison,
} from "./compare-checkpoints.js";
export { convertCheckpoint, type Conversion, type ConvertOptions } from "./convert-checkpoint.js";
export { fetchModel, type FetchedModel, type FetchOptions } from "./fetch/fetch-model.js";
export { openCheckpoint } from "./open-checkpoint.js";
export { openFolder } from "./open-folder.js";
export { openShards } from "./open-shards.js";
export { PickleObject, unpickle, type PickleGlobal, type UnpickleOptions } from "./pickle.js";
export { TorchArchive } from "./torch-archive.js";
export type { TorchStorage, TorchTensor, TorchType } from "./torch-globals.js";
export type { WeightEntry, WeightSource } from "./weight-source.js";
export { withAdapter } from "./with-adapter.js";
