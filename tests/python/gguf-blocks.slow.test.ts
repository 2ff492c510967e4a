// Every GGUF type's values and bytes, bit for bit as PyPI's gguf gives them, on random blocks: needs a Python
// with gguf (ARPO_LAB_PYTHON) and is skipped, saying so, where there is none.
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { checkBlocks, type GgufBlocks } from "../gguf-blocks.js";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";

test("4,000 random blocks of every type are read and packed as PyPI's gguf does", (t) => {
  const { status } = spawnSync(python, ["-c", "import gguf"]);
  if (status !== 0) return t.skip("LEFT OUT: ARPO_LAB_PYTHON names no Python that has gguf");
  let count = 0;
  for (let seed = 1; seed <= 4; seed++) {
    const args = ["tests/python/make_gguf_blocks.py", String(seed), "1000"];
    const { stdout } = spawnSync(python, args, { encoding: "utf8", maxBuffer: 1 << 30 });
    count += checkBlocks(JSON.parse(stdout) as GgufBlocks);
  }
  t.diagnostic(`${count} values`);
});
