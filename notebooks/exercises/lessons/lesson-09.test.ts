import { judgeAnswers } from "../testing/judge-answers.js";
import { lesson09 } from "./lesson-09.js";

const slower = "lower the learning rate";
const harder = "harder questions";
const look = "look at the answers";

judgeAnswers(lesson09, {
  "09 optimiser steps": {
    right: [4],
    wrong: [
      [32, /not trajectories/],
      [1, /one mini-batch/],
      [8, /you gave 8/],
    ],
  },
  "09 clip fraction": {
    right: [0],
    wrong: [
      [1, /ratio/],
      [0.2, /you gave 0\.2/],
    ],
  },
  "09 remedies": {
    right: [{ a: harder, b: look, c: slower }],
    wrong: [
      [{ a: slower, b: look, c: slower }, /in a every/],
      [{ a: harder, b: slower, c: slower }, /read what/],
      [{ a: harder, b: look, c: harder }, /too large/],
    ],
  },
});
