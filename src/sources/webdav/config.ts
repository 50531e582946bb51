import { isHttpUrl } from "#sources/base-url.ts";
import { digestOf } from "#sources/digest.ts";
import { z } from "zod";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";
import { MAX_FILE_MB } from "#sources/file-scope/file-size.ts";
import { readersKey } from "#sources/file-scope/readers.ts";

/** Config of a folder on a WebDAV server. Unknown keys are errors. */
export const WebdavConfig = z.strictObject({
  url: z
    .string()
    .max(2_048)
    .refine(isHttpUrl, "Give an https:// or http:// address without a user name, a password, ? or #.")
    .meta({
      title: "Folder address",
      description:
        "WebDAV address of the folder to read. In Nextcloud: https://<host>/remote.php/dav/files/<user>/<folder>/.",
    }),
  readers: readersKey("files"),
  maxFileMb: MAX_FILE_MB,
  ...FILE_CHOICES,
});
export type WebdavConfig = z.infer<typeof WebdavConfig>;

/** Credentials of the account. Nextcloud uses app passwords. */
export const WebdavCredentials = z.strictObject({
  username: z.string().min(1).max(500).meta({ title: "User name" }),
  password: z
    .string()
    .min(1)
    .max(2_000)
    .meta({ title: "Password", format: "password", description: "In Nextcloud, use an app password." }),
});

/** Returns the address of the folder, which ends with a slash. */
export function baseOf({ url }: Pick<WebdavConfig, "url">): URL {
  const base = new URL(url);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return base;
}

/**
 * Returns a part of every version, which changes when the config produces different items from the same files. Their
 * readers aren't part of it.
 */
export function configKey(config: WebdavConfig): string {
  return digestOf([baseOf(config).href, config.maxFileMb, config.archives], 8);
}
