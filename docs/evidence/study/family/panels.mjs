// Small panels, all on one scale: a line per pair and, faint in each, the run without branching under GRPO.
const [width, height, columns] = [150, 86, 6];
const [left, top, right, bottom] = [24, 18, 6, 12];
const head = 26;
const [least, most] = [-0.5, 1.1];

const smooth = (values, over = 5) =>
  values.flatMap((_, i) => {
    const part = values.slice(i + 1 - over, i + 1);
    return i + 1 < over ? [] : [{ step: i + 1, value: part.reduce((a, b) => a + b, 0) / over }];
  });

function panel({ branching, credit, score, heldOut }, steps, faint) {
  const x = (step) => (left + (step / steps) * (width - left - right)).toFixed(1);
  const y = (value) =>
    (top + ((most - value) / (most - least)) * (height - top - bottom)).toFixed(1);
  const line = (values, colour, opacity) =>
    `<polyline fill="none" stroke="${colour}" stroke-opacity="${opacity}" stroke-width="1.4" points="${smooth(
      values,
    )
      .map(({ step, value }) => `${x(step)},${y(value)}`)
      .join(" ")}"/>`;
  const rule = (value) =>
    `<path d="M${left} ${y(value)}H${width - right}" stroke="#888" stroke-opacity=".35" stroke-width=".6"/>` +
    `<text x="${left - 4}" y="${Number(y(value)) + 3}" text-anchor="end">${value}</text>`;
  return [
    `<text x="${left}" y="11"><tspan font-weight="700">${branching}</tspan> · ${credit}</text>`,
    ...[0, 1].map(rule),
    line(faint, "#888", 0.6),
    line(score, "#2281dc", 1),
    ...heldOut.map(
      ({ step, reward }) => `<circle cx="${x(step)}" cy="${y(reward)}" r="2.4" fill="#eb7b2a"/>`,
    ),
  ].join("");
}

export function panels(curves, title) {
  const list = Object.values(curves);
  const steps = Math.max(...list.map(({ score }) => score.length));
  const faint = curves["none.grpo"]?.score ?? [];
  const rows = Math.ceil(list.length / columns);
  const drawn = list.map(
    (curve, i) =>
      `<g transform="translate(${(i % columns) * width} ${head + Math.floor(i / columns) * height})">${panel(curve, steps, faint)}</g>`,
  );
  const size = `${columns * width} ${head + rows * height}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" font-family="system-ui,sans-serif" font-size="8.5" fill="#808080" role="img" aria-label="${title}"><text x="8" y="16" font-size="12">${title}; grey: no branching, GRPO</text>${drawn.join("")}</svg>\n`;
}
