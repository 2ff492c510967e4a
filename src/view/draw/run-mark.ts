/** The outline of a run's mark, of half the width `r` around a place: runs differ by shape as well as by colour. */
export function runMark(run: number, x: number, y: number, r: number): string {
  const [a, b] = [Number((0.88 * r).toFixed(2)), Number((1.25 * r).toFixed(2))];
  const at = `${x.toFixed(1)} ${y.toFixed(1)}`;
  return [
    `M${at}m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    `M${at}m${-a} ${-a}h${2 * a}v${2 * a}h${-2 * a}z`,
    `M${at}m0 ${-b}l${b} ${b}l${-b} ${b}l${-b} ${-b}z`,
    `M${at}m0 ${-b}l${b} ${2 * a}h${-2 * b}z`,
    `M${at}m0 ${b}l${b} ${-2 * a}h${-2 * b}z`,
  ][run % 5]!;
}
