import { deepest, isTooDeep } from "../../common/http-server/nesting.js";
import { shown } from "../../common/options/check-arguments.js";
import { defined } from "../../common/options/defined.js";
import type { Score } from "../reward/score.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { CarriedCount } from "./carried.js";
import type { FormatNotes, RecordsTogether, RolloutFormat } from "./formats/format.js";
import { rolloutFormats } from "./formats/registry.js";
import { isRecord } from "../../common/options/is-record.js";
import type { FileRecord } from "./row/fields.js";
import type { PlacedRow, Understood } from "./row/imported-row.js";
import { StepLines } from "./step-lines.js";

/** Steps as folders and files are named: `global_step_12_evals`, `step_12`, `iteration_000012`, `12.jsonl`. */
const folder =
  /(?:^|[/\\_-])(?:global[_-]?step|step|iteration|completions)[_-]?(\d+)(?=[/\\._-]|$)/gi;
/** A number alone is a step, unless it counts the chunks of prime-rl's stream. */
const file = /(?:^|(?<!(?:^|[/\\])stream)[/\\])(\d+)\.(?:jsonl|json|parquet)$/i;

/** The training step that a file's place names, if it names one; the innermost wins. */
function stepOfPath(path: string): number | undefined {
  const own = file.exec(path)?.[1];
  const named = own ?? [...path.matchAll(folder)].at(-1)?.[1];
  return named === undefined ? undefined : Number(named);
}

/** A line that could not be read, and why. */
export interface BrokenLine {
  file: string;
  line: number;
  reason: string;
}

/** Trajectories of one prompt, in the order they came. */
export interface PromptRows {
  rows: PlacedRow[];
  step: number | undefined;
  /** A tree that a file holds as it is. */
  tree?: RolloutTree;
  /** The scores of its trajectories, where the file has them. */
  scores?: readonly (Score | undefined)[];
}

/** What became of one file. */
export interface ReadFile {
  path: string;
  /** Undefined where nothing in it was a rollout. */
  format: string | undefined;
  rows: number;
}

/** How much is kept, and what is taken for what. */
export interface CollectOptions {
  /** Without one it is seen from the records. */
  format?: RolloutFormat;
  /** Trajectories whose trees are kept; the numbers of all trajectories are added up. */
  rows: number;
  /** Characters of such trajectories. */
  characters: number;
  /** Broken lines that are passed over. */
  broken: number;
  scoreColumns?: readonly string[];
}

/** Records before one of them tells the format. */
const patience = 20;

/** The name of a prompt: trajectories of the same step, group and prompt belong together. */
function keyOf(row: PlacedRow): string {
  return JSON.stringify([row.step ?? null, row.group ?? null, row.promptTokens ?? row.prompt]);
}

/**
 * Makes prompts with their trajectories out of records, whatever they were read from: pure, so that a page can
 * feed it a dropped file.
 */
export class Collection {
  readonly files: ReadFile[] = [];
  readonly prompts: PromptRows[] = [];
  readonly broken: BrokenLine[] = [];
  readonly carried = new CarriedCount();
  readonly steps = new StepLines();
  readonly formats = new Set<RolloutFormat>();
  /** Trajectories that were counted and not kept. */
  left = 0;
  rows = 0;
  /** The formats that a record may be of. */
  readonly known: readonly RolloutFormat[];
  readonly #options: CollectOptions;
  readonly #notes = new Map<RolloutFormat, FormatNotes>();
  readonly #byKey = new Map<string, PromptRows>();
  #file: ReadFile | undefined;
  #format: RolloutFormat | undefined;
  /** Records of this file that are read together, and the line and characters of the first. */
  #together: RecordsTogether | undefined;
  #begun = { line: 0, size: 0 };
  #strange = 0;
  #firstKeys = "";
  #step: number | undefined;
  #kept = { rows: 0, characters: 0 };
  #share = { rows: 0, characters: 0 };

  constructor(options: CollectOptions) {
    this.#options = options;
    const { format: given } = options;
    this.known = [...new Set([...rolloutFormats.all, ...(given ? [given] : [])])];
    for (const format of this.known) {
      if (format.notes) this.#notes.set(format, format.notes.open());
    }
  }

  /** From here on records are of this file, one of so many that are still to come. */
  open(path: string, filesLeft: number): void {
    this.#file = { path, format: undefined, rows: 0 };
    this.files.push(this.#file);
    this.#format = this.#options.format;
    this.#strange = 0;
    this.#begun = { line: 0, size: 0 };
    this.#step = stepOfPath(path);
    const { rows, characters } = this.#options;
    this.#share = {
      rows: this.#kept.rows + Math.ceil((rows - this.#kept.rows) / filesLeft),
      characters:
        this.#kept.characters + Math.ceil((characters - this.#kept.characters) / filesLeft),
    };
  }

  /** The file has ended. */
  close(): void {
    const { line } = this.#begun;
    this.#tried(line, () => this.#tell(this.#together?.end(), this.#begun));
    this.#together = undefined;
  }

  /** Whether the file that was read last held rollouts. */
  get found(): boolean {
    return this.#file?.format !== undefined;
  }

  /** Whether it may still turn out to: after some records of no kind it is given up. */
  get hopeful(): boolean {
    return this.found || this.#strange < patience;
  }

