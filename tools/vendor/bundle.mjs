// esbuild's `build`, which also writes down whose files went into a bundle (OUTFILE.inputs.json), for the
// notices of the package.
import { build as bundle } from "esbuild";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const absWorkingDir = fileURLToPath(new URL("../..", import.meta.url));

export async function build(options) {
  const { metafile } = await bundle({ ...options, absWorkingDir, metafile: true });
  const inputs = Object.keys(metafile.inputs).filter((input) => !input.startsWith("<"));
  writeFileSync(`${options.outfile}.inputs.json`, JSON.stringify(inputs));
}
