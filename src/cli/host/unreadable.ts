import { readFile } from "node:fs/promises";
import { usageFailure } from "./failure.ts";

/** Reads the text of a file that a person named. @throws CliFailure (usage) that begins with `what` */
export async function readNamed(path: string, what: string): Promise<string> {
  return await readFile(path, "utf8").catch((cause: unknown) => {
    throw usageFailure(`${what} can't be read: ${whyUnreadable(cause)}.`);
  });
}

/** Explains to a person why a file that they named can't be read. */
export function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "you have no permission to read it";
    case "EISDIR":
      return "it is a folder";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}
