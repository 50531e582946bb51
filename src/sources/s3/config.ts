import { isHttpUrl } from "#sources/base-url.ts";
import { digestOf } from "#sources/digest.ts";
import { z } from "zod";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";
import { MAX_FILE_MB } from "#sources/file-scope/file-size.ts";
import { readersKey } from "#sources/file-scope/readers.ts";

/** Config of a bucket. Unknown keys are errors. */
export const S3Config = z
  .strictObject({
    endpoint: z
      .string()
      .max(2_048)
      .refine(isEndpoint, "Give an https:// or http:// address without a path, a user name, ? or #.")
      .optional()
      .meta({
        title: "Endpoint",
        description: "Address of the server, such as https://minio.example.com:9000. Leave it empty for Amazon S3.",
      }),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/, "Give a region such as eu-central-1.")
      .default("us-east-1")
      .meta({ title: "Region", description: "Region of the bucket, such as eu-central-1. For Cloudflare R2: auto." }),
    bucket: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/, "Give the name of a bucket, such as team-files.")
      .min(3)
      .max(255)
      .meta({ title: "Bucket", description: "Name of the bucket to read." }),
    prefix: z
      .string()
      .max(900)
      .default("")
      .meta({ title: "Prefix", description: "Read only objects whose keys begin with this, such as docs/." }),
    pathStyle: z.boolean().optional().meta({
      title: "Path style",
      description:
        "Put the bucket's name in the path of the address instead of the host. By default, kb does this only with an endpoint.",
    }),
    requesterPays: z.boolean().default(false).meta({
      title: "Requester pays",
      description: "Read a requester pays bucket. Its requests and downloads are charged to your account.",
    }),
    readers: readersKey("objects"),
    maxFileMb: MAX_FILE_MB,
    ...FILE_CHOICES,
  })
  .refine((config) => !isVirtualHost(config) || /^[a-z0-9-]{3,63}$/.test(config.bucket), {
    message: "A bucket of this name can't be a part of the host name. Set pathStyle to true.",
    path: ["pathStyle"],
  });
export type S3Config = z.infer<typeof S3Config>;

export const S3Credentials = z.strictObject({
  accessKeyId: z.string().trim().min(1).max(200).meta({ title: "Access key ID" }),
  secretAccessKey: z.string().trim().min(1).max(500).meta({ title: "Secret access key", format: "password" }),
  sessionToken: z.string().trim().min(1).max(4_096).exactOptional().meta({
    title: "Session token",
    format: "password",
    description: "Only for temporary credentials, which stop working when they expire.",
  }),
});

function isEndpoint(text: string): boolean {
  return isHttpUrl(text) && new URL(text).pathname === "/";
}

interface Place {
  endpoint?: string | undefined;
  region: string;
  bucket: string;
  pathStyle?: boolean | undefined;
}

/**
 * Whether the bucket's name is part of the host. Amazon's own certificate covers only one label before its host, so a
 * bucket with a dot is part of the path instead.
 */
function isVirtualHost({ endpoint, pathStyle, bucket }: Omit<Place, "region">): boolean {
  return pathStyle === undefined ? endpoint === undefined && /^[a-z0-9-]{3,63}$/.test(bucket) : !pathStyle;
}

/** Returns the URL of the bucket. It ends with a slash, after which a key follows. */
export function bucketUrl(config: Place): string {
  const { endpoint, region, bucket } = config;
  const amazon = `https://s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  const { protocol, host } = new URL(endpoint ?? amazon);
  return isVirtualHost(config) ? `${protocol}//${bucket}.${host}/` : `${protocol}//${host}/${bucket}/`;
}

/**
 * Returns a part of every version, which changes when the config produces different items from the same objects. Their
 * readers aren't part of it.
 */
export function configKey(config: S3Config): string {
  return digestOf([bucketUrl(config), config.maxFileMb, config.archives], 8);
}
