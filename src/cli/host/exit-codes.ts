/** The only table of exit codes. `ERROR_CLASSES` maps error classes to them; the codes 8, 9 and 130 are specific to the command line. */
export const EXIT_CODES = [
  { code: 0, name: "ok", meaning: "It worked." },
  { code: 1, name: "failure", meaning: "Any other failure." },
  { code: 2, name: "usage", meaning: "The command line or a value is wrong." },
  { code: 3, name: "not-found", meaning: "It does not exist, or you can't see it." },
  { code: 4, name: "not-signed-in", meaning: "Not signed in, or not allowed." },
  { code: 5, name: "conflict", meaning: "It conflicts with the current state." },
  { code: 6, name: "rate-limited", meaning: "Too many requests; wait and try again." },
  { code: 7, name: "unreachable", meaning: "The server or the network does not answer." },
  { code: 8, name: "finished-with-errors", meaning: "It finished, and some items failed." },
  { code: 9, name: "timed-out", meaning: "The --timeout passed; the work continues." },
  { code: 130, name: "interrupted", meaning: "Ctrl-C." },
] as const;

export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  notSignedIn: 4,
  conflict: 5,
  rateLimited: 6,
  unreachable: 7,
  finishedWithErrors: 8,
  timedOut: 9,
  interrupted: 130,
} as const;
