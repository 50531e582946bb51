/** The one table of exit codes. Classes of errors come to theirs by `ERROR_CLASSES`; 8, 9 and 130 are the command's own. */
export const EXIT_CODES = [
  { code: 0, name: "ok", meaning: "It worked." },
  { code: 1, name: "failure", meaning: "It failed in a way without a number of its own." },
  { code: 2, name: "usage", meaning: "The command line or a value is wrong." },
  { code: 3, name: "not-found", meaning: "The thing does not exist, or you may not see it." },
  { code: 4, name: "not-signed-in", meaning: "Not signed in, or not allowed." },
  { code: 5, name: "conflict", meaning: "It contradicts what is there." },
  { code: 6, name: "rate-limited", meaning: "Too many requests; wait and repeat." },
  { code: 7, name: "unreachable", meaning: "The server or the network does not answer." },
  { code: 8, name: "finished-with-errors", meaning: "It finished, and some items failed." },
  { code: 9, name: "timed-out", meaning: "The time given with --timeout is over; the work goes on." },
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
