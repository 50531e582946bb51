import { ApiError } from "#api/errors.ts";
import { BAD_ANSWERS, lossFaults, othersFaults } from "./answer-checks.ts";
import { type Rewrite, routeOf } from "./answers.ts";
import { readAll, type SourceCheck } from "./check.ts";
import type { KitFixture } from "./fixture.ts";
import { makeReplica, runInto } from "./replica.ts";

export const oneAnswer: SourceCheck = {
  id: "one-answer",
  title: "whatever the remote answers about one of several things, the others are read, and nothing is gone that isn't",
  isReading: true,
  async run(fixture) {
    const { replica } = await readAll(fixture);
    const faults: string[] = [];
    for (const [route, things] of await routesOf(fixture)) {
      const [failing = "", ...others] = things;
      const spoilt = new Set(failing.split(" "));
      for (const word of others.flatMap((other) => other.split(" "))) spoilt.delete(word);
      if (spoilt.size === 0) continue;
      // Some servers write an empty list as null.
      const { null: _null, ...bad } = BAD_ANSWERS;
      // What refuses one question refuses them all, where they differ in the question alone.
      const refusals = route.endsWith("?") ? {} : REFUSALS;
      for (const [what, answer] of Object.entries({ ...bad, ...refusals })) {
        const rewrite: Rewrite = (url, value) => (wordsOf(url) === failing ? answer() : value);
        const about = `${what} to one of ${route}`;
        faults.push(...(await othersFaults(fixture, replica, { rewrite, spoilt, what: about })));
        if (!(what in REFUSALS)) faults.push(...(await lossFaults(fixture, replica, rewrite, about)));
      }
    }
    return faults;
  },
};

const REFUSALS: Readonly<Record<string, () => unknown>> = {
  "HTTP 403": () => {
    throw new ApiError("source_forbidden", { message: "Refused (HTTP 403).", details: { status: 403 } });
  },
  "HTTP 404": () => {
    throw new ApiError("source_not_found", { message: "Nothing there (HTTP 404).", details: { status: 404 } });
  },
};

/**
 * What a first run asks about, by what the addresses have in common: the words of each of several things. A `?` ends those
 * that differ in their query alone.
 */
async function routesOf(fixture: KitFixture): Promise<[string, string[]][]> {
  const routes = new Map<string, Set<string>>();
  const paths = new Map<string, Set<string>>();
  const rewrite: Rewrite = (url, value) => {
    const route = alike(url);
    routes.set(route, (routes.get(route) ?? new Set()).add(wordsOf(url)));
    paths.set(route, (paths.get(route) ?? new Set()).add(new URL(url).pathname));
    return value;
  };
  await runInto({ ...fixture, rewrite }, makeReplica());
  const several = [...routes].filter(([, things]) => things.size > 1);
  return several.map(([route, things]) => [paths.get(route)?.size === 1 ? `${route}?` : route, [...things]]);
}

/** What addresses of several things have in common: where they begin and end, and what they are asked with. */
function alike(url: string): string {
  const names = routeOf(url).split("/");
  const [first = "", last = ""] = [names[0], names.at(-1)];
  return `${first}/…${names.length}/${last} ${[...new URL(url).searchParams.keys()].sort().join()}`;
}

/** Which part of a listing is asked for says nothing of what it is of. */
const PAGING =
  /^(?:limit|page|per_page|pageSize|start|startAt|maxResults|since|from|to|cursor|pageToken|after|fields|expand)$/;

function wordsOf(url: string): string {
  const { pathname, searchParams } = new URL(url);
  const values = [...searchParams].flatMap(([key, value]) => (PAGING.test(key) ? [] : [value]));
  const words = [pathname, ...values].flatMap((text) => decodeURIComponent(text).split(/[^\w!:.-]+/));
  return words.filter((word) => word !== "").join(" ");
}
