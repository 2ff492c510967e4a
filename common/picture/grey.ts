// Apart from the palette: a page that draws a grid needs none of its themes.

/** Grey of middle brightness reads on white and on black: grids, frames, and ink where a page gives none. */
export const neutral = "#808080";

/** The same, through which what lies below it is seen. */
export const grey = (alpha: number): string => `rgba(128,128,128,${String(alpha).slice(1)})`;
