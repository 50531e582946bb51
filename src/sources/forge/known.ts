import { z } from "zod";
import type { SourceState } from "#sources/context.ts";
import type { ForgeListing } from "./contract.ts";

/** The repositories of the last run, to find those that are missing now. */
export type KnownRepositories = Awaited<ReturnType<typeof makeKnown>>;

/** The number of rows in one value of the state, which has at most 64 KiB. */
const A_PIECE = 400;
/** The most previous names that are kept for one repository. */
const MOST_NAMES = 5;

export async function makeKnown(state: SourceState) {
  const pieces: Row[][] = [];
  for (let at = 0; ; at++) {
    const piece = Piece.safeParse(await state.get(`known:${at}`)).data;
    if (!piece || piece.length === 0) break;
    pieces.push(piece);
  }
  const before = pieces.flat();
  const idsOf = (name: string): string[] => {
    const wanted = name.toLowerCase();
    const isMeant = (fullName: string) => fullName === wanted || fullName.startsWith(`${wanted}/`);
    return [
      ...new Set(
        before.filter(([, , ...names]) => names.some((each) => isMeant(each.toLowerCase()))).map(([id]) => id),
      ),
    ];
  };
  const idsOfOwner = (ownerId: string) => before.filter(([, owner]) => owner === ownerId).map(([id]) => id);
  return {
    ids: before.map(([id]) => id),
    /**
     * Returns the ids that a name in the config refers to, or referred to before a rename. A name is `owner/name` or
     * `owner`.
     */
    idsOf,
    /** Returns the ids of an owner's repositories. */
    idsOfOwner,
    /**
     * Stores the repositories of this run.
     * @param others  ids that stay known although they were not seen in this run
     */
    keep(
      repositories: ForgeListing["repositories"],
      closed: ForgeListing["closed"],
      others: readonly string[] = [],
    ): void {
      const taken = new Set(repositories.map(({ fullName }) => fullName.toLowerCase()));
      const former = new Map(before.map(([id, , ...names]) => [id, names]));
      const rows = repositories.map(({ id, owner, fullName }): Row => {
        const others = (former.get(id) ?? []).filter((name) => !taken.has(name.toLowerCase()));
        return [id, owner.id, fullName, ...others.slice(0, MOST_NAMES)];
      });
      const now = new Set(rows.map(([id]) => id));
      // A repository that is named in the config and hidden returns with the same id.
      const staying = new Set([
        ...closed.flatMap(({ name, ownerId }) => (ownerId === undefined ? idsOf(name) : idsOfOwner(ownerId))),
        ...others,
      ]);
      const all = [...rows, ...before.filter(([id]) => staying.has(id) && !now.has(id))];
      const count = Math.ceil(all.length / A_PIECE);
      for (let at = 0; at < Math.max(count, pieces.length); at++) {
        state.put(`known:${at}`, at < count ? all.slice(at * A_PIECE, (at + 1) * A_PIECE) : undefined);
      }
    },
  };
}

/** The repository's id, its owner's id, the present name, and the previous names. */
type Row = [id: string, ownerId: string, ...names: string[]];
// An earlier version stored only the id and the name.
const Former = z.tuple([z.string(), z.string()]).transform(([id, name]): Row => [id, "", name]);
const Piece = z.array(
  z.union([z.tuple([z.string(), z.string()], z.string()).refine(({ length }) => length > 2), Former]),
);
