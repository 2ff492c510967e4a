import { lesson00 } from "./lesson-00.js";
import { lesson01 } from "./lesson-01.js";
import { lesson02 } from "./lesson-02.js";
import { lesson03 } from "./lesson-03.js";
import { lesson04 } from "./lesson-04.js";
import { lesson05 } from "./lesson-05.js";
import { lesson06 } from "./lesson-06.js";
import { lesson07 } from "./lesson-07.js";
import { lesson08 } from "./lesson-08.js";
import { lesson09 } from "./lesson-09.js";
import { lesson10 } from "./lesson-10.js";
import { lesson11 } from "./lesson-11.js";
import { lesson12 } from "./lesson-12.js";
import { lesson13 } from "./lesson-13.js";
import { lesson14 } from "./lesson-14.js";
import { lesson15 } from "./lesson-15.js";
import { lesson16 } from "./lesson-16.js";
import { lesson17 } from "./lesson-17.js";
import { lesson18 } from "./lesson-18.js";

/** Every exercise of the lessons under its name, which begins with the lesson's number. */
export const exercises = {
  ...lesson00,
  ...lesson01,
  ...lesson02,
  ...lesson03,
  ...lesson04,
  ...lesson05,
  ...lesson06,
  ...lesson07,
  ...lesson08,
  ...lesson09,
  ...lesson10,
  ...lesson11,
  ...lesson12,
  ...lesson13,
  ...lesson14,
  ...lesson15,
  ...lesson16,
  ...lesson17,
  ...lesson18,
};

export type ExerciseName = keyof typeof exercises;
