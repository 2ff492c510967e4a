// What the addon is compiled from, for one processor: the same list for the compiler of this machine and
// for the one that makes the addons of a package.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export const native = fileURLToPath(new URL("../../native", import.meta.url));

const flags = [
  "-std=c++17",
  "-O3",
  "-fPIC",
  "-fno-exceptions",
  "-fno-rtti",
  "-fno-math-errno",
  "-ffp-contract=fast",
  "-fvisibility=hidden",
  "-Wall",
  "-Wno-psabi",
  "-Wno-unknown-pragmas",
  "-Wno-unused-function",
  "-pthread",
];

// Each instruction set is compiled into a namespace of its own and the addon picks one when it loads.
const sets = {
  x64: {
    base: [],
    avx2: ["-mavx2", "-mfma", "-DARPO_ISA_avx2"],
    avx512: [
      ...["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma"],
      ...["-mprefer-vector-width=512", "-DARPO_ISA_avx512"],
    ],
  },
};

/** Every file of a folder of native/ and of the folders in it. */
export const filesIn = (folder) =>
  readdirSync(join(native, folder), { recursive: true }).map((file) => join(native, folder, file));

/** The C++ sources among them by name, wherever they are: the order in which they are linked. */
export const sourcesIn = (folder) =>
  filesIn(folder)
    .filter((file) => file.endsWith(".cc"))
    .sort((a, b) => (basename(a) < basename(b) ? -1 : 1));

/** Where Node's headers are; throws where the package node-api-headers is missing. */
export function nodeHeaders() {
  return createRequire(import.meta.url)("node-api-headers");
}

/** One compilation each: the source, the object it gives, and the flags. */
export function nativeJobs(arch) {
  const all = [...flags, "-isystem", nodeHeaders().include_dir];
  const jobs = ["addon", "host"].map((name) => ({
    source: join(native, `addon/${name}.cc`),
    flags: all,
    object: `${name}.o`,
  }));
  for (const [set, extra] of Object.entries(sets[arch] ?? { base: [] })) {
    for (const source of [...sourcesIn("src"), join(native, "addon/table.cc")]) {
      const object = `${basename(source, ".cc")}.${set}.o`;
      jobs.push({ source, flags: [...all, ...extra], object });
    }
  }
  return jobs;
}
