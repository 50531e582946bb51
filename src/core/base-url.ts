import { canParseUrl } from "#api/parse-url.ts";
/**
 * Returns a base URL (origin and path) in the one form used for comparison; undefined if the text isn't one. The path
 * matters: on one host, different people may each control a path. Source: S2.
 */
export function normalizeBaseUrl(text: string): string | undefined {
  const trimmed = text.trim();
  if (!canParseUrl(trimmed)) return undefined;
  const url = new URL(trimmed);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/**
 * Returns the name of an instance in principals: the base URL without the usual scheme, and with the tenant if the
 * server reports one.
 */
export function instanceName(baseUrl: string, tenantId: string | undefined): string {
  const name = baseUrl.replace(/^https:\/\//, "");
  return tenantId === undefined ? name : `${name}#${tenantId}`;
}
