// Types of the chained methods (`x.add(y)`), kept in the published declarations too.
/// <reference types="@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js" preserve="true" />
import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-cpu";
import "#tfjs-gradients";

export { tf };
