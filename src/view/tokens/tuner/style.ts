import { pageColours } from "../../draw/figure-theme.js";

export const tunerStyle = `
${pageColours(".arpo-tuner")}
.arpo-view .arpo-lost{text-decoration:line-through;text-decoration-thickness:2px}
.arpo-view .arpo-kept{text-decoration:underline;text-decoration-thickness:2px}
.arpo-view .arpo-untrained{opacity:.75}
.arpo-tuner .at-knobs{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(210px,100%),1fr));gap:8px 18px;align-items:start;margin:8px 0;padding:10px 12px;border:1px solid var(--line);border-radius:8px}
.arpo-tuner .at-knobs label{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:2px 8px;align-items:center}
.arpo-tuner .at-knobs label.at-check{grid-template-columns:auto minmax(0,1fr);justify-items:start}
.arpo-tuner .at-knobs input[type=range],.arpo-tuner .at-knobs select{grid-column:1/-1;width:100%;min-height:28px}
.arpo-tuner .at-knobs .at-off{opacity:.6}
.arpo-view.arpo-view.arpo-tuner th.arpo-number{white-space:normal}
.arpo-tuner .at-said{font-size:15px;font-weight:600;min-height:2.9em}
.arpo-tuner .at-chart svg{display:block;width:100%}
.arpo-tuner .at-code{white-space:pre-wrap;overflow-wrap:anywhere}
@media (pointer:coarse){.arpo-tuner .at-knobs input[type=range],.arpo-tuner .at-knobs select,.arpo-tuner .at-check input{min-height:44px}}
`;
