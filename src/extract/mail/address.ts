import { oneLine, singleSpaced } from "#extract/clean.ts";
import { decodeWords, splitOutsideQuotes, unquote } from "./header.ts";

export interface MailAddress {
  name: string;
  email: string;
}

const MAX_ADDRESSES = 200;
const MAX_ADDRESS_LENGTH = 1_000;

/** Parses the addresses of a field such as `To`; the addresses of a group are returned one by one. Source: RFC 5322. */
export function readAddresses(field: string): MailAddress[] {
  const found: MailAddress[] = [];
  for (const piece of splitOutsideQuotes(field.replaceAll(";", ","), ",")) {
    // Longer texts aren't addresses, and searching them for brackets would take time quadratic in their length.
    const address = readAddress(piece.slice(0, MAX_ADDRESS_LENGTH));
    if (address !== undefined) found.push(address);
    if (found.length >= MAX_ADDRESSES) break;
  }
  return found;
}

/** Formats `Ana <ana@one.test>`, or only the name or the address if the other is missing. */
export function addressText({ name, email }: MailAddress): string {
  if (email === "") return name;
  return name === "" ? email : `${singleSpaced(name.replace(/[<>,;]/gu, " "))} <${email}>`;
}

function readAddress(text: string): MailAddress | undefined {
  const angle = /^([\s\S]*?)<([^<>]*)>/u.exec(text);
  const before = angle?.[1] ?? "";
  // The name of a group precedes its first address.
  const words = unquote(before.replace(/^[^"<:]*:/u, "").trim());
  const email = oneLine((angle?.[2] ?? text.replace(/\([^)]*\)/gu, "").replace(/^[^"<:@]*:/u, "")).trim(), 320);
  const comment = /\(([^)]*)\)/u.exec(text)?.[1] ?? "";
  const name = oneLine(decodeWords(words === "" ? comment : words), 200);
  if (email.includes("@")) return { name: name === email ? "" : name, email };
  const only = oneLine(decodeWords(name === "" ? unquote(email) : name), 200);
  return only === "" || /^undisclosed.recipients/iu.test(only) ? undefined : { name: only, email: "" };
}
