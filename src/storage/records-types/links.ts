export type LinkPurpose = "sign_up" | "verification" | "email_change" | "password_reset";

/** A link that was mailed or handed over; its secret is known to its holder only. */
export interface LinkRecord {
  purpose: LinkPurpose;
  /** Null for a sign-up: nobody is there yet. */
  userId: string | null;
  /** The address that the link proves, or that of the account. */
  email: string;
  /** True when this server sent it to `email`: only then it proves the address. Source: S3. */
  isMailed: boolean;
  /** What the purpose needs. */
  details: Record<string, unknown>;
  createdAt: Date;
  expiresAt: Date;
}

/** Links of people, across workspaces. */
export interface LinkStore {
  insert(link: LinkRecord & { tokenHash: string }): Promise<void>;
  /** By the SHA-256 of its secret; undefined when used, ended or expired. */
  findOpen(tokenHash: string, now: Date): Promise<LinkRecord | undefined>;
  /** True for exactly one caller, and only while it is open. */
  use(tokenHash: string, at: Date): Promise<boolean>;
  /** Ends the open links of a person, of all purposes unless told. */
  endOf(userId: string, at: Date, purpose?: LinkPurpose): Promise<void>;
  /** Deletes what expired before. */
  sweep(before: Date): Promise<void>;
}
