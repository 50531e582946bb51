import { z } from "zod";
import type { SourceState } from "#sources/context.ts";
import type { ForgeListing } from "./contract.ts";

/** The repositories of the last run, to detect those that are missing now. */
export type KnownRepositories = Awaited<ReturnType<typeof makeKnown>>;

/** A value of the state has 64 KiB. */
const A_PIECE = 400;
/** Previous names of one repository. */
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
    /** The ids that a name in the config stands for, or stood for before a rename: `owner/name`, or `owner`. */
    idsOf,
    /** Those of an owner. */
    idsOfOwner,
    /** @param others  ids that stay known, though they were not seen now */
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
      // One that is named and hidden comes back under the same id.
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

/** Id, id of the owner, the present name, and the previous names. */
type Row = [id: string, ownerId: string, ...names: string[]];
// An earlier version stored the id and the name alone.
const Former = z.tuple([z.string(), z.string()]).transform(([id, name]): Row => [id, "", name]);
const Piece = z.array(
  z.union([z.tuple([z.string(), z.string()], z.string()).refine(({ length }) => length > 2), Former]),
);
