import { rfc3339 } from "./properties.ts";

/** Formats a comment as one line: author, date, text. */
export function commentLine(author: string | undefined, date: string | undefined, text: string): string {
  const day = rfc3339(date ?? "")?.slice(0, 10);
  const who = [author?.trim() ?? "", day ?? ""].filter((part) => part !== "").join(", ");
  return who === "" ? text : `${who}: ${text}`;
}