  /** Takes a record in. `size`: how many characters it had; `text`: the line itself. */
  add(record: unknown, line: number, size: number, text?: string): void {
    if (!isRecord(record)) {
      return this.fail(line, `a record must be an object, got ${shown(record)}`);
    }
    if (isTooDeep(record)) {
      return this.fail(line, `a record may have at most ${deepest} lists and objects within each other, got more`); // prettier-ignore
    }
    for (const notes of this.#notes.values()) if (notes.add(record)) return;
    this.#format ??= this.known.find(({ fits }) => fits(record));
    if (!this.#format) {
      if (this.#strange++ === 0) this.#firstKeys = Object.keys(record).slice(0, 12).join(", ");
      return;
    }
    // In one file a format's records may stand among others' (a log of several kinds).
    if (this.found && !this.#format.fits(record)) {
      return this.fail(line, this.#misfit(record, this.#format));
    }
    const format = this.#format;
    this.#tried(line, () => this.#take(record, format, line, size, text));
  }

  /** Does it; what a record has wrong is noted. */
  #tried(line: number, act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(
        error instanceof TypeError ||
        error instanceof RangeError ||
        error instanceof SyntaxError
      )) {
        throw error;
      }
      this.fail(line, error.message);
    }
  }

  #misfit(record: FileRecord, format: RolloutFormat): string {
    const keys = Object.keys(record).slice(0, 12).join(", ");
    return `a record must be one of ${format.title}, got the fields ${keys || "none"}`;
  }

  #take(
    record: FileRecord,
    format: RolloutFormat,
    line: number,
    size: number,
    text?: string,
  ): void {
    this.#file!.format = format.name;
    this.formats.add(format);
    const context = {
      ...{ step: this.#step, notes: this.#notes.get(format) },
      ...{ scoreColumns: this.#options.scoreColumns, text },
    };
    if (format.together && (format.joins?.(record) ?? true)) {
      const before = (this.#together ??= format.together(context)).add(record);
      if (before) this.#tell(before, this.#begun);
      this.#begun = before
        ? { line, size }
        : { line: this.#begun.line || line, size: this.#begun.size + size };
      return;
    }
    this.#tell(format.read(record, context), { line, size });
  }

  /** Takes in what was understood. */
  #tell(understood: Understood | undefined, { line, size }: { line: number; size: number }): void {
    const file = this.#file!;
    const format = this.#format!;
    const rows = understood?.rows ?? [];
    for (const row of rows) {
      // Rows of one record share its characters.
      this.#keep({ ...row, place: { file: file.path, line } }, format, size / rows.length);
    }
    for (const [i, tree] of (understood?.trees ?? []).entries())
      this.addTree(tree, format, understood?.scores?.[i]);
    for (const row of understood?.counted ?? []) {
      this.steps.count(row);
      file.rows++;
      this.rows++;
    }
  }

  /** Takes a whole tree in. */
  addTree(tree: RolloutTree, format: RolloutFormat, scores?: PromptRows["scores"]): void {
    const file = this.#file!;
    file.format = format.name;
    this.formats.add(format);
    this.carried.countTree(format);
    file.rows += tree.trajectories.length;
    this.rows += tree.trajectories.length;
    for (const trajectory of tree.selected) {
      this.steps.count({
        step: this.#step,
        numbers: { tokens: trajectory.tokens.length },
      });
    }
    this.prompts.push({ rows: [], step: this.#step, tree, ...defined({ scores }) });
  }

  #keep(row: PlacedRow, format: RolloutFormat, size: number): void {
    this.rows++;
    this.#file!.rows++;
    this.carried.count(row, format);
    this.steps.count(row);
    const key = keyOf(row);
    let prompt = this.#byKey.get(key);
    if (!prompt) {
      const full =
        this.#kept.rows >= this.#share.rows || this.#kept.characters >= this.#share.characters;
      if (full) {
        this.left++;
        return;
      }
      prompt = { rows: [], step: row.step };
      this.#byKey.set(key, prompt);
      this.prompts.push(prompt);
    } else if (this.#kept.characters >= 2 * this.#options.characters) {
      // The rest of a prompt that was begun is kept, but not without end.
      this.left++;
      return;
    }
    // The prompt stands once.
    prompt.rows.push(prompt.rows[0] ? { ...row, prompt: prompt.rows[0].prompt } : row);
    this.#kept.rows++;
    this.#kept.characters += size;
  }

  /** Notes a line that cannot be read; throws where there are too many. */
  fail(line: number, reason: string): void {
    const { path: file } = this.#file!;
    this.broken.push({ file, line, reason });
    if (this.broken.length <= this.#options.broken) return;
    throw new SyntaxError(
      `Cannot import rollouts: at most ${this.#options.broken} lines may be broken, got ${this.broken.length}, the last in ${file}, line ${line}: ${reason}`,
    );
  }

  /** Throws unless the file that was read last held rollouts. */
  mustBeFound(): void {
    if (this.found) return;
    const { path } = this.#file!;
    const first = this.broken.find(({ file }) => file === path);
    const got = this.#firstKeys
      ? `records with the fields ${this.#firstKeys}`
      : first
        ? `a line ${first.line} of which ${first.reason}`
        : "no record";
    throw new SyntaxError(
      `Cannot import rollouts from ${path}: it must be one of ${this.known.map(({ name }) => name).join(", ")}, got ${got}`,
    );
  }
}
