import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-cpu";
import "#tfjs-gradients";
import type {} from "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js";

export { tf };
