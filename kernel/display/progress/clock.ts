/** Seconds as `0:07`, `12:34` or `1:02:03`. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const pad = (n: number): string => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
}

/** Steps a second, or seconds a step where that reads better. */
export function rateText(perSecond: number): string {
  if (!(perSecond > 0) || !Number.isFinite(perSecond)) return "";
  return perSecond >= 1
    ? `${perSecond >= 100 ? Math.round(perSecond) : Number(perSecond.toPrecision(3))}/s`
    : `${Number((1 / perSecond).toPrecision(3))} s each`;
}
