const punctuation = /^[!-/:-@[-`{-~]*$/;

/** Whether a token says nothing by itself: blank, or ASCII punctuation alone. */
export const isMeaningless = (text: string): boolean => punctuation.test(text.trim());

/** Whether a token's text says that the reasoning is over. */
export const isClosing = (text: string): boolean => /conclusion|answer/.test(text.toLowerCase());
