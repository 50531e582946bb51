/**
 * Resources of `kb admin`. It opens the data folder itself, whether or not a server is running on it. See
 * docs/decisions/0023.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ApiError, isApiError } from "#api/errors.ts";
import { noteKey } from "#storage/key-check.ts";
import { openDataFolder, readFolderKey } from "#storage/data-folder.ts";
import { umaskFor } from "#storage/private-files.ts";
import { openDatabase } from "#storage/database/db.ts";
import { markOutdated } from "#storage/mark-outdated.ts";
import { makeStore, type Store } from "#storage/records/store.ts";
import { makeVault } from "#storage/vault.ts";
import { readSecretKeys } from "./compose/foundation.ts";
import { rekey, type RekeyProgress } from "./rekey.ts";
import { makeAuditService } from "./identity/audit/service.ts";
import { baseUrlOf, loadSettings, type Settings } from "./settings/config.ts";
import { makeCursorCodec } from "./http/cursor.ts";
import { makeNoThrottle } from "./http/throttle.ts";
import type { Clock } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import { makeAccountService } from "./identity/sessions/accounts.ts";
import { type HostAdminService, makeHostAdminService } from "./identity/sessions/host-admin.ts";
import { makeOnboardingService } from "./identity/sessions/onboarding.ts";
import { makePasswords } from "./identity/sessions/passwords.ts";

export interface HostAdmin {
  admin: HostAdminService;
  /** Seals again everything that was sealed with an older key. */
  rekey(onProgress: (progress: RekeyProgress) => void): Promise<RekeyProgress>;
  /** Accepts the current key as the key of this database. */
  acceptKey(): Promise<void>;
  /**
   * Requests a rebuild of every workspace's index. A running server begins within seconds; a stopped server begins when
   * it starts.
   */
  reindex(): Promise<{ workspaces: number; isRunning: boolean }>;
  /** The public address of this server, according to the settings. */
  baseUrl: string;
}

/**
 * Runs `work` with the admin functions of the data folder. If no server is running, the folder is locked while `work`
 * runs. If a server is running, each action is one transaction under SQLite's own lock.
 *
 * @throws ApiError `data_folder_unusable` if there is no installation; `data_folder_in_use` if the running server has
 *   another version
 */
export async function withHostAdmin<T>(
  options: { flags: Record<string, string | undefined>; env: Readonly<Record<string, string | undefined>> },
  work: (host: HostAdmin) => Promise<T>,
): Promise<T> {
  const { settings } = loadSettings({ env: options.env, flags: options.flags });
  const file = requireInstallation(settings);
  const readers = readersOf(settings);
  const folder = lockUnlessRunning(settings.dataDir, readers);
  try {
    const database = await openDatabase({ file, otherWriter: folder === undefined ? "server" : "none" });
    try {
      const reindex = async () => ({
        workspaces: await markOutdated(database.writer),
        isRunning: folder === undefined,
      });
      return await work({ ...makeHostAdmin(settings, makeStore(database)), reindex });
    } finally {
      await database.close();
    }
  } finally {
    folder?.release();
  }
}

/**
 * Returns the database file of an existing installation. From then on, files that this process creates are private.
 *
 * @throws ApiError `data_folder_unusable`
 */
export function requireInstallation(settings: Settings): string {
  const file = join(settings.dataDir, "kb.db");
  if (!existsSync(file)) {
    throw new ApiError("data_folder_unusable", {
      message: `There is no installation in ${settings.dataDir}. Name its folder with --data-dir or KB_DATA_DIR.`,
    });
  }
  process.umask(umaskFor(readersOf(settings)));
  return file;
}

function readersOf({ dataDirGroup }: Settings): "group" | "owner" {
  return dataDirGroup ? "group" : "owner";
}

function lockUnlessRunning(...folder: Parameters<typeof openDataFolder>) {
  try {
    return openDataFolder(...folder);
  } catch (error) {
    if (isApiError(error, "data_folder_in_use")) return undefined;
    throw error;
  }
}

function makeHostAdmin(settings: Settings, store: Store): Omit<HostAdmin, "reindex"> {
  const clock: Clock = { now: () => Date.now() };
  // `kb admin` never requests a page of a list, so no cursor signed with this key is ever issued.
  const audit = makeAuditService({ store, clock, log: SILENT, cursors: makeCursorCodec(randomBytes(32), clock) });
  const accounts = makeAccountService({ clock, randomBytes, audit });
  const passwords = makePasswords();
  const onboarding = makeOnboardingService({
    store,
    clock,
    randomBytes,
    passwords,
    accounts,
    audit,
    throttle: makeNoThrottle(),
    sessions: { open: () => Promise.reject(new Error("Sign-in is not available in this mode.")) },
    log: SILENT,
    entry: { mode: settings.mode, signup: settings.signup, sso: null, canMail: false },
  });
  return {
    admin: makeHostAdminService({ store, clock, passwords, accounts, onboarding, audit }),
    rekey: (onProgress) => {
      const file = { id: "file", key: readFolderKey(settings.dataDir)("vault") };
      return rekey({ store, vault: makeVault([...readSecretKeys(settings), file], randomBytes) }, onProgress);
    },
    acceptKey: () => noteKey(store.installation, readFolderKey(settings.dataDir)),
    baseUrl: baseUrlOf(settings, settings.port),
  };
}

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
