// What a token of a GGUF file is, by its number there.

/** Ordinary text. */
export const normal = 1;
/** A special token: decoding can leave it out. */
export const control = 3;
/** A whole piece that is ordinary text, such as a tag around a tool call. */
export const userDefined = 4;
/** An id that no text gives. */
export const unused = 5;
