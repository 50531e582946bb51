import { pino, type DestinationStream } from "pino";
import type { Log } from "#server/ports/clock.ts";

/** Field names whose values never reach a log line, at any of the depths our own lines have. */
const SECRET_FIELDS = [
  "authorization",
  "cookie",
  "token",
  "password",
  "plaintext",
  "key",
  "secret",
  "setupCode",
  "credentials",
];

/** Structured log lines (JSON, one per line) on `destination`, with secrets removed. */
export function makeLog(level: string, destination: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: "[removed]",
      },
    },
    destination,
  );
}
