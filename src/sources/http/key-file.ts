import { z } from "zod";
import { ApiError } from "#api/errors.ts";

/** The signer of an assertion, with its private key. */
export interface KeyHolder {
  issuer: string;
  privateKey: string;
}

const KeyFile = z.object({ client_email: z.string().min(3), private_key: z.string().min(1) });

/**
 * Reads the service account of a key file in the format of Google's console. The source defines the token endpoint, so
 * a file can't send the assertion to another address.
 *
 * @throws ApiError `source_unauthorized` if it isn't such a file
 */
export function readKeyFile(text: string): KeyHolder {
  const { data } = KeyFile.safeParse(parse(text));
  if (data) return { issuer: data.client_email, privateKey: data.private_key };
  throw new ApiError("source_unauthorized", {
    message: "The key is not the JSON file of a service account.",
    field: "credentials.key",
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The cause is left out because it repeats the text.
    return undefined;
  }
}
