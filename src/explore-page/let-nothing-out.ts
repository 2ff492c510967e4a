/**
 * From here on the page opens no connection, not even to its own host: a policy is added to the page's, and
 * workers that start later have it too. It cannot be taken back.
 */
export function letNothingOut(): void {
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "connect-src 'none'";
  document.head.append(policy);
}
