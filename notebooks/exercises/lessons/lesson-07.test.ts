import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson07 } from "./lesson-07.js";

const ppo = (r: number, a: number) => ((a > 0 && r > 1.2) || (a < 0 && (r < 0.8 || r > 3)) ? 0 : r);
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

judgeAnswers(lesson07, {
  "07 factor": {
    right: [(r, a) => (a > 0 && r > 1.2 ? 1.2 : ppo(r, a))],
    wrong: [
      [ppo, /PPO's/],
      [(r, a) => (a > 0 && r > 1.2 ? 1.2 : a < 0 && r < 0.8 ? 0.8 : ppo(r, a)), /lower bound/],
      [(r, a) => (a > 0 && r > 1.2 ? 1.2 : a < 0 && r < 0.8 ? 0 : r), /dual clip/],
      [(r, a) => (a > 0 && r > 1.2 ? 1.2 : ppo(r, a) && 1), /the ratio itself/],
    ],
  },
  "07 count": {
    right: [60],
    wrong: [
      [100, /PPO's/],
      [40, /rescues/],
      [0, /you gave 0/],
    ],
  },
  "07 budget": {
    right: [(n, root, mean) => Math.min(n, Math.trunc(n * sigmoid(0.5 * (root - mean))) + 1)],
    wrong: [
      [(n, root, mean) => Math.trunc(n * sigmoid(0.5 * (root - mean))) + 1, /only n trajectories/],
      [(n, root, mean) => Math.min(n, n * sigmoid(0.5 * (root - mean)) + 0.5), /whole/],
      [(n, root, mean) => Math.min(n, Math.trunc(n * sigmoid(0.5 * (root - mean)))), /adds 1/],
      [(n, root, mean) => Math.min(n, Math.trunc(n * sigmoid(root - mean)) + 1), /it gives/],
    ],
  },
});
