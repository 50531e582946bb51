export interface InstallationState {
  /** Set once, by whoever made the first admin; the gate of onboarding. Source: S35. */
  completedAt: Date | null;
  setupCodeHash: string | null;
  setupCodeExpiresAt: Date | null;
  /** Wrong tries since the code was made. */
  setupCodeTries: number;
}

export interface LocalRootRecord {
  rootId: string;
  path: string;
  createdBy: string;
  createdAt: Date;
}

/** What belongs to the installation and to no workspace. */
export interface InstallationStore {
  state(): Promise<InstallationState>;
  /** Replaces the setup code and its count of tries. */
  setSetupCode(hash: string, expiresAt: Date): Promise<void>;
  countSetupTry(): Promise<void>;
  /**
   * True for exactly one caller: the first ever, and the first with the hash of a code that was made since. The setup
   * code goes.
   */
  complete(at: Date, setupCodeHash?: string): Promise<boolean>;
  listLocalRoots(): Promise<LocalRootRecord[]>;
  /** The record of this path, the one that was there before if there was one. */
  addLocalRoot(root: LocalRootRecord): Promise<LocalRootRecord>;
  removeLocalRoot(rootId: string): Promise<boolean>;
}
