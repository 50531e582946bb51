import { isApiError } from "#api/errors.ts";
import { NEEDED_HEADER, SSO_HEADER } from "./client.ts";

export const SSO_REASON = "it requires SAML single sign-on: authorize the token for it, under Configure SSO";

/**
 * Returns GitHub's reason for a refusal, if GitHub states one: the permission that the token lacks, or single sign-on.
 */
export function reasonOf(error: unknown): string | undefined {
  if (!isApiError(error)) return undefined;
  const headers: unknown = error.details?.["headers"];
  if (typeof headers !== "object" || headers === null) return undefined;
  const values = new Map<string, unknown>(Object.entries(headers));
  if (typeof values.get(SSO_HEADER) === "string") return SSO_REASON;
  const needed = values.get(NEEDED_HEADER);
  // Accepts only permission names such as `issues=read; metadata=read`, and no other text from a server.
  if (
    typeof needed !== "string" ||
    !/^[a-z_]+=(?:read|write|admin)(?:[;,]\s*[a-z_]+=(?:read|write|admin))*$/.test(needed)
  )
    return undefined;
  return `the token needs ${needed.replaceAll("=", ": ")}`;
}
