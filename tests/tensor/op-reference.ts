// Run by ops.test.ts with tfjs in double precision: prints what every fused op's plain version gives,
// after checking its gradients against central differences.
import { caseInputs, caseLoss, opCases, runCase } from "./op-cases.js";

const step = 1e-5;
const results: Record<string, unknown> = {};
for (const op of opCases) {
  const result = await runCase(op);
  const inputs = caseInputs(op);
  for (const [name, slope] of Object.entries(result.gradients)) {
    // A spread of elements is enough: an op that errs, errs in more than one.
    const stride = Math.max(1, Math.floor(slope.length / 12));
    for (let i = 0; i < slope.length; i += stride) {
      const at = (x: number) => {
        const moved = Float64Array.from(inputs[name]!);
        moved[i] = moved[i]! + x;
        return caseLoss(op, { ...inputs, [name]: moved });
      };
      const difference = (at(step) - at(-step)) / (2 * step);
      if (!(Math.abs(difference - slope[i]!) < 1e-7 * (1 + Math.abs(difference)))) {
        throw new Error(
          `${op.name}: the gradient of ${name}[${i}] is ${slope[i]}, by differences ${difference}`,
        );
      }
    }
  }
  results[op.name] = result;
}
process.stdout.write(JSON.stringify(results));
