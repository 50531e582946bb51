/** Messages to the operator: on standard error during start-up, in the log after it. */
import type { ApiError } from "#api/errors.ts";
import type { Log } from "#core/log.ts";

/** Prints the server's address. With a setup code, also prints how to create the first admin. */
export function announceReady(baseUrl: string, setupCode: string | undefined, say: (line: string) => void): void {
  const next =
    setupCode === undefined
      ? [`Sign in with a browser at ${baseUrl}, or run: kb login ${baseUrl}`, `Agents connect to: ${baseUrl}/mcp`]
      : [setupLines(baseUrl, setupCode), `Or create the first admin in a terminal: kb login ${baseUrl}`];
  say([`kb is listening on ${baseUrl}`, ...next].join("\n"));
}

/**
 * Returns the setup code and a link that fills it in. The part after # stays in the browser, so no log or proxy sees
 * it.
 */
export function setupLines(baseUrl: string, code: string): string {
  return `Setup code: ${code} (valid for 24 hours)\nSetup link: ${baseUrl}/welcome#code=${code}`;
}

/** Logs once when the database becomes read-only, and once when it can be written again. */
export function announceHealth(fault: ApiError | undefined, { log, file }: { log: Log; file: string }): void {
  switch (fault?.code) {
    case undefined:
      return log.warn({ database: file }, "The database is writable again.");
    case "storage_full":
      return log.error({ database: file }, "The disk is full: writes are refused, reads continue. Free disk space.");
    case "database_damaged":
      return log.error(
        { database: file, err: fault },
        "The database is damaged: stop the server and restore a backup.",
      );
    default:
      return log.error(
        { database: file, err: fault },
        "The database can't be used: check its disk and file permissions.",
      );
  }
}

/** Logs once which files other users of this machine could read until now. The files stay private from then on. */
export function announceClosed(closed: readonly string[], log: Log): void {
  if (closed.length === 0) return;
  log.warn(
    { paths: closed },
    "Other users of this machine could read these files; now they can't. If someone else had access to this machine, replace the passwords and keys that connectors use.",
  );
}

/** Reports that the data was restored from an earlier copy, and the consequences. */
export function announceRestored(
  { dataDir, connectors }: { dataDir: string; connectors: number },
  { log, say }: { log: Log; say: (line: string) => void },
): void {
  const what = `The data folder ${dataDir} was restored or copied: ${connectors} connectors read everything again. Items that mirror their source's permissions stay hidden until they are read. Everyone has to sign in and connect their apps again.`;
  log.warn({ dataDir, connectors }, what);
  say(`Warning: ${what}`);
}
