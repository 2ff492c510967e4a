import { deepResearch } from "../../../src/reward/rewards/deep-research.js";
import { judgedTrajectory, type JudgedTrajectory } from "../../../src/reward/judged-trajectory.js";
import { agree, ask, checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, type Verdict, wrong } from "../verdict.js";

const good = "<think>t</think><answer>\\boxed{Oslo}</answer>";
const call = (tag: string, ok = true) => ({ tag, input: "x", text: ok ? "y" : "", ok });
const judged = (response: string, toolCalls: JudgedTrajectory["toolCalls"]): JudgedTrajectory =>
  judgedTrajectory({ response, groundTruth: "Oslo", toolCalls, length: 20 });
const search = "<search>x</search> <result>\ny\n</result>";
const python = "<python>x</python> <result>\ny\n</result>";

const bonusCases: { what: string; of: JudgedTrajectory; wanted: number }[] = [
  { what: "a right answer without calls", of: judged(good, []), wanted: 1 },
  {
    what: "a right answer that only writes the closing tags",
    of: judged(`<think></search></python></think>${good}`, []),
    wanted: 1,
  },
  {
    what: "a right answer after both tools",
    of: judged(search + python + good, [call("search"), call("python")]),
    wanted: 1.1,
  },
  {
    what: "a right answer after a search that failed",
    of: judged(search + python + good, [call("search", false), call("python")]),
    wanted: 1,
  },
  {
    what: "a right answer after two searches",
    of: judged(search + search + good, [call("search"), call("search")]),
    wanted: 1,
  },
  {
    what: "a wrong answer after both tools",
    of: judged(search + python + good.replace("Oslo", "Rome"), [call("search"), call("python")]),
    wanted: 0,
  },
  {
    what: "a broken format after both tools",
    of: judged(`${search}${python}Oslo`, [call("search"), call("python")]),
    wanted: -1,
  },
];

/** Rewards. */
export const lesson04 = {
  "04 score": rule<number>({
    hint: "one word given, and it is right; three words wanted. F1 is 2PR / (P + R).",
    check: (given) =>
      checkValue(given, 0.5, {
        because:
          "precision 1, recall 1/3, so 2 · (1/3) / (4/3) = 1/2; there were no tools, so no bonus.",
        off: (x) => {
          if (Math.abs(x - 1 / 3) < 0.01) return "that is the recall; F1 also looks at precision.";
          if (x === 1) return "that is the precision; F1 also looks at recall.";
          return x === 0.6 ? "there is no bonus without the tools' closing tags." : undefined;
        },
      }),
  }),
  "04 hack": rule<string>({
    hint: "good format, the right answer, and the two closing tags somewhere. Mind TypeScript: \\\\boxed.",
    check: (response) => {
      if (/<(search|python)>/.test(response))
        return wrong("it opens a call: do it without <search> and <python>.");
      if (response.includes("\boxed"))
        return wrong("it holds a backspace character: in a TypeScript string write \\\\boxed.");
      const { score, reason } = deepResearch({ response, groundTruth: "Oslo" });
      return score > 1
        ? right(
            `${score} for two tags that stand for nothing. A training run finds this in no time.`,
          )
        : wrong(`it scores ${score}: ${reason}.`);
    },
  }),
  "04 honest bonus": rule<(judged: JudgedTrajectory) => number>({
    hint: "deepResearch(judged).parts.f1_score and .format say what the score was made of.",
    check: (given): Verdict => {
      for (const { what, of, wanted } of bonusCases) {
        const found = ask(given, of);
        if (!agree(found, wanted)) {
          return wrong(`for ${what} it gives ${found}, but should give ${wanted}.`);
        }
      }
      return right("the bonus is now for what happened, not for what was written.");
    },
  }),
  "04 learnable": rule<string[]>({
    hint: "something is learned where the trajectories differ.",
    check: (given) => {
      const chosen = [...new Set(given)].sort().join("");
      if (chosen === "bc")
        return right(
          "in b one trajectory is worse than the rest; in c two trajectories learn to keep the format. All-equal groups are wasted, also the perfect one.",
        );
      if (chosen.includes("a") || chosen.includes("d"))
        return wrong("in a and d all trajectories score the same: every advantage is 0.");
      return wrong(
        "some trajectories differ where you see nothing to learn: even bad against worse teaches.",
      );
    },
  }),
};
