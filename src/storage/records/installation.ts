import type { FolderMark } from "#storage/folder-mark.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { changesOf, recordsOf } from "#storage/results.ts";
import { INSTALLATION, LOCAL_ROOTS } from "#storage/tables/installation.ts";
import type { FormsOf, RecordOf } from "#storage/tables/table.ts";

/** Instants are epoch milliseconds. */
export type InstallationState = Omit<RecordOf<typeof INSTALLATION>, "id">;
type LocalRoot = RecordOf<typeof LOCAL_ROOTS>;

/** The one row's key. */
const ID = 1;
/** Before anything was written into it. */
const FRESH: InstallationState = {
  completedAt: null,
  setupCodeHash: null,
  setupCodeExpiresAt: null,
  setupCodeTries: 0,
};

/** Records of the installation, outside any workspace. */
export function makeInstallationStore(sql: SqlHandles) {
  const installation = acrossWorkspaces(sql, INSTALLATION);
  const roots = acrossWorkspaces(sql, LOCAL_ROOTS);

  /** Writes these into the single row, and creates it when missing. */
  const keep = (values: Partial<FormsOf<typeof INSTALLATION>["made"]>) =>
    installation.insert({ ...FRESH, ...values, id: ID }, values);

  return {
    state: async (): Promise<InstallationState> => (await installation.find({ id: ID })) ?? FRESH,

    /** Replaces the setup code and its count of tries. */
    setSetupCode: (setupCodeHash: string, setupCodeExpiresAt: number) =>
      keep({ setupCodeHash, setupCodeExpiresAt, setupCodeTries: 0 }),

    async countSetupTry(): Promise<void> {
      await installation
        .updating({ id: ID })
        .set((eb) => ({ setupCodeTries: eb("setupCodeTries", "+", 1) }))
        .execute();
    },

    /**
     * True for exactly one caller: the first ever, and the first with the hash of a code that was made since. The setup
     * code goes.
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
              // Nothing equals null: without a code this is never true.
              eb("installation.setupCodeHash", "=", setupCodeHash ?? null),
            ]),
          ),
      );
      return (await changesOf(completing)) === 1;
    },

    /** The last file beside the database that it knows of. */
    async findMark(): Promise<FolderMark | undefined> {
      const found = installation.select({ id: ID }).select(["markStep as step", "markFile as file"]);
      const { step, file } = (await found.executeTakeFirst()) ?? {};
      return typeof step === "number" && typeof file === "string" ? { step, file } : undefined;
    },

    noteMark: ({ step: markStep, file: markFile }: FolderMark) => keep({ markStep, markFile }),

    /** The recorded check of the data folder's key; undefined before that. */
    async findKeyCheck(): Promise<string | undefined> {
      const row = await installation.select({ id: ID }).select("keyCheck").executeTakeFirst();
      return row?.keyCheck ?? undefined;
    },

    noteKeyCheck: (keyCheck: string) => keep({ keyCheck }),

    listLocalRoots: () => recordsOf(LOCAL_ROOTS, roots.select().selectAll().orderBy("createdAt").orderBy("rootId")),

    /** Returns the record of this path, the existing one if there is one. */
    async addLocalRoot(root: LocalRoot): Promise<LocalRoot> {
      // One statement: a row that is there stays as it is, and is returned.
      const adding = roots
        .inserting(root)
        .onConflict((oc) => oc.column("path").doUpdateSet({ path: root.path }))
        .returningAll();
      return LOCAL_ROOTS.read(await adding.executeTakeFirstOrThrow());
    },

    removeLocalRoot: async (rootId: string): Promise<boolean> => (await roots.remove({ rootId })) === 1,
  };
}
