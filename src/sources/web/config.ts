import { isHttpUrl } from "#sources/base-url.ts";
import { digestOf } from "#sources/digest.ts";
import { z } from "zod";
import { maxFileMb } from "#sources/file-scope/file-size.ts";
import { readersKey } from "#sources/file-scope/readers.ts";

export const DEFAULT_AGENT = "kb-connector-search";

/** Config of a website. Unknown keys are errors. */
export const WebConfig = z.strictObject({
  url: z
    .string()
    .max(1_000)
    .refine(isHttpUrl, "Give an https:// or http:// address without a user name, a password, ? or #.")
    .meta({
      title: "Address",
      description: "Where the site begins, such as https://docs.example.com/guide/. kb reads the pages below it.",
    }),
  mode: z.enum(["auto", "sitemap", "crawl"]).default("auto").meta({
    title: "Find pages by",
    description: "sitemap: those that the sitemap names. crawl: by following links. auto: the sitemap if there is one.",
  }),
  maxPages: z.int().min(1).max(50_000).default(1_000).meta({
    title: "Most pages",
    description: "kb indexes the first pages and documents that it finds, up to this many.",
  }),
  maxDepth: z.int().min(0).max(50).default(10).meta({
    title: "Most links from the start",
    description: "How many links away from the address kb reads pages.",
  }),
  documents: z.boolean().default(true).meta({
    title: "Documents",
    description: "Index PDF, Office and text files that the pages link to, if they are below the address.",
  }),
  delaySeconds: z.number().min(0).max(20).default(0).meta({
    title: "Delay (seconds)",
    description:
      "Wait between two requests. kb sends at most 2 a second to a host, and follows Crawl-delay up to 20 s.",
  }),
  userAgent: z
    .string()
    .regex(/^[A-Za-z_-]{2,60}$/, "Use letters, - and _ only.")
    .default(DEFAULT_AGENT)
    .meta({
      title: "Crawler name",
      description: "The name that kb sends as User-Agent, and whose rules in robots.txt it follows.",
    }),
  readers: readersKey("pages"),
  maxFileMb: maxFileMb("kb leaves out larger documents."),
});
export type WebConfig = z.infer<typeof WebConfig>;

const secret = z.string().min(1).max(4_000);

/** Credentials: a user name with a password, or a token. */
export const WebCredentials = z
  .strictObject({
    username: secret.optional().meta({ title: "User name", description: "The user name for Basic sign-in." }),
    password: secret
      .optional()
      .meta({ title: "Password", format: "password", description: "The password of that user." }),
    token: secret.optional().meta({
      title: "Token",
      format: "password",
      description: "Sent as Authorization: Bearer, instead of a user name and password.",
    }),
  })
  .superRefine(({ username, password, token }, context) => {
    const isPair = username !== undefined && password !== undefined;
    const isOne = token === undefined ? isPair : username === undefined && password === undefined;
    if (!isOne) context.addIssue({ code: "custom", message: "Give either a token, or a username with a password." });
  });

/** The part of the web that a connector reads: one origin, and the paths with this prefix. */
export interface Site {
  origin: string;
  host: string;
  /** The path prefix, which begins and ends with a slash. */
  prefix: string;
  start: URL;
}

export function siteOf({ url }: Pick<WebConfig, "url">): Site {
  const start = new URL(url);
  const last = start.pathname.slice(start.pathname.lastIndexOf("/") + 1);
  // `/guide` is a section, `/guide/start.html` a page of one.
  const isSection = last !== "" && !last.includes(".");
  const prefix = isSection ? `${start.pathname}/` : start.pathname.slice(0, start.pathname.length - last.length);
  return { origin: start.origin, host: start.host, prefix, start };
}

/**
 * Returns a part of every version, which changes when the config produces different items from the same pages. Their
 * readers aren't part of it.
 */
export function configKey(config: WebConfig): string {
  return digestOf([siteOf(config).origin, config.maxFileMb], 6);
}
