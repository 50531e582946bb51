import type { FolderMark } from "#storage/folder-mark.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { changesOf, recordsOf } from "#storage/results.ts";
import { INSTALLATION, LOCAL_ROOTS } from "#storage/tables/installation.ts";
import type { FormsOf, RecordOf } from "#storage/tables/table.ts";

/** Instants are epoch milliseconds. */
export type InstallationState = Omit<RecordOf<typeof INSTALLATION>, "id">;
type LocalRoot = RecordOf<typeof LOCAL_ROOTS>;

/** The key of the only row. */
const ID = 1;
/** The state before anything was stored. */
const FRESH: InstallationState = {
  completedAt: null,
  setupCodeHash: null,
  setupCodeExpiresAt: null,
  setupCodeTries: 0,
};

/** Reads and writes records of the installation, outside any workspace. */
export function makeInstallationStore(sql: SqlHandles) {
  const installation = acrossWorkspaces(sql, INSTALLATION);
  const roots = acrossWorkspaces(sql, LOCAL_ROOTS);

  /** Writes these values into the single row, and creates it when it is missing. */
  const keep = (values: Partial<FormsOf<typeof INSTALLATION>["made"]>) =>
    installation.insert({ ...FRESH, ...values, id: ID }, values);

  return {
    state: async (): Promise<InstallationState> => (await installation.find({ id: ID })) ?? FRESH,

    /** Replaces the setup code and resets its count of tries. */
    setSetupCode: (setupCodeHash: string, setupCodeExpiresAt: number) =>
      keep({ setupCodeHash, setupCodeExpiresAt, setupCodeTries: 0 }),

    async countSetupTry(): Promise<void> {
      await installation
        .updating({ id: ID })
        .set((eb) => ({ setupCodeTries: eb("setupCodeTries", "+", 1) }))
        .execute();
    },

    /**
     * Completes the setup and deletes the setup code. Returns true for exactly one caller: the very first, or the first
     * with the hash of a code that was made since.
     */
    async complete(at: number, setupCodeHash?: string): Promise<boolean> {
      const done = { ...FRESH, completedAt: at };
      const completing = installation.inserting({ id: ID, ...done }).onConflict((oc) =>
        oc
          .column("id")
          .doUpdateSet(done)
          .where((eb) =>
            eb.or([
              eb("installation.completedAt", "is", null),
              // In SQL nothing equals null, so without a code this is never true.
              eb("installation.setupCodeHash", "=", setupCodeHash ?? null),
            ]),
          ),
      );
      return (await changesOf(completing)) === 1;
    },

    /** Returns the last file next to the database that the database recorded. */
    async findMark(): Promise<FolderMark | undefined> {
      const found = installation.select({ id: ID }).select(["markStep as step", "markFile as file"]);
      const { step, file } = (await found.executeTakeFirst()) ?? {};
      return typeof step === "number" && typeof file === "string" ? { step, file } : undefined;
    },

    noteMark: ({ step: markStep, file: markFile }: FolderMark) => keep({ markStep, markFile }),

    /** Returns the recorded check of the data folder's key; undefined when none was recorded yet. */
    async findKeyCheck(): Promise<string | undefined> {
      const row = await installation.select({ id: ID }).select("keyCheck").executeTakeFirst();
      return row?.keyCheck ?? undefined;
    },

    noteKeyCheck: (keyCheck: string) => keep({ keyCheck }),

    listLocalRoots: () => recordsOf(LOCAL_ROOTS, roots.select().selectAll().orderBy("createdAt").orderBy("rootId")),

    /** Records a path and returns its record, which may have existed before. */
    async addLocalRoot(root: LocalRoot): Promise<LocalRoot> {
      // One statement: an existing row stays as it is, and is returned.
      const adding = roots
        .inserting(root)
        .onConflict((oc) => oc.column("path").doUpdateSet({ path: root.path }))
        .returningAll();
      return LOCAL_ROOTS.read(await adding.executeTakeFirstOrThrow());
    },

    removeLocalRoot: async (rootId: string): Promise<boolean> => (await roots.remove({ rootId })) === 1,
  };
}
