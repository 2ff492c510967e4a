/** How something is drawn. */
export interface Look {
  fill?: string;
  stroke?: string;
  /** Of the stroke (default 1). */
  width?: number;
  dash?: readonly number[];
  alpha?: number;
  /** Radius of corners. */
  round?: number;
  butt?: boolean;
}

export interface TextLook {
  fill: string;
  size?: number;
  weight?: number;
  mono?: boolean;
  align?: "left" | "center" | "right";
  /** Exactly so wide, whatever the font: in files only. */
  wide?: number;
  alpha?: number;
}

/** Bars by colour: of each step of the ramp four numbers per bar, x, y, width and height. */
export type Bars = (number[] | undefined)[];

/** What the drawing draws with: a canvas, or SVG. */
export interface Painter {
  rect: (x: number, y: number, width: number, height: number, look: Look) => void;
  /** In the language of SVG's paths. */
  path: (path: string, look: Look) => void;
  circle: (x: number, y: number, radius: number, look: Look) => void;
  /** Its middle lies at y. */
  text: (x: number, y: number, text: string, look: TextLook) => void;
  bars: (bars: Bars, colours: readonly string[], alpha: number) => void;
  /** Draws inside a rectangle alone. */
  clip: (x: number, y: number, width: number, height: number, draw: () => void) => void;
  /** Copies a picture of pixels, where the painter can. */
  image?: (
    image: CanvasImageSource,
    at: { x: number; y: number; width: number; height: number },
  ) => void;
}
