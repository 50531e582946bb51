/**
 * Decodes the escapes in a text of a workbook: `_x000D_` is the character of that number, `_x005F_` is an underscore, and `_x005F_x000D_` is
 * therefore `_x000D_` as a person typed it. Source: ECMA-376, 22.9.2.19.
 */
export function xstring(text: string): string {
  return text.includes("_x") ? text.replaceAll(ESCAPE, (_, code: string) => characterOf(code)) : text;
}

/** Decodes texts that have no escapes according to the standard, but in which programs escape control characters. */
export function withoutControlEscapes(text: string): string {
  return text.includes("_x00") ? text.replaceAll(CONTROL, (_, code: string) => characterOf(code)) : text;
}

function characterOf(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}

const ESCAPE = /_x([\dA-F]{4})_/giu;
const CONTROL = /_x(00[01][\dA-F])_/giu;
