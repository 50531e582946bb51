import { z } from "zod";
import type { SourceState } from "#sources/contract.ts";
import type { ForgeListing } from "./contract.ts";

/** The repositories of the last run, so that one which is missing now is seen to be. */
export interface KnownRepositories {
  ids: readonly string[];
  /** Those that a name of the config means: `owner/name`, or `owner`. */
  idsOf(name: string): string[];
  keep(repositories: ForgeListing["repositories"], closed: ForgeListing["closed"]): void;
}

/** A value of the state holds 64 KiB. */
const A_PIECE = 400;

export async function makeKnown(state: SourceState): Promise<KnownRepositories> {
  const pieces: [string, string][][] = [];
  for (let at = 0; ; at++) {
    const piece = Piece.safeParse(await state.get(`known:${at}`)).data;
    if (!piece || piece.length === 0) break;
    pieces.push(piece);
  }
  const before = pieces.flat();
  const idsOf = (name: string): string[] => {
    const wanted = name.toLowerCase();
    const isMeant = (fullName: string) => fullName === wanted || fullName.startsWith(`${wanted}/`);
    return before.filter(([, fullName]) => isMeant(fullName.toLowerCase())).map(([id]) => id);
  };
  return {
    ids: before.map(([id]) => id),
    idsOf,
    keep(repositories, closed) {
      const now = new Map(repositories.map(({ id, fullName }) => [id, fullName]));
      // One that is named and closed comes back under the same id.
      const closedIds = new Set(closed.flatMap(({ name }) => idsOf(name)));
      for (const [id, fullName] of before) if (closedIds.has(id) && !now.has(id)) now.set(id, fullName);
      const all = [...now];
      const count = Math.ceil(all.length / A_PIECE);
      for (let at = 0; at < Math.max(count, pieces.length); at++) {
        state.put(`known:${at}`, at < count ? all.slice(at * A_PIECE, (at + 1) * A_PIECE) : undefined);
      }
    },
  };
}

const Piece = z.array(z.tuple([z.string(), z.string()]));
