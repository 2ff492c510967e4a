/** The explorer's buttons, menus, sliders and tables. */
export const controlStyle = `
.arpo-view .ax .ax-bar{display:flex;flex-wrap:nowrap;gap:8px;align-items:center;margin:12px 0 8px;min-width:0}
.arpo-view .ax .ax-grow{flex:1}
.arpo-view .ax .ax-button{display:inline-flex;align-items:center;justify-content:center;gap:6px;min-height:var(--tap);padding:0 11px;border:1px solid var(--line);border-radius:8px;background:var(--raised);color:var(--ink);font:500 13px/1 var(--sans);cursor:pointer;white-space:nowrap;transition:background var(--speed),border-color var(--speed)}
.arpo-view .ax .ax-button:hover:not(:disabled){background:var(--surface);border-color:var(--line-strong)}
.arpo-view .ax .ax-button[aria-pressed=true],.arpo-view .ax .ax-button[aria-expanded=true]{background:var(--accent-soft);border-color:var(--accent);color:var(--accent)}
.arpo-view .ax .ax-button:disabled{opacity:.45;cursor:default}
.arpo-view .ax .ax-button.ax-primary{background:var(--accent);border-color:var(--accent);color:var(--accent-ink)}
.arpo-view .ax .ax-square{padding:0;width:var(--tap);flex:none}
.arpo-view .ax .ax-quiet{border-color:transparent;background:transparent}
.arpo-view .ax .ax-icon{width:16px;height:16px;flex:none}
.arpo-view .ax .ax-segments{display:inline-flex;border:1px solid var(--line);border-radius:8px;overflow:hidden;background:var(--raised)}
.arpo-view .ax .ax-segments button{min-height:calc(var(--tap) - 2px);border:0;border-radius:0;border-left:1px solid var(--line);background:none;padding:0 10px;color:var(--ink-2);font:500 13px/1 var(--sans);cursor:pointer;white-space:nowrap}
.arpo-view .ax .ax-segments button:first-child{border-left:0}
.arpo-view .ax .ax-segments button:hover{background:var(--surface)}
.arpo-view .ax .ax-segments button[aria-pressed=true]{background:var(--accent-soft);color:var(--accent);font-weight:600}
.arpo-view .ax .ax-segments button:focus-visible{outline-offset:-2px}
.arpo-view .ax .ax-segments b{font-weight:600;font-variant-numeric:tabular-nums}
.arpo-view .ax .ax-short{display:none}
.arpo-view .ax .ax-zoom{display:inline-flex}
.arpo-view .ax .ax-zoom .ax-button{border-radius:0 8px 8px 0;font-size:16px}
.arpo-view .ax .ax-zoom .ax-button:first-child{border-radius:8px 0 0 8px;border-right:0}
.arpo-view .ax .ax-popover{position:relative}
.arpo-view .ax .ax-menu{position:absolute;z-index:40;right:0;top:calc(100% + 6px);width:250px;max-width:calc(100cqw - 24px);padding:6px;background:var(--raised);border:1px solid var(--line);border-radius:12px;box-shadow:var(--shadow)}
.arpo-view .ax .ax-menu>button{display:flex;width:100%;justify-content:space-between;gap:16px;align-items:center;min-height:var(--tap);padding:0 10px;border:0;border-radius:6px;background:none;color:var(--ink);font:400 13px/1.2 var(--sans);text-align:left;cursor:pointer;white-space:nowrap}
.arpo-view .ax .ax-menu>button:hover,.arpo-view .ax .ax-menu>button:focus-visible{background:var(--surface)}
.arpo-view .ax .ax-menu small{color:var(--ink-2);font-size:11px}
.arpo-view .ax .ax-menu .ax-field,.arpo-view .ax .ax-menu .ax-check{padding:5px 10px}
.arpo-view .ax .ax-field{display:grid;grid-template-columns:1fr auto;gap:2px 8px;align-items:center;font-size:13px}
.arpo-view .ax .ax-field>span{color:var(--ink-2)}
.arpo-view .ax .ax-field output{font-variant-numeric:tabular-nums;font-weight:600}
.arpo-view .ax .ax-field input,.arpo-view .ax .ax-field .ax-select{grid-column:1/-1}
.arpo-view .ax .ax-field small{grid-column:1/-1;font-size:11px;color:var(--ink-2)}
.arpo-view .ax .ax-off>span,.arpo-view .ax .ax-off output{opacity:.75}
.arpo-view .ax .ax-fields{display:grid;gap:10px}
.arpo-view .ax .ax-check{display:flex;gap:8px;align-items:center;min-height:28px;font-size:13px;cursor:pointer}
.arpo-view .ax .ax-check input{accent-color:var(--accent);width:16px;height:16px;margin:0}
.arpo-view .ax .ax-select{min-height:var(--tap);padding:0 8px;border:1px solid var(--line);border-radius:8px;background:var(--raised);color:var(--ink);font:500 13px/1 var(--sans);width:100%}
.arpo-view .ax .ax-select option{color:var(--ink);background:var(--raised)}
.arpo-view .ax .ax-slider{appearance:none;-webkit-appearance:none;width:100%;height:24px;background:none;margin:0;padding:0;border:0;cursor:pointer;--p:50%}
.arpo-view .ax .ax-slider::-webkit-slider-runnable-track{height:4px;border-radius:2px;background:linear-gradient(to right,var(--accent) var(--p),var(--line-strong) var(--p))}
.arpo-view .ax .ax-slider::-moz-range-track{height:4px;border-radius:2px;background:linear-gradient(to right,var(--accent) var(--p),var(--line-strong) var(--p))}
.arpo-view .ax .ax-slider::-webkit-slider-thumb{-webkit-appearance:none;appearance:none;width:18px;height:18px;margin-top:-7px;border-radius:50%;background:var(--raised);border:2px solid var(--accent)}
.arpo-view .ax .ax-slider::-moz-range-thumb{width:14px;height:14px;border-radius:50%;background:var(--raised);border:2px solid var(--accent)}
.arpo-view .ax .ax-slider:disabled{opacity:.4;cursor:default}
.arpo-view .ax .ax-chip{display:inline-flex;align-items:center;height:22px;padding:0 8px;border-radius:5px;border:1px solid transparent;font:500 12px/1 var(--sans);white-space:nowrap}
.arpo-view .ax .ax-chip.ax-right{background:var(--right-soft);color:var(--right)}
.arpo-view .ax .ax-chip.ax-wrong{background:var(--wrong-soft);color:var(--wrong)}
.arpo-view .ax .ax-chip.ax-plain{background:var(--surface-2);color:var(--ink-2)}
.arpo-view .ax .ax-chip.ax-new{background:var(--accent-soft);color:var(--accent);border:1px dashed var(--accent)}
.arpo-view .ax .ax-count{width:58px;min-height:var(--tap);font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--line-strong);border-radius:8px;padding:0 6px}
.arpo-view .ax textarea{width:100%;font:12px/1.5 var(--mono);color:var(--ink);background:var(--paper);border:1px solid var(--line-strong);border-radius:8px;padding:6px 8px}
.arpo-view .ax kbd{font:11px var(--mono);border:1px solid var(--line);border-bottom-width:2px;border-radius:4px;padding:0 5px;background:var(--surface);color:var(--ink-2);box-shadow:none}
.arpo-view .ax .ax-keys{white-space:nowrap}
.arpo-view .ax .ax-link{border:0;background:none;color:var(--accent);font:inherit;text-decoration:underline;padding:2px 6px;cursor:pointer}
.arpo-view .ax .ax-table{border-collapse:collapse;width:100%;margin:0;font-size:12px;color:var(--ink);font-variant-numeric:tabular-nums}
.arpo-view .ax .ax-table th{text-align:left;font-weight:600;font-size:11px;color:var(--ink-2);padding:4px 10px 4px 0;border:0;border-bottom:1px solid var(--line);background:none}
.arpo-view .ax .ax-table td{padding:4px 10px 4px 0;border:0;border-bottom:1px solid var(--line);vertical-align:baseline;text-align:left;color:var(--ink)}
.arpo-view .ax .ax-decision .ax-table td:last-child{text-align:right;padding-right:0;font-weight:600;white-space:nowrap}
.arpo-view .ax .ax-decision .ax-table tr:last-child td{border:0}
@container ax (max-width:860px){.arpo-view .ax .ax-button:not(.ax-keeps-label) .ax-label,.arpo-view .ax .ax-wide{display:none}.arpo-view .ax .ax-bar .ax-button:not(.ax-keeps-label){padding:0;width:var(--tap)}}
@container ax (max-width:480px){.arpo-view .ax .ax-zoom,.arpo-view .ax .ax-long,.arpo-view .ax .ax-bar .ax-label{display:none}.arpo-view .ax .ax-short{display:inline}.arpo-view .ax .ax-bar{gap:6px}.arpo-view .ax .ax-bar .ax-button{padding:0;width:var(--tap)}.arpo-view .ax .ax-segments button{padding:0 7px;font-size:12px}.arpo-view .ax .ax-popover:not(:last-child) .ax-menu{right:-52px}}
`;
