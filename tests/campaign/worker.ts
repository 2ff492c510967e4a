// Makes attempts, one after the other, as the campaign tells it. A process of its own: what hangs or falls takes
// nothing else along.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Broken, Place, type Verdict } from "./attempt.js";
import { loopbackOnly } from "./loopback-only.js";
import { attemptOf, type Order, type Result } from "./order.js";

async function made(order: Order): Promise<Result> {
  const { area, attempt } = attemptOf(order);
  const { index, folder } = order;
  const place = new Place(join(folder, `attempt-${index}`), join(folder, "shared"));
  const began = performance.now();
  let [verdict, happened]: [Verdict, string] = ["kept", ""];
  try {
    happened = await attempt.run(place);
  } catch (error) {
    verdict = error instanceof Broken ? error.verdict : "broken";
    happened = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  await place.clear();
  rmSync(place.folder, { recursive: true, force: true });
  const { name, promise } = attempt;
  const ms = Math.round(performance.now() - began);
  return { index, area: area.name, name, promise, verdict, happened: happened.slice(0, 4000), ms };
}

loopbackOnly();
process.on("message", (order: Order) => {
  void made(order).then((result) => process.send!(result));
});
process.once("disconnect", () => process.exit());
