const KINDS: Readonly<Record<string, string>> = {
  session: "in a browser",
  pat: "by token",
  oauth: "by client",
  key: "by connector key",
  system: "by the system",
};

/** What an act was done with, as the audit names it (`session:ses_…`, `pat:tok_…`, `system`), in a few words. */
export function describeCredential(credential: string): string {
  const [kind = "", id] = credential.split(":");
  const words = KINDS[kind];
  if (words === undefined) return credential;
  // The id of a session says nothing to anybody.
  return id === undefined || kind === "session" ? words : `${words} ${id}`;
}
