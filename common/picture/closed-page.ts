/** The policy of a page that asks nobody anything and sends nothing, whatever is shown in it. */
const closedPage =
  "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; " +
  "img-src data: blob:; font-src data:; media-src data: blob:; worker-src blob:; " +
  "connect-src data: blob:; base-uri 'none'; form-action 'none'";

/** The policy as a page's own first element: the browser holds a page to it that is opened from a file. */
export const closedPageMeta = `<meta http-equiv="Content-Security-Policy" content="${closedPage}">`;
