/** Who somebody is at the provider of single sign-on: by (issuer, subject), never by address. */
export interface SsoIdentityRecord {
  issuer: string;
  subject: string;
  userId: string;
  /** What the person recognises it by. */
  label: string;
  createdAt: Date;
}

/** One trip to the provider. */
export interface SsoFlowRecord {
  stateHash: string;
  /** SHA-256 of the cookie that ties the trip to a browser. */
  browserHash: string;
  /** The session that wants to be linked; null for a sign-in. */
  sessionId: string | null;
  /** Verifier and nonce, sealed by the vault. */
  sealed: string;
  returnTo: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Single sign-on, across workspaces. */
export interface SsoStore {
  findIdentity(issuer: string, subject: string): Promise<SsoIdentityRecord | undefined>;
  /** Oldest first. */
  identitiesOf(userId: string): Promise<SsoIdentityRecord[]>;
  /** False when somebody has this identity already. */
  insertIdentity(identity: SsoIdentityRecord): Promise<boolean>;
  /** All of them, or those that were linked after this moment. */
  removeIdentitiesOf(userId: string, linkedAfter?: Date): Promise<void>;
  insertFlow(flow: SsoFlowRecord): Promise<void>;
  /** Takes the flow out; exactly one caller gets it. */
  takeFlow(stateHash: string): Promise<SsoFlowRecord | undefined>;
  /** Deletes what expired before. */
  sweepFlows(before: Date): Promise<void>;
}
