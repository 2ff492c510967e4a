// Texts that are made to be slow, for everything that reads texts.
import { Broken, type Area } from "../attempt.js";
import { shapes, units } from "../../text/slow-texts.js";
import { textReaders } from "../../text/text-readers.js";

/** So much CPU time for 200,000 characters is no proportion, on whatever machine. */
const most = 4000;

export const texts: Area = {
  name: "texts",
  share: 8,
  seconds: 60,
  make: (random) => {
    const reader = random.choose(Object.keys(textReaders));
    const shape = random.choose(Object.keys(shapes));
    const unit = Array.from({ length: 1 + random.integer(4) }, () => random.choose(units)).join("");
    const [before, after] = [random.choose(units), random.choose(units)];
    return {
      name: `${reader} reads 200,000 characters: ${JSON.stringify(before)}, ${JSON.stringify(unit)} ${shape}, ${JSON.stringify(after)}`,
      promise: `at most ${most} ms, and no overflow`,
      run: async () => {
        const text = before + shapes[shape]!(unit, 200_000) + after;
        const began = process.cpuUsage();
        let said = "read";
        try {
          await textReaders[reader]!(text);
        } catch (error) {
          said = (error as Error).message;
          if (/call stack/.test(said)) throw error;
        }
        const { user, system } = process.cpuUsage(began);
        const ms = (user + system) / 1000;
        if (ms > most) throw new Broken("hung", `${ms} ms`);
        return `${ms} ms: ${said.slice(0, 100)}`;
      },
    };
  },
};
