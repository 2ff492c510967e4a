// What `#tfjs` holds, for the types: scripts/build.mjs packs the same into one file, because Node takes
// a quarter of a second to read tfjs's CommonJS files as modules and a tenth of that for the pack. Other
// copies of tfjs in the process (danfojs, a backend) share its one global engine and registry.
/// <reference types="@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js" preserve="true" />
export * from "@tensorflow/tfjs-core";
export { MathBackendCPU } from "@tensorflow/tfjs-backend-cpu";
