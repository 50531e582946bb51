import { z } from "./route.ts";

/**
 * What in an MCP server's OAuth metadata kb can't use. The values are a stranger's: of what they say, there is only the start of
 * a URL: printable ASCII without user name, query and fragment, at most 200 characters. Source: S31.
 */
export const MetadataFault = z.object({
  /** As the metadata calls it, such as `resource` or `issuer`; `metadata` for the document itself. */
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
  /** `missing`: it doesn't say this; `differs`: it says something other than `expected`; `unusable`: it can be no such value. */
  problem: z.enum(["missing", "differs", "unusable"]),
  /** What it says; null when that is no URL, or nothing. */
  found: z.string().nullable(),
  /** What kb needs there; for what is missing, where kb looked for it. */
  expected: z.string().nullable(),
});
export type MetadataFault = z.infer<typeof MetadataFault>;
