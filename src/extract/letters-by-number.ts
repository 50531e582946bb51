/**
 * Decodes letters that ASCII files write as numbers: `\u00fc` is ü. Controls, ASCII characters and sequences after an escaped backslash are kept as
 * written. Source: RFC 8259, section 7; https://docs.oracle.com/javase/8/docs/api/java/util/Properties.html
 */
export function lettersByNumber(text: string): string {
  return text.replaceAll(/(?<!\\)((?:\\\\){0,20})\\u([\dA-Fa-f]{4})/gu, (all, before: string, code: string) => {
    const letter = String.fromCharCode(Number.parseInt(code, 16));
    return letter < "\u00a0" ? all : before + letter;
  });
}
