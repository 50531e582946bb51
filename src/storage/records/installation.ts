import type { InstallationStore } from "#storage/records-types/installation.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { toDate, toDateOrNull } from "#storage/times.ts";

/** The one row's key. */
const ID = 1;

/** What belongs to the installation and to no workspace. */
export function makeInstallationStore(sql: SqlHandles): InstallationStore {
  return {
    async state() {
      const row = await sql.read.selectFrom("installation").selectAll().where("id", "=", ID).executeTakeFirst();
      return {
        completedAt: toDateOrNull(row?.completedAt ?? null),
        setupCodeHash: row?.setupCodeHash ?? null,
        setupCodeExpiresAt: toDateOrNull(row?.setupCodeExpiresAt ?? null),
        setupCodeTries: row?.setupCodeTries ?? 0,
      };
    },

    async setSetupCode(hash, expiresAt) {
      const code = { setupCodeHash: hash, setupCodeExpiresAt: expiresAt.getTime(), setupCodeTries: 0 };
      await sql.write
        .insertInto("installation")
        .values({ id: ID, completedAt: null, ...code })
        .onConflict((oc) => oc.column("id").doUpdateSet(code))
        .execute();
    },

    async countSetupTry() {
      await sql.write
        .updateTable("installation")
        .set((eb) => ({ setupCodeTries: eb("setupCodeTries", "+", 1) }))
        .where("id", "=", ID)
        .execute();
    },

    async complete(at, setupCodeHash) {
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

    async listLocalRoots() {
      const rows = await sql.read
        .selectFrom("local_roots")
        .selectAll()
        .orderBy("createdAt")
        .orderBy("rootId")
        .execute();
      return rows.map((row) => ({ ...row, createdAt: toDate(row.createdAt) }));
    },

    async addLocalRoot(root) {
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

    async removeLocalRoot(rootId) {
      const result = await sql.write.deleteFrom("local_roots").where("rootId", "=", rootId).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
  };
}
