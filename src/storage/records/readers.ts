import type { Principal } from "#core/principals.ts";

/** Who is named, as the audit may say it: members and groups of the workspace by their ids, all others by their number. */
export interface Readers {
  principals: Principal[];
  others: number;
}

/** Principals that are named at most. */
const MAX_NAMED = 50;

/** Words of the source are not for the audit: its principals are counted, and so are those beyond the 50th. */
export function summarize(principals: readonly Principal[]): Readers {
  const own = principals
    .filter((name) => /^(?:user:usr_|group:grp_|workspace$|everyone$)/.test(name))
    .slice(0, MAX_NAMED);
  return { principals: own, others: principals.length - own.length };
}
