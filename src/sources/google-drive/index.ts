import { isNamedIn } from "#sources/in-scope.ts";
import type { Batching } from "#sources/session.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { LimitSpec } from "#sources/http-contract.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { browseDrive } from "./browse.ts";
import { checkDrive } from "./check.ts";
import { makeClient } from "./client.ts";
import { DRIVE_SCOPE, GOOGLE, GoogleDriveConfig, GoogleDriveCredentials, type GooglePlaces } from "./config.ts";
import { readDriveFile } from "./content.ts";
import { makeAddressBook } from "./directory.ts";
import { syncGooglePeople } from "./people.ts";
import { driveSessions } from "./sync.ts";
import { makeDriveWebhook } from "./webhook.ts";

/**
 * The 403 responses that are rate limits. Source:
 * https://developers.google.com/workspace/drive/api/guides/handle-errors
 */
const FORBIDDEN: NonNullable<LimitSpec["forbidden"]> = [
  {
    path: "error.errors.*.reason",
    values: [
      "userRateLimitExceeded",
      "rateLimitExceeded",
      "dailyLimitExceeded",
      "quotaExceeded",
      "sharingRateLimitExceeded",
    ],
  },
];

/** A quarter of Google's limit for a user. Source: https://developers.google.com/workspace/drive/api/guides/limits */
const LIMITS: LimitSpec = { perMinute: 3_000, burst: 100 };

export interface GoogleDriveOptions {
  places?: GooglePlaces;
  limits?: LimitSpec;
  batching?: Partial<Batching>;
}

/** Makes the source for files of Google Drive, readable by their readers there. */
export function makeGoogleDriveSource({
  places = GOOGLE,
  limits = LIMITS,
  batching = {},
}: GoogleDriveOptions = {}): Source<GoogleDriveConfig> {
  const book = makeAddressBook();
  const open = (ctx: SourceContext<GoogleDriveConfig>) => makeClient(ctx, places);
  const { tokenUrl } = places;
  return {
    spec: {
      providerId: "google-drive",
      name: "Google Drive",
      kinds: ["file"],
      auth: [
        { type: "credentials", scheme: "key_file", key: "key", subject: "subject", tokenUrl, scopes: [DRIVE_SCOPE] },
        { type: "account", provider: "google" },
      ],
      config: GoogleDriveConfig,
      credentials: GoogleDriveCredentials,
      origins: [places.directoryUrl],
      limits: { ...limits, forbidden: FORBIDDEN },
      acl: "per_item",
      // A change to a folder above a file may not be in the file's log.
      freshness: "access",
      hasPeople: true,
      instances: [places.apiUrl],
      links: {
        hosts: [/^(?:docs|drive|sheets|slides)\.google\.com$/],
        tails: [{ pattern: /\/(?:edit|view|preview|copy|htmlview)$/, kept: "" }],
      },
    },
    check: (ctx) => checkDrive(ctx, open(ctx)),
    sessions: { ...driveSessions(open, book), batching },
    syncIdentities: (ctx, run) => syncGooglePeople(ctx, open(ctx), book, run),
    browse: (ctx, at) => browseDrive(ctx, open(ctx), at),
    webhook: makeDriveWebhook(open),
    fetchContent: (ctx, item) => readDriveFile(ctx, open(ctx), item),
    inScope: (scope, { containers }) =>
      isNamedIn(scope, ...containers.flatMap(({ type, id }) => (type === "folder" ? [id] : []))),
    childRules: (config) => makeChildRules(config),
    baseUrlOf: () => places.apiUrl,
  };
}
