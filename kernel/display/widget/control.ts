import type { Comms } from "../../host/host.js";
import type { SplitState } from "./buffers.js";

/** A widget as a page gets it that asks for all. */
interface Wired {
  wireState(): SplitState;
}

interface Registry {
  widgets: Map<string, Wired>;
}

const registries = new WeakMap<Comms, Registry>();

/**
 * The widgets of a session. A page that was reloaded asks for all of them at once over a comm of the
 * target `jupyter.widget.control`.
 */
export function widgetsOf(comms: Comms): Registry["widgets"] {
  const known = registries.get(comms);
  if (known !== undefined) return known.widgets;
  const widgets: Registry["widgets"] = new Map();
  registries.set(comms, { widgets });
  comms.register("jupyter.widget.control", (comm) => {
    comm.onMessage = ({ data }) => {
      if (data["method"] !== "request_states") return;
      const states: Record<string, unknown> = {};
      const paths: (string | number)[][] = [];
      const buffers: Uint8Array[] = [];
      for (const [id, widget] of widgets) {
        const split = widget.wireState();
        const { _model_module, _model_name, _model_module_version } = split.state;
        states[id] = {
          model_name: _model_name,
          model_module: _model_module,
          model_module_version: _model_module_version,
          state: split.state,
        };
        paths.push(...split.paths.map((path) => [id, "state", ...path]));
        buffers.push(...split.buffers);
      }
      comm.send({ method: "update_states", states, buffer_paths: paths }, { buffers });
    };
  });
  return widgets;
}
