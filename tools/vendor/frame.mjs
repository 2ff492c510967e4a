// How danfojs is packed into one file, `#danfojs`, on the pack's tfjs. Its own packages cannot be installed
// everywhere (the spreadsheet reader is a tarball on a vendor's server, TensorFlow a binary) and weigh 300 MB, of
// which it calls few functions. Charts and files are ours: see src/interop/frame.
import { build } from "./bundle.mjs";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyDeclarations } from "./declarations.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const danfojs = join(root, "node_modules/danfojs/dist");
const nothing = join(root, "node_modules/xlsx"); // an empty package: see package.json's overrides

/** What stands in for a package of danfojs's. */
export const standIns = {
  "@tensorflow/tfjs": join(root, "src/interop/frame/tensors.ts"),
  mathjs: join(root, "src/interop/frame/statistics.ts"),
};

/** Packs danfojs into `outfile`, with its plots' functions and the reader of CSV that it brings. */
export async function packDanfojs(outfile) {
  await build({
    stdin: {
      contents: `export {
  Config, DataFrame, Dt, LabelEncoder, MinMaxScaler, NDframe, OneHotEncoder, Series, StandardScaler, Str, Utils,
  concat, dateRange, getDummies, merge, toDateTime,
} from "./danfojs-base/index.js";
export * as plots from "./danfojs-base/plotting/plotly/index.js";
export { default as Papa } from "papaparse";`,
      resolveDir: danfojs,
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minify: true,
    keepNames: true,
    alias: { ...standIns, "plotly.js-dist-min": nothing, xlsx: nothing },
    external: ["#tfjs"],
    logLevel: "error",
  });
}

// Types of packages that are not there.
const names = `interface Config { [name: string]: unknown }
interface Layout { [name: string]: unknown }
interface ParseConfig { [name: string]: unknown }
type HeadersInit = Record<string, string>;
type ParsingOptions = object;
type WritingOptions = object;
`;

/** The types of the pack: `folder`/index.d.ts and what it names. */
export function copyDanfojsTypes(folder) {
  copyDeclarations({
    from: danfojs,
    to: folder,
    entries: ["danfojs-base/index.d.ts", "danfojs-base/plotting/plotly/index.d.ts"],
    edit: (text) =>
      text
        .replace(
          /^import .* from ["'](table|plotly\.js-dist-min|node-fetch|papaparse|xlsx)["'];\n/gm,
          "",
        )
        .replace(/^export declare type DTYPES/m, `${names}$&`)
        .replace(/(["'])@tensorflow\/tfjs\1/g, '"#tfjs"')
        .replace(/\bBaseUserConfig & TableUserConfig\b/g, "object")
        // A chart is returned, and drawn where its value is shown.
        .replace(
          /\(plotConfig\?: PlotConfigObject\): void/g,
          "(plotConfig?: PlotConfigObject): Figure",
        )
        .replace(
          /^export interface IPlotlyLib/m,
          "/** A chart: what plotly draws. */\nexport interface Figure {\n    data: Record<string, unknown>[];\n    layout: Record<string, unknown>;\n}\n$&",
        )
        .replace(/plot\(divId: string\)/g, "plot(divId?: string)"),
  });
  writeFileSync(
    join(folder, "index.d.ts"),
    `export {
  Config, DataFrame, Dt, LabelEncoder, MinMaxScaler, NDframe, OneHotEncoder, Series, StandardScaler, Str, Utils,
  concat, dateRange, getDummies, merge, toDateTime,
} from "./danfojs-base/index.js";
export type { BaseDataOptionType, Figure, IPlotlyLib, PlotConfigObject } from "./danfojs-base/shared/types.js";
export * as plots from "./danfojs-base/plotting/plotly/index.js";
export declare const Papa: {
  parse(text: string, options: object): {
    data: unknown[];
    errors: { message: string; row?: number }[];
  };
  unparse(data: object, options?: object): string;
};
`,
  );
}
