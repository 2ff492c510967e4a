import { trainTiny } from "../../../src/run/tiny/train-tiny.js";
import { ready } from "../../../src/tensor/backends.js";
import { say } from "../terminal/say.js";

/** `arpo-lab train-tiny`: the shipped model, made again from its recipe. */
export async function makeTiny(folder: string): Promise<void> {
  await ready();
  const began = Date.now();
  let sum = 0;
  await trainTiny(folder, undefined, (stage, step) => {
    sum += step.loss;
    if ((step.step + 1) % 50 !== 0) return;
    const seconds = Math.round((Date.now() - began) / 1000);
    say(
      `${stage} ${step.step + 1}/${step.totalSteps}  loss ${(sum / 50).toFixed(4)}  ${seconds} s`,
    );
    sum = 0;
  });
}
