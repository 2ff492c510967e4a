/** Whether an advantage makes its token less likely; what sums leave of their last bits does not. */
export const isLess = (value: number): boolean => value < -1e-9;
