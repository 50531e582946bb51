import { z } from "zod";
import { canParseUrl } from "#api/parse-url.ts";
import { normalizeBaseUrl } from "#core/base-url.ts";

/** A config key for the address of a server. */
export function baseUrlKey(message: string) {
  return z
    .string()
    .max(2_048)
    .refine((text) => normalizeBaseUrl(text) !== undefined, message);
}

/** The address in one form, without a slash at its end. */
export function baseUrlOf({ url }: { url: string }): string {
  return normalizeBaseUrl(url) ?? url;
}

/** An address of HTTP that holds no credentials, query or fragment. */
export function isHttpUrl(text: string): boolean {
  if (!canParseUrl(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "" && !/[?#]/.test(text);
}
