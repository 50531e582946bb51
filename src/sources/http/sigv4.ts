import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";

export interface SigV4Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  service: string;
  region: string;
}

/**
 * Returns the headers that sign a request. The body's hash is always part of the signature. Source:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export async function sigV4Headers(
  keys: SigV4Keys,
  request: { method: string; url: URL; headers: Readonly<Record<string, string>>; body: Uint8Array | undefined },
  now: number,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    ...keys,
    method: request.method,
    url: request.url.href,
    headers: {
      // Only headers that the service reads are signed, because proxies may rewrite other headers.
      ...Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.startsWith("x-amz-"))),
      "x-amz-content-sha256": createHash("sha256")
        .update(request.body ?? "")
        .digest("hex"),
    },
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  const { headers } = await signer.sign();
  const signed = ["authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"];
  return Object.fromEntries(signed.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? ""]] : [])));
}
