export { tf } from "./tf.js";
export { logProbEntropy } from "./log-prob.js";
