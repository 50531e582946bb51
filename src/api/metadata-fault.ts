import { z } from "./route.ts";

/**
 * A part of an MCP server's OAuth metadata that kb can't use. The values are foreign: only the start of a URL in them
 * is shown, as printable ASCII without user name, query and fragment, at most 200 characters. Source: S31.
 */
export const MetadataFault = z.object({
  /** Name of the metadata field, such as `resource` or `issuer`; `metadata` for the document itself. */
  field: z.enum([
    "metadata",
    "resource",
    "authorization_servers",
    "issuer",
    "code_challenge_methods_supported",
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
  ]),
  /** `missing`: the value isn't there; `differs`: it isn't `expected`; `unusable`: it can't be a valid value. */
  problem: z.enum(["missing", "differs", "unusable"]),
  /** The found value; null when it isn't a URL, or missing. */
  found: z.string().nullable(),
  /** The required value; for a missing value, where kb looked for it. */
  expected: z.string().nullable(),
});
export type MetadataFault = z.infer<typeof MetadataFault>;
