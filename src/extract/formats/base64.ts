import { localName } from "#extract/local-name.ts";

/** True for bytes encoded as text: at least 256 characters of base64 in long runs, and nothing else. */
export function isBase64(text: string): boolean {
  if (text.length < MIN_LENGTH) return false;
  const runs = text.trim().split(/\s+/u);
  const length = runs.reduce((sum, run) => sum + run.length, 0);
  return length >= MIN_LENGTH && length / runs.length >= MIN_RUN && /^[\w+/-]+={0,2}$/u.test(runs.join(""));
}

/** True for a text that consists only of base64 characters, with no minimum length; for elements that are declared to contain bytes. */
export function isBase64Text(text: string): boolean {
  return /^[\w+/=\s-]*$/u.test(text);
}

/** True if the name or attributes of an element, or the document, declare that its text is encoded bytes. */
export function saysBase64(name: string, attributes: Readonly<Record<string, string>>, root = name): boolean {
  const local = localName(name).toLowerCase();
  if (ELEMENTS.has(local) || (root === "plist" && local === "data")) return true;
  return Object.values(attributes).some((value) => value.length < 40 && TYPE.test(value));
}

const ELEMENTS = new Set(["binary", "base64", "base64binary", "bindata"]);
const TYPE = /^(?:[\w-]{1,20}:)?(?:bin\.)?base64(?:binary)?$/iu;

const MIN_LENGTH = 256;
/** Lines of base64 have 60 to 76 characters; words of any language are shorter. */
const MIN_RUN = 40;
