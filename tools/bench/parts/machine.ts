// One process of a benchmark: prints what this machine can do at most now, with one thread and with all; nothing
// where the backend is none that can be measured.
import { compiledEngine } from "../../../src/tensor/engine/compiled-engine.js";
import { ready } from "../../../src/tensor/backends.js";
import { measureMachine } from "../../../src/tensor/profile/machine.js";

await ready();
const limits = compiledEngine() && { one: measureMachine({ threads: 1 }), all: measureMachine() };
process.stdout.write(JSON.stringify(limits ?? null));
process.exit(0);
