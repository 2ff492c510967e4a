// Every loss's gradient against central differences, in double precision. Run by tools/vendor/float64.mjs,
// which exchanges tfjs for one of Float64Array; what else makes Float32Array gets doubles too.
globalThis.Float32Array = Float64Array as unknown as Float32ArrayConstructor;
const { lossCases } = await import("./gradient-losses.js");
const { namedCases } = await import("./gradient-named.js");
const { modelCases } = await import("./gradient-models.js");

const step = 1e-5;
let failed = 0;
for (const { name, analytic, at, moved } of [...lossCases(), ...namedCases(), ...modelCases()]) {
  let worst = 0;
  let largest = 0;
  at.forEach((x, i) => {
    const numeric = (moved(i, x + step) - moved(i, x - step)) / (2 * step);
    worst = Math.max(worst, Math.abs(numeric - analytic[i]!));
    largest = Math.max(largest, Math.abs(numeric));
  });
  // A gradient of nothing would agree with anything.
  const good = worst <= 1e-7 && largest > 1e-3;
  if (!good) failed++;
  console.log(
    `${good ? "ok " : "BAD"} ${name}: ${at.length} derivatives up to ${largest.toFixed(3)}, off by ${worst.toExponential(1)}`,
  );
}
process.exit(failed > 0 ? 1 : 0);
