import { ApiError } from "#api/errors.ts";
import type { S3Config } from "./config.ts";
import { readXml, textOf } from "./xml.ts";

/** Statuses of responses whose body names the error. */
export const TOLD = [301, 307, 400, 403, 404] as const;

export interface Refused {
  status: number;
  headers: Headers;
  /** The part of the response body that was read. */
  text: string;
  /** The attempted action, which determines the missing permission. */
  action: "list" | "read";
}

/** Builds the error for a response that is neither a listing nor an object. The server's own text is never repeated. */
export function failureOf({ status, headers, text, action }: Refused, config: S3Config, host: string): ApiError {
  const { bucket, region } = config;
  const error = errorIn(text, host);
  const code = /^[A-Za-z]{1,60}$/.exec(error.code)?.[0] ?? "";
  const details = { status, ...(code !== "" && { code }) };
  const says = `(HTTP ${status}${code === "" ? "" : ` ${code}`})`;
  const other = [headers.get("x-amz-bucket-region"), error.region].find(
    (name) => name !== null && /^[a-z0-9-]{1,40}$/.test(name) && name !== region,
  );
  if (status === 301 || status === 307 || WRONG_REGION.has(code)) {
    return new ApiError("source_unavailable", {
      message: other
        ? `The bucket ${bucket} is in the region ${other}, not in ${region}.`
        : `${host} sends kb to another address for the bucket ${bucket} ${says}.`,
      hint: other ? `Set region to ${other}.` : "Check the endpoint, the region and pathStyle.",
      field: other || config.endpoint === undefined ? "region" : "endpoint",
      details,
    });
  }
  if (SKEWED.has(code)) {
    return new ApiError("source_unavailable", {
      message: `The clocks of ${host} and of kb's machine differ by too much ${says}.`,
      hint: "Set the clock of kb's machine, for example with NTP.",
      details,
    });
  }
  if (BAD_KEYS.has(code)) {
    return new ApiError("source_unauthorized", {
      message: `${host} does not accept these credentials ${says}.`,
      hint: CREDENTIAL_HINTS[code] ?? "Check the access key ID and the secret access key.",
      field: "credentials",
      details,
    });
  }
  if (code === "InvalidObjectState") {
    return new ApiError("source_forbidden", {
      message: "The object is archived. Restore it so that kb can read it.",
      details,
    });
  }
  if (status === 400 && action === "read" && /encrypt/i.test(error.message)) {
    return new ApiError("source_forbidden", {
      message: "The object is encrypted with a key that only its writer has (SSE-C).",
      details,
    });
  }
  if (status === 403) {
    const right = action === "list" ? "s3:ListBucket" : "s3:GetObject";
    return new ApiError("source_forbidden", {
      message: `${host} does not let these credentials ${action} objects of the bucket ${bucket} ${says}.`,
      hint: `Grant ${right} on ${action === "list" ? "the bucket" : "its objects"}. For a requester pays bucket, set requesterPays to true.`,
      field: "bucket",
      details,
    });
  }
  if (code === "NoSuchBucket") {
    // The response doesn't concern the object, which may still exist.
    return new ApiError(action === "list" ? "source_not_found" : "source_unavailable", {
      message: `${host} has no bucket ${bucket} ${says}.`,
      hint: "Check the name and the endpoint.",
      field: "bucket",
      details,
    });
  }
  if (status === 404 && action === "read" && GONE.has(code)) {
    return new ApiError("source_not_found", { message: `The bucket no longer has this object ${says}.`, details });
  }
  return new ApiError("source_unavailable", {
    message: `${host} isn't answering as an S3 server ${says}.`,
    hint: config.endpoint === undefined ? "Check the bucket and the region." : "Check the endpoint and pathStyle.",
    field: config.endpoint === undefined ? "bucket" : "endpoint",
    details,
  });
}

interface S3Error {
  code: string;
  message: string;
  region: string | null;
}

function errorIn(text: string, host: string): S3Error {
  try {
    const root = readXml(text, host);
    if (root.name === "Error") {
      return {
        code: textOf(root, "Code")?.trim() ?? "",
        message: textOf(root, "Message") ?? "",
        region: textOf(root, "Region")?.trim() ?? null,
      };
    }
  } catch {
    // The body can't be parsed, so only the status is used.
  }
  return { code: "", message: "", region: null };
}

const WRONG_REGION: ReadonlySet<string> = new Set([
  "PermanentRedirect",
  "TemporaryRedirect",
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
]);
const SKEWED: ReadonlySet<string> = new Set(["RequestTimeTooSkewed", "RequestExpired"]);
const BAD_KEYS: ReadonlySet<string> = new Set([
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "InvalidToken",
  "ExpiredToken",
  "TokenRefreshRequired",
  "InvalidSecurity",
]);
const GONE: ReadonlySet<string> = new Set(["NoSuchKey", "NoSuchVersion"]);

const CREDENTIAL_HINTS: Readonly<Record<string, string>> = {
  ExpiredToken: "Temporary credentials expire. Enter new ones, or an access key without a session token.",
  SignatureDoesNotMatch: "Check the secret access key, and the region.",
};
