/** A call that a model wrote. */
export interface WrittenCall {
  name: string;
  /** Its arguments, by name. */
  arguments: Readonly<Record<string, unknown>>;
  /** What is wrong with it, in words that the model reads. */
  problem?: string;
}

/** A call, and where it stands in the text. */
export interface PlacedCall extends WrittenCall {
  from: number;
  to: number;
  /** Its arguments as JSON, where the model wrote them so and they are to stay as they are. */
  json?: string;
}

/** What reading a call needs to know of a function. */
export interface CallableFunction {
  function: { name: string; parameters?: object | null | undefined };
}

/** How the models of a family write calls: for rollouts and for the server alike. */
export interface CallDialect<Name extends string = string> {
  readonly name: Name;
  /** Whose models write it, or what it looks like. */
  readonly words: string;
  /** Whether a chat shows its functions so, as a template rendered it; absent where no template does. */
  shownIn?(rendered: string): boolean;
  /** The calls of a turn, in order; none where it is an answer. */
  read(text: string, tools: readonly CallableFunction[]): readonly PlacedCall[];
  /**
   * Where a call begins: what follows is not shown while it is written. `anywhere`: the calls of these functions
   * begin with one of these; `message`: a call is the whole message, which begins with this sign.
   */
  readonly begins:
    { anywhere: (functions: readonly string[]) => readonly string[] } | { message: string };
  /** What a call ends with; none where the model's turn ends with it. */
  ends(functions: readonly string[]): readonly string[];
  /** A turn holds one call, and generation ends behind it. */
  readonly isLast?: boolean;
  /** What a call of a function, or of any, begins with where it must be made; nothing where that is not known. */
  opening(name: string | undefined): string;
  /** What stands behind the arguments of a call where they are JSON, which a constraint then holds. */
  readonly closing?: string;
  /** The arguments, as JSON, of a call that was not written to its end: what stands behind its opening. */
  unfinished(begun: string, tool: CallableFunction): string;
  /** How calls and results stand in the assistant's own text, where templates show no functions. */
  readonly inText?: {
    call(name: string, args: string): string;
    result(text: string): string;
  };
}

/** Keeps the name's own type, by which options and configurations know it. */
export const defineDialect = <const Name extends string>(
  dialect: CallDialect<Name>,
): CallDialect<Name> => dialect;
