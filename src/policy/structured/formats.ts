const date =
  "(\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8])))";
const time = "(([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d))";
const byte = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const label = "[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?";
const host = `${label}(\\.${label}){0,4}`;

/** Formats that are held, as patterns: of each, a part that every checker takes. */
export const formats: Readonly<Record<string, string>> = {
  date: `^${date}$`,
  time: `^${time}$`,
  "date-time": `^${date}T${time}$`,
  uuid: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
  ipv4: `^${byte}(\\.${byte}){3}$`,
  hostname: `^${host}$`,
  email: `^[a-z0-9_+-]{1,30}(\\.[a-z0-9_+-]{1,30}){0,4}@${host}\\.[a-z]{2,12}$`,
  uri: `^https?://${host}(/[A-Za-z0-9._~-]{0,200}){0,10}(\\?[A-Za-z0-9._~=&-]{1,200})?$`,
};
