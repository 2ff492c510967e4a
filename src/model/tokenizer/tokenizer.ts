/** One message of a chat, as chat templates read it. */
export interface ChatMessage {
  role: string;
  content: string;
  /** Functions an assistant's message calls, as templates read them: arguments are objects. */
  tool_calls?: readonly unknown[];
  /** Which call a `tool` message answers. */
  tool_call_id?: string;
  name?: string;
}

/** How a chat becomes a prompt. */
export interface ChatOptions {
  /** End with what begins the assistant's answer. Default: false. */
  addGenerationPrompt?: boolean;
  /**
   * Functions the model may call, as JSON schemas; not every template shows them. Default: none.
   */
  tools?: readonly unknown[];
  /** Further names the template may use, such as `enable_thinking`. Default: none. */
  variables?: Readonly<Record<string, unknown>>;
}

/** A piece of a text, and whether special tokens that are written in it are meant. */
export interface TextPart {
  readonly text: string;
  /** True for a template's own words. False for what a person, a tool or a model wrote. */
  readonly special: boolean;
}

/** Text to tokens and back. */
export interface Tokenizer {
  /** Entries of the vocabulary, added tokens included. */
  readonly vocabSize: number;
  /** The token that ends a response; several models have more than one, this is the first. */
  readonly eosId: number;
  /** Every token that ends a response. */
  readonly eosIds: readonly number[];
  readonly padId: number;
  /** The bytes of the longest token, where it is known: a text has at least its bytes by these tokens. */
  readonly longestToken?: number;
  /** Whether its model was trained to call tools by tags, as models trained here are; absent where nobody knows. */
  readonly knowsTags?: boolean;
  /**
   * Never adds special tokens; special tokens written in the text are recognised.
   * @param text the text to tokenize
   */
  encode(text: string): number[];
  /**
   * As `encode` of the parts' text, but special tokens are recognised only in parts that mean them. Without this
   * method they are recognised everywhere.
   * @param parts the text in pieces
   */
  encodeParts?(parts: readonly TextPart[]): number[];
  /** @param ids token ids */
  decode(
    ids: ArrayLike<number>,
    options?: {
      /** Leave special tokens out of the text. Default: false. */
      skipSpecial?: boolean;
    },
  ): string;
  /**
   * The bytes that a token adds to a text; undefined for special tokens. Without this method a token's bytes are its
   * text's, and tokens that are parts of characters are never allowed by a constraint.
   * @param id a token id
   */
  bytesOf?(id: number): Uint8Array | undefined;
  /**
   * The prompt text of a chat.
   * @param messages the messages, in order
   */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): string;
  /**
   * The same text in parts: only the template's own special tokens are meant.
   * @param messages the messages, in order
   */
  chatParts?(messages: readonly ChatMessage[], options?: ChatOptions): readonly TextPart[];
}
