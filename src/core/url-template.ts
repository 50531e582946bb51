/**
 * Fills a URL template. `{name}` is encoded, `{+name}` is inserted unchanged, and absent values are left out. Source:
 * RFC 6570, level 2.
 */
export function expandTemplate(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\+?)([A-Za-z0-9_]+)\}/g, (_whole, plus: string, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof value !== "string" && typeof value !== "number") return "";
    return plus === "+" ? String(value).replace(/\/+$/, "") : encodeURIComponent(value);
  });
}
