import type { Insertable } from "kysely";
import type { FolderMark } from "#storage/folder-mark.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { Tables } from "#storage/schema.ts";

/** Instants are epoch milliseconds. */
export interface InstallationState {
  /** Set once, when the first admin was made; the gate of onboarding. Source: S35. */
  completedAt: number | null;
  setupCodeHash: string | null;
  setupCodeExpiresAt: number | null;
  /** Wrong tries since the code was made. */
  setupCodeTries: number;
}

/** Instants are epoch milliseconds. */
export interface LocalRootRecord {
  rootId: string;
  path: string;
  createdBy: string;
  createdAt: number;
}

/** The one row's key. */
const ID = 1;

/** Records of the installation, outside any workspace. */
export function makeInstallationStore(sql: SqlHandles) {
  /** Writes these into the single row, and creates it when missing. */
  async function keep(values: Partial<Insertable<Tables["installation"]>>): Promise<void> {
    const fresh = { completedAt: null, setupCodeHash: null, setupCodeExpiresAt: null, setupCodeTries: 0 };
    await sql.write
      .insertInto("installation")
      .values({ ...fresh, ...values, id: ID })
      .onConflict((oc) => oc.column("id").doUpdateSet(values))
      .execute();
  }

  return {
    async state(): Promise<InstallationState> {
      const row = await sql.read.selectFrom("installation").selectAll().where("id", "=", ID).executeTakeFirst();
      return {
        completedAt: row?.completedAt ?? null,
        setupCodeHash: row?.setupCodeHash ?? null,
        setupCodeExpiresAt: row?.setupCodeExpiresAt ?? null,
        setupCodeTries: row?.setupCodeTries ?? 0,
      };
    },

    /** Replaces the setup code and its count of tries. */
    async setSetupCode(hash: string, expiresAt: number): Promise<void> {
      await keep({ setupCodeHash: hash, setupCodeExpiresAt: expiresAt, setupCodeTries: 0 });
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
    async complete(at: number, setupCodeHash?: string): Promise<boolean> {
      const done = { completedAt: at, setupCodeHash: null, setupCodeExpiresAt: null, setupCodeTries: 0 };
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

    /** The last file beside the database that it knows of. */
    async findMark(): Promise<FolderMark | undefined> {
      const row = await sql.read.selectFrom("installation").selectAll().where("id", "=", ID).executeTakeFirst();
      const { markStep: step, markFile: file } = row ?? {};
      return typeof step === "number" && typeof file === "string" ? { step, file } : undefined;
    },

    async noteMark({ step: markStep, file: markFile }: FolderMark): Promise<void> {
      await keep({ markStep, markFile });
    },

    /** The recorded check of the data folder's key; undefined before that. */
    async findKeyCheck(): Promise<string | undefined> {
      const row = await sql.read.selectFrom("installation").select("keyCheck").where("id", "=", ID).executeTakeFirst();
      return row?.keyCheck ?? undefined;
    },

    async noteKeyCheck(keyCheck: string): Promise<void> {
      await keep({ keyCheck });
    },

    async listLocalRoots(): Promise<LocalRootRecord[]> {
      return await sql.read.selectFrom("local_roots").selectAll().orderBy("createdAt").orderBy("rootId").execute();
    },

    /** Returns the record of this path, the existing one if there is one. */
    async addLocalRoot(root: LocalRootRecord): Promise<LocalRootRecord> {
      await sql.write
        .insertInto("local_roots")
        .values(root)
        .onConflict((oc) => oc.column("path").doNothing())
        .execute();
      return await sql.write
        .selectFrom("local_roots")
        .selectAll()
        .where("path", "=", root.path)
        .executeTakeFirstOrThrow();
    },

    async removeLocalRoot(rootId: string): Promise<boolean> {
      const result = await sql.write.deleteFrom("local_roots").where("rootId", "=", rootId).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
  };
}
