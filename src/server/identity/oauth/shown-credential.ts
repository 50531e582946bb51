import type { IncomingMessage } from "node:http";
import { hashSecret } from "#core/secrets.ts";
import { peekForm } from "./form-body.ts";
import type { OAuthRecords } from "./records.ts";

/**
 * The credential in a token request, by grant type: the name of the field, and the model that stores the credential.
 */
const SHOWN: ReadonlyMap<string, readonly [field: string, model: "RefreshToken" | "AuthorizationCode" | "DeviceCode"]> =
  new Map([
    ["refresh_token", ["refresh_token", "RefreshToken"]],
    ["authorization_code", ["code", "AuthorizationCode"]],
    ["urn:ietf:params:oauth:grant-type:device_code", ["device_code", "DeviceCode"]],
  ]);

/**
 * Finds the credential of this server in a token request: the grant of a known refresh token or code, or a device
 * code's hash. Undefined if it was guessed. The library can still read the body.
 */
export async function findShownCredential(
  records: Pick<OAuthRecords, "find">,
  incoming: IncomingMessage,
): Promise<string | undefined> {
  const form = new URLSearchParams(await peekForm(incoming));
  const [field = "", model] = SHOWN.get(form.get("grant_type") ?? "") ?? [];
  const secret = form.get(field);
  if (model === undefined || secret === null || secret === "") return undefined;
  const known = await records.find(model, secret);
  if (known === undefined) return undefined;
  return typeof known.grantId === "string" ? known.grantId : hashSecret(secret);
}
