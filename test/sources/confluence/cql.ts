import type { Page, Part, World } from "./world.ts";

type Test = (page: Page, part: Part | undefined) => boolean;

/** Of CQL what the source writes; undefined for anything else. */
export function toTest(cql: string, world: World): Test | undefined {
  const tests = cql.split(" AND ").map((clause) => toClause(clause, world));
  return tests.includes(undefined) ? undefined : (page, part) => tests.every((test) => test?.(page, part));
}

function toClause(clause: string, world: World): Test | undefined {
  const types = /^type (?:in \((.+)\)|= (\w+))$/.exec(clause);
  if (types) {
    const wanted = (types[1] ?? types[2] ?? "").split(", ");
    return (page, part) => wanted.includes(part?.type ?? page.type);
  }
  const key = /^space = "(.+)"$/.exec(clause)?.[1];
  if (key !== undefined) return (page) => world.space(key).id === page.space;
  const ids = /^id in \(([\d,]+)\)$/.exec(clause)?.[1]?.split(",");
  if (ids) return (page, part) => ids.includes(part?.id ?? page.id);
  const minutes = /^lastmodified >= now\("-(\d+)m"\)$/.exec(clause)?.[1];
  if (minutes !== undefined) return (page, part) => (part ?? page).updated >= Date.now() - Number(minutes) * 60_000;
  const above = /^ancestor = (\d+)$/.exec(clause)?.[1];
  if (above === undefined) return undefined;
  return (page) => {
    for (let at = world.page(page.parent ?? ""); at; at = world.page(at.parent ?? "")) if (at.id === above) return true;
    return false;
  };
}
