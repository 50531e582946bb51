import { canParseUrl } from "#api/parse-url.ts";
import { isIP } from "node:net";
import { ApiError } from "#api/errors.ts";

/**
 * A host in one spelling. Odd numbers (`0x7f.1`, `2130706433`, `017700000001`) become the address they mean, as every
 * resolver would read them.
 *
 * @throws ApiError `address_not_allowed` if it isn't a host
 */
export function normalHost(written: string): string {
  const bare = written
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
  if (isIP(bare) === 6) {
    if (bare.includes("%")) throw refused("Addresses with a zone are not supported.");
    return new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  }
  const isPlain = /^[^\s/\\?#@:[\]%]+$/.test(bare);
  if (!isPlain || !canParseUrl(`http://${bare}/`)) {
    throw refused(`${JSON.stringify(written.slice(0, 100))} is not a host name.`);
  }
  return new URL(`http://${bare}/`).hostname;
}

/** Makes the error for an address that requests may not be sent to. */
export function refused(message: string): ApiError {
  return new ApiError("address_not_allowed", { message });
}
