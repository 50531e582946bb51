import type { Principal } from "#core/principals.ts";

/**
 * Named readers in the form that the audit allows: members and groups of the workspace by id, all others as a count.
 */
export interface Readers {
  principals: Principal[];
  others: number;
}

/** Limit of principals that are named. */
const MAX_NAMED = 50;

/**
 * Summarizes readers. Names from a source don't belong in the audit, so its principals are counted, as are those beyond
 * the 50th.
 */
export function summarize(principals: readonly Principal[]): Readers {
  const own = principals
    .filter((name) => /^(?:user:usr_|group:grp_|workspace$|everyone$)/.test(name))
    .slice(0, MAX_NAMED);
  return { principals: own, others: principals.length - own.length };
}
