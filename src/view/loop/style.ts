import { explorerStyle } from "../explorer/style.js";

/** A loop looks like the explorer, whose parts it is made of. */
export const loopStyle = `${explorerStyle}
.arpo-view .ax .al-about{margin:3px 0 10px;color:var(--ink-2)}
.arpo-view .ax .al-acts{display:flex;flex-wrap:wrap;gap:6px;margin:0 0 8px}
.arpo-view .ax .al-acts button{display:inline-flex;gap:8px;align-items:center;min-height:max(40px,var(--tap));padding:0 13px;border:1px solid var(--line);border-radius:10px;background:var(--paper);color:var(--ink-2);font:500 14px/1 var(--sans);cursor:pointer}
.arpo-view .ax .al-acts button b{display:inline-grid;place-items:center;width:20px;height:20px;border-radius:50%;background:var(--surface-2);color:var(--ink-2);font-size:12px}
.arpo-view .ax .al-acts button[aria-current=step]{border-color:var(--accent);color:var(--ink);font-weight:600}
.arpo-view .ax .al-acts button[aria-current=step] b{background:var(--accent);color:var(--accent-ink)}
.arpo-view .ax .al-say{font-size:16px;line-height:1.4;min-height:2.8em;margin:0 0 6px;max-width:92ch}
.arpo-view .ax .al-tree{border:1px solid var(--line);border-radius:12px;overflow:hidden}
.arpo-view .ax .al-tree canvas{display:block;width:100%}
.arpo-view .ax .al-train{display:grid;grid-template-columns:auto minmax(0,1fr) minmax(170px,auto);gap:8px 16px;align-items:center;margin-top:10px;padding:10px 14px;border:1px solid var(--line);border-radius:12px;background:var(--surface)}
.arpo-view .ax .al-train .ax-button{min-height:44px;min-width:104px}
.arpo-view .ax .al-curve svg{display:block;width:100%}
.arpo-view .ax .al-curve input{width:calc(100% - 32px);margin-left:31px}
.arpo-view .ax .al-big{font-size:24px;font-weight:650;line-height:1.15;font-variant-numeric:tabular-nums}
.arpo-view .ax .al-note{color:var(--ink-2);font-size:12px;margin-top:8px}
@container ax (max-width:900px){.arpo-view .ax .al-say{min-height:4.2em}}
@container ax (max-width:640px){.arpo-view .ax .al-train{grid-template-columns:minmax(0,1fr)}.arpo-view .ax .al-acts button{padding:0 9px;gap:6px;font-size:13px}.arpo-view .ax .al-say{font-size:15px;min-height:4.2em}.arpo-view .ax .ax-cards{grid-template-columns:minmax(0,1fr)}}
@container ax (max-width:400px){.arpo-view .ax .al-acts{display:grid;grid-template-columns:1fr 1fr}}
`;
