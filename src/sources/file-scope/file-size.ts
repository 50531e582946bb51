import { z } from "zod";

/** Builds the `maxFileMb` key of a config. The text of a larger file isn't read, as `description` explains. */
export function maxFileMb(description: string) {
  return z.number().min(0.001).max(1024).default(50).meta({ title: "Largest file (MiB)", description });
}

/** The `maxFileMb` key for a source that lists larger files and never reads them. */
export const MAX_FILE_MB = maxFileMb("kb does not read the text of larger files; you can still find them by name.");

/** Returns the configured limit in bytes. */
export function maxFileBytes({ maxFileMb }: { maxFileMb: number }): number {
  return Math.floor(maxFileMb * 1024 * 1024);
}
