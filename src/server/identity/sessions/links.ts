import type { Parts } from "#storage/records/parts.ts";
import { ApiError } from "#api/errors.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import type { LinkPurpose, LinkRecord } from "#storage/records/links.ts";
import type { Store } from "#storage/records/store.ts";

export interface NewLink extends Pick<LinkRecord, "purpose" | "userId" | "email" | "isMailed"> {
  lifetimeMs: number;
  details?: Record<string, unknown>;
}

/** Links that were mailed or handed over. They contain 256 random bits, work once, and are stored only as SHA-256. */
export type LinkService = ReturnType<typeof makeLinkService>;

/** Milliseconds for which an ended link is kept. It is no longer read. */
const KEPT_MS = 86_400_000;

/** The page of a link, by the link's purpose. */
const PAGES: Readonly<Record<LinkPurpose, string>> = {
  sign_up: "/confirm",
  verification: "/confirm",
  email_change: "/confirm",
  password_reset: "/reset-password",
};

export function makeLinkService(
  options: Pick<Parts, "store" | "clock" | "randomBytes"> & {
    baseUrl: string;
  },
) {
  const { store, clock, randomBytes, baseUrl } = options;
  return {
    /** Stores a link in the caller's transaction. The returned URL is the only copy of the secret. */
    async add(tx: Store, { lifetimeMs, details = {}, ...link }: NewLink): Promise<{ url: string; expiresAt: number }> {
      const secret = randomSecret(randomBytes);
      const createdAt = clock.now();
      const expiresAt = createdAt + lifetimeMs;
      await tx.links.sweep(createdAt - KEPT_MS);
      await tx.links.insert({ ...link, details, tokenHash: hashSecret(secret), createdAt, expiresAt });
      // The secret is after `#`, since a fragment never appears in a server log.
      return { url: `${baseUrl}${PAGES[link.purpose]}#token=${secret}`, expiresAt };
    },

    /** Finds the open link with this secret and one of these purposes. @throws ApiError `link_invalid` */
    async get(secret: string, purposes: readonly LinkPurpose[]): Promise<LinkRecord> {
      const link = await store.links.findOpen(hashSecret(secret), clock.now());
      if (!link || !purposes.includes(link.purpose)) throw linkInvalid();
      return link;
    },

    /**
     * Uses up the link in the caller's transaction. Only the first of several concurrent requests succeeds.
     *
     * @throws ApiError `link_invalid`
     */
    async use(tx: Store, secret: string): Promise<void> {
      if (!(await tx.links.use(hashSecret(secret), clock.now()))) throw linkInvalid();
    },
  };
}

/** The error has the same text for every reason. */
export function linkInvalid(): ApiError {
  return new ApiError("link_invalid", { message: "This link is unknown, used or expired. Ask for a new one." });
}
