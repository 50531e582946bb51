import type { SqlHandles } from "#storage/handles.ts";
import { toDate, toDateOrNull } from "#storage/times.ts";

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

/** The one row's key. */
const ID = 1;

/** What belongs to the installation and to no workspace. */
export function makeInstallationStore(sql: SqlHandles) {
  return {
    async state(): Promise<InstallationState> {
      const row = await sql.read.selectFrom("installation").selectAll().where("id", "=", ID).executeTakeFirst();
      return {
        completedAt: toDateOrNull(row?.completedAt ?? null),
        setupCodeHash: row?.setupCodeHash ?? null,
        setupCodeExpiresAt: toDateOrNull(row?.setupCodeExpiresAt ?? null),
        setupCodeTries: row?.setupCodeTries ?? 0,
      };
    },

    /** Replaces the setup code and its count of tries. */
    async setSetupCode(hash: string, expiresAt: Date): Promise<void> {
      const code = { setupCodeHash: hash, setupCodeExpiresAt: expiresAt.getTime(), setupCodeTries: 0 };
      await sql.write
        .insertInto("installation")
        .values({ id: ID, completedAt: null, ...code })
        .onConflict((oc) => oc.column("id").doUpdateSet(code))
        .execute();
    },

    async countSetupTry(): Promise<void> {
      await sql.write
        .updateTable("installation")
        .set((eb) => ({ setupCodeTries: eb("setupCodeTries", "+", 1) }))
        .where("id", "=", ID)
        .execute();
    },

    /**
     * True for exactly one caller: the first ever, and the first with the hash of a code that was made since. The setup
     * code goes.
     */
    async complete(at: Date, setupCodeHash?: string): Promise<boolean> {
      const done = { completedAt: at.getTime(), setupCodeHash: null, setupCodeExpiresAt: null, setupCodeTries: 0 };
      const result = await sql.write
        .insertInto("installation")
        .values({ id: ID, ...done })
        .onConflict((oc) =>
          oc
            .column("id")
            .doUpdateSet(done)
            .where((eb) =>
              eb.or([
                eb("installation.completedAt", "is", null),
                // Nothing equals null: without a code this is never true.
                eb("installation.setupCodeHash", "=", setupCodeHash ?? null),
              ]),
            ),
        )
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n;
    },

    async listLocalRoots(): Promise<LocalRootRecord[]> {
      const rows = await sql.read
        .selectFrom("local_roots")
        .selectAll()
        .orderBy("createdAt")
        .orderBy("rootId")
        .execute();
      return rows.map((row) => ({ ...row, createdAt: toDate(row.createdAt) }));
    },

    /** The record of this path, the one that was there before if there was one. */
    async addLocalRoot(root: LocalRootRecord): Promise<LocalRootRecord> {
      await sql.write
        .insertInto("local_roots")
        .values({ ...root, createdAt: root.createdAt.getTime() })
        .onConflict((oc) => oc.column("path").doNothing())
        .execute();
      const row = await sql.write
        .selectFrom("local_roots")
        .selectAll()
        .where("path", "=", root.path)
        .executeTakeFirstOrThrow();
      return { ...row, createdAt: toDate(row.createdAt) };
    },

    async removeLocalRoot(rootId: string): Promise<boolean> {
      const result = await sql.write.deleteFrom("local_roots").where("rootId", "=", rootId).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
  };
}
