export { tf } from "./tf.js";
export { logProbEntropy } from "./log-prob.js";
export { detached } from "./detached.js";
export { evenMaximum, evenMinimum } from "./extremum.js";
