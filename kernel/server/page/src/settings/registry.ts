// Stands for @jupyterlab/settingregistry in the page (build.mjs puts it there).
import {
  DefaultSchemaValidator,
  type ISchemaValidator,
  type ISettingRegistry,
  SettingRegistry as Registry,
} from "@jupyterlab/settingregistry";
import { fillDefaults } from "./defaults.js";

/**
 * Checks settings that somebody has set. Compiling the schemas of all plugins took a fifth of the time
 * to the first paint, and where nothing is set there is nothing to check.
 */
export class LazyValidator implements ISchemaValidator {
  #full: DefaultSchemaValidator | undefined;

  /** JupyterLab's own. */
  get full(): DefaultSchemaValidator {
    return (this.#full ??= new DefaultSchemaValidator());
  }

  validateData(
    plugin: ISettingRegistry.IPlugin,
    populate = true,
  ): ISchemaValidator.IError[] | null {
    if (plugin.raw.trim() !== "{}" || plugin.schema.type !== "object")
      return this.full.validateData(plugin, populate);
    if (populate) {
      const composite = {};
      fillDefaults(plugin.schema, composite);
      plugin.data = { composite, user: {} };
    }
    return null;
  }
}

export class SettingRegistry extends Registry {
  constructor(options: ConstructorParameters<typeof Registry>[0]) {
    super({ validator: new LazyValidator(), ...options });
  }
}

export * from "@jupyterlab/settingregistry";
