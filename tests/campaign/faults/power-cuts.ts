// The power fails at a random moment of a program that saves: what it acknowledged is there, and it goes on.
import {
  checkAll,
  checkContents,
  checkEvaluated,
  checkEvaluatedAgain,
  checkLedgers,
  checkResumed,
  checkSwept,
  checkSweptAgain,
  checkTrained,
  checkTuned,
  checkTunedAgain,
  uncutRun,
} from "../../power-cut/checks.js";
import { type Survivor, survivorsOf } from "../../power-cut/survivors.js";
import type { Area } from "../attempt.js";

/** A worker records each program once and finds all moments in the record. */
const recorded = new Map<string, Survivor[]>();
function record(program: string, ...given: string[]): Survivor[] {
  const key = [program, ...given].join(" ");
  const found = recorded.get(key) ?? survivorsOf(program, ...given);
  recorded.set(key, found);
  return found;
}
let uncut: Promise<Record<string, string>> | undefined;

type Check = (folder: string, survivor: Survivor, all: readonly Survivor[]) => Promise<void>;

const programs: Record<string, { program: string; given?: string[]; check: Check }> = {
  ...Object.fromEntries(
    [1, 2, 3].map((kept) => [
      `train() with ${kept} checkpoints kept`,
      {
        program: "train",
        given: [`trainer.max_actor_ckpt_to_keep=${kept}`],
        check: async (folder, survivor) => {
          await checkTrained(folder, survivor);
          await checkResumed(folder, survivor, await (uncut ??= uncutRun()));
        },
      } satisfies { program: string; given: string[]; check: Check },
    ]),
  ),
  "fine-tuning": {
    program: "sft",
    check: async (folder, survivor) => {
      await checkTuned(folder, survivor);
      checkTunedAgain(folder, survivor);
    },
  },
  "evaluate()": {
    program: "eval",
    check: async (folder, survivor) => {
      await checkEvaluated(folder, survivor);
      checkEvaluatedAgain(folder, survivor);
    },
  },
  "a sweep": {
    program: "sweep",
    check: async (folder, survivor) => {
      await checkSwept(folder, survivor);
      checkSweptAgain(folder);
    },
  },
  "the contents server": { program: "contents", check: checkContents },
  "notebooks, jobs and caches": { program: "ledgers", check: checkLedgers },
};

export const powerCuts: Area = {
  name: "power cuts",
  share: 8,
  seconds: 400,
  make: (random) => {
    const name = random.choose(Object.keys(programs));
    const at = random.uniform();
    return {
      name: `the power fails at ${(100 * at).toFixed(1)} % of ${name}`,
      promise: "what was acknowledged is there, and the program goes on to the same end",
      run: async (place) => {
        if (process.platform !== "linux") place.skip("only Linux names open files");
        const { program, given = [], check } = programs[name]!;
        const found = record(program, ...given);
        const survivor = found[Math.floor(at * found.length)]!;
        await checkAll([survivor], (folder) => check(folder, survivor, found));
        return `${survivor.why}, the disk ${survivor.disk}, one of ${found.length} moments`;
      },
    };
  },
};
