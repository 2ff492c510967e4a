import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson06 } from "./lesson-06.js";

const clip = (r: number) => Math.min(1.2, Math.max(0.8, r));

judgeAnswers(lesson06, {
  "06 loss": {
    right: [-1.2],
    wrong: [
      [-1.5, /without clipping/],
      [1.2, /sign/],
      [0, /you gave 0/],
    ],
  },
  "06 token loss": {
    right: [
      (r, a) => Math.max(-a * r, -a * clip(r)),
      (r, a) => {
        const worse = Math.max(-a * r, -a * clip(r));
        return a < 0 ? Math.min(-3 * a, worse) : worse;
      },
    ],
    wrong: [
      [(r, a) => Math.min(-a * r, -a * clip(r)), /the worse/],
      [(r, a) => -a * clip(r), /compare both/],
      [(r, a) => -a * r, /should give 0\.8/],
    ],
  },
  "06 norm": {
    right: [
      (g, most) => Math.min(1, most / Math.hypot(...g)),
      (g, most) => Math.min(1, most / (Math.hypot(...g) + 1e-6)),
    ],
    wrong: [
      [(g, most) => most / Math.hypot(...g), /never above 1/],
      [(g, most) => Math.min(1, most / g.reduce((a, b) => a + Math.abs(b), 0)), /take the root/],
    ],
  },
});
