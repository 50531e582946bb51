import { z } from "zod";

/** The `maxFileMb` of a config: a larger file has no text, as `description` says. */
export function maxFileMb(description: string) {
  return z.number().min(0.001).max(1024).default(50).meta({ title: "Largest file (MiB)", description });
}

/** For a source that lists larger files and never reads them. */
export const MAX_FILE_MB = maxFileMb("kb does not read the text of larger files; you can still find them by name.");

/** The configured limit in bytes. */
export function maxFileBytes({ maxFileMb }: { maxFileMb: number }): number {
  return Math.floor(maxFileMb * 1024 * 1024);
}
