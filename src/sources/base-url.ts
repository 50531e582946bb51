import { z } from "zod";
import { canParseUrl } from "#api/parse-url.ts";
import { normalizeBaseUrl } from "#core/base-url.ts";

/** Builds a config key for the address of a server. */
export function baseUrlKey(message: string) {
  return z
    .string()
    .max(2_048)
    .refine((text) => normalizeBaseUrl(text) !== undefined, message);
}

/** Returns the address in its normalized form, without a trailing slash. */
export function baseUrlOf({ url }: { url: string }): string {
  return normalizeBaseUrl(url) ?? url;
}

/** Whether a text is an HTTP or HTTPS address without credentials, query or fragment. */
export function isHttpUrl(text: string): boolean {
  if (!canParseUrl(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "" && !/[?#]/.test(text);
}
