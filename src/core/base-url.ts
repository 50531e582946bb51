import { canParseUrl } from "#api/parse-url.ts";
/**
 * A base URL (origin and path) in the one form used for comparison; undefined if it isn't one. Its path counts: on one
 * host, people may serve what they like below a path of their own. Source: S2.
 */
export function normalizeBaseUrl(text: string): string | undefined {
  const trimmed = text.trim();
  if (!canParseUrl(trimmed)) return undefined;
  const url = new URL(trimmed);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** How principals name an instance: without the usual scheme, and with the tenant if its server reports one. */
export function instanceName(baseUrl: string, tenantId: string | undefined): string {
  const name = baseUrl.replace(/^https:\/\//, "");
  return tenantId === undefined ? name : `${name}#${tenantId}`;
}
