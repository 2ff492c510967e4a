import {
  DefaultSchemaValidator,
  type ISchemaValidator,
  type ISettingRegistry,
  SettingRegistry as Registry,
} from "@jupyterlab/settingregistry";

export * from "@jupyterlab/settingregistry";

/** The part of JSON schema that says what a setting is without being set. */
interface Schema {
  $ref?: string;
  default?: unknown;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: boolean | Schema | Schema[];
}

type Json = Record<string, unknown>;

// The page is built from its own folder and cannot reach common/.
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function resolve(root: Schema, ref: string): Schema | undefined {
  let found: unknown = root;
  for (const part of ref.replace(/^#\/?/, "").split("/")) {
    found = isObject(found) ? found[part] : undefined;
  }
  return found as Schema | undefined;
}

/** Fills in what `schema` says by default where `data` has nothing, as ajv's `useDefaults` does. */
function fillDefaults(schema: unknown, data: unknown, root = schema as Schema): void {
  if (!isObject(schema)) return;
  const {
    $ref,
    allOf,
    anyOf,
    oneOf,
    properties = {},
    patternProperties = {},
    additionalProperties,
    items,
  } = schema as Schema;
  if ($ref !== undefined) fillDefaults(resolve(root, $ref), data, root);
  for (const part of allOf ?? []) fillDefaults(part, data, root);
  // Alternatives fill in nothing, but a definition that has references is filled in wherever it is used.
  for (const { $ref: other } of [...(anyOf ?? []), ...(oneOf ?? [])]) {
    const found = other === undefined ? undefined : resolve(root, other);
    if (JSON.stringify(found ?? {}).includes('"$ref"')) fillDefaults(found, data, root);
  }
  if (Array.isArray(data)) {
    data.forEach((item, i) => fillDefaults(Array.isArray(items) ? items[i] : items, item, root));
  }
  if (!isObject(data)) return;
  for (const [key, inner] of Object.entries(properties)) {
    if (data[key] === undefined && inner.default !== undefined) {
      data[key] = structuredClone(inner.default);
    }
    fillDefaults(inner, data[key], root);
  }
  for (const [key, value] of Object.entries(data)) {
    const patterns = Object.keys(patternProperties).filter((p) => new RegExp(p, "u").test(key));
    for (const pattern of patterns) fillDefaults(patternProperties[pattern], value, root);
    if (!(key in properties) && patterns.length === 0)
      fillDefaults(additionalProperties, value, root);
  }
}

// Stands for @jupyterlab/settingregistry in the page (build.mjs puts it there).

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
