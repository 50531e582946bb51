import type { Principal, SourceAccess } from "#core/principals.ts";
import { reportGroup } from "#sources/atlassian/people.ts";
import { type Failures, ifUnderstood } from "#sources/failures.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { ConfluenceClient } from "./client.ts";
import type { Mapping } from "./map.ts";
import { formatId, groupIds, spaceRef } from "./ids.ts";
import type { NodeRef, PageRecord } from "./records.ts";
import type { Subjects } from "./restrictions.ts";

const NOBODY: SourceAccess = { known: false };

/** A deeper tree is a cycle, or a prank. */
const MOST_DEPTH = 200;

interface Node {
  spaceId: string;
  parent: NodeRef | undefined;
}

/** Readers of pages. */
export interface Judged {
  groups: Outcome[];
  accessOf(page: PageRecord): SourceAccess;
  /** Pages whose readers are known, or known to be unknowable. */
  known: PageRecord[];
  /** External ids of the others. */
  failed: string[];
}

/**
 * The positions of a space's pages in its tree, and the read restrictions: those of the page AND of everything above
 * it. A page with an unknown ancestor is visible to no one.
 */
export function makeTree(
  {
    client,
    failures,
    mapping: { names, config },
  }: {
    client: Pick<ConfluenceClient, "node" | "restrictionsOf">;
    failures: Pick<Failures, "requireOfOne">;
    mapping: Pick<Mapping, "names" | "config">;
  },
  /** Pages of a listing aren't requested again. */
  listed: ReadonlyMap<string, PageRecord> = new Map(),
) {
  const { openFolders } = config;
  const nodes = new Map<string, Promise<Node | undefined>>();
  /** Restrictions requested so far; an open page has none. */
  const restrictions = new Map<string, Subjects | undefined>();
  /**
   * Folders and the like: for restricted ones, too, Cloud answers that they have no restriction.
   * Source: https://jira.atlassian.com/browse/CONFCLOUD-82920
   */
  const folders = new Set<string>();

  const nodeOf = (ref: NodeRef): Promise<Node | undefined> => {
    const node = nodes.get(ref.id) ?? ifUnderstood(() => client.node(ref));
    nodes.set(ref.id, node);
    return node;
  };

  /** Ids from a page up to the top of its space; undefined if unknown. */
  async function chainOf({ id, parent, spaceId }: PageRecord): Promise<string[] | undefined> {
    const chain = [id];
    for (let above = parent; above;) {
      if (chain.length > MOST_DEPTH || chain.includes(above.id)) return undefined;
      chain.push(above.id);
      if (above.type !== "page") folders.add(above.id);
      const node = listed.get(above.id) ?? (await nodeOf(above));
      if (!node || node.spaceId !== spaceId) return undefined;
      above = node.parent;
    }
    return chain;
  }

  function principalOf(subject: Subjects[number]): Principal | undefined {
    if (subject.type === "unknown") return undefined;
    return subject.type === "user" ? names.user(subject.id) : names.group(groupIds.group(subject.id));
  }

  /** The group of a restriction's readers, as reported between items. */
  function* reportRestriction(id: string, subjects: Subjects, spaceId: string): Generator<Outcome> {
    const members = subjects.flatMap((subject) => principalOf(subject) ?? []);
    for (const event of reportGroup(names, groupIds.restriction(id), members)) {
      yield { ...event, containers: [spaceRef(spaceId)] };
    }
  }

  return {
    /** The readers of these, and the groups that they name. Readers of those in `failed` stay as they were. */
    async judge(pages: readonly PageRecord[]): Promise<Judged> {
      const chains = new Map<string, string[] | undefined>();
      for (const page of pages) chains.set(page.id, await chainOf(page));
      const needed = [...new Set([...chains.values()].flatMap((chain) => chain ?? []))].filter(
        (id) => !restrictions.has(id),
      );
      for (const [id, subjects] of await client.restrictionsOf(needed, failures.requireOfOne)) {
        const isUnknown = subjects?.length === 0 && folders.has(id) && !openFolders;
        restrictions.set(id, isUnknown ? undefined : subjects);
      }
      const groups: Outcome[] = [];
      const reported = new Set<string>();
      for (const { id, spaceId } of pages) {
        for (const each of chains.get(id) ?? []) {
          const subjects = restrictions.get(each);
          if (reported.has(each) || !subjects || subjects.length === 0) continue;
          reported.add(each);
          groups.push(...reportRestriction(each, subjects, spaceId));
        }
      }
      const accessOf = ({ id, spaceId }: PageRecord): SourceAccess => {
        const chain = chains.get(id);
        const lists: (Principal | undefined)[] = [names.group(groupIds.space(spaceId))];
        for (const each of chain ?? []) {
          const subjects = restrictions.get(each);
          if (!subjects) return NOBODY;
          if (subjects.length > 0) lists.push(names.group(groupIds.restriction(each)));
        }
        const all = lists.flatMap((group) => (group === undefined ? [] : [[group]]));
        return chain && all.length === lists.length ? { known: true, all } : NOBODY;
      };
      const isFailed = ({ id }: PageRecord) => chains.get(id)?.some((each) => !restrictions.has(each)) === true;
      return {
        groups,
        accessOf,
        known: pages.filter((page) => !isFailed(page)),
        failed: pages.filter(isFailed).map(({ id }) => formatId({ type: "page", id })),
      };
    },
  };
}
