/** A loss at a point: its gradient by tfjs, and its value with one coordinate moved. */
export interface GradientCase {
  name: string;
  at: readonly number[];
  analytic: readonly number[];
  moved: (coordinate: number, to: number) => number;
}
