/** The table of tried clients in `docs/clients.md`, from the committed results of `npm run test:clients`. */
import { type Outcome, readResults, type Result, STEPS } from "../test/clients/results.ts";
import { alignTable } from "./table.ts";

const TABLE = /(<!-- The table of `test\/clients\/results\.json`, made by `npm run gen`\. -->\n\n)(?:\|.*\n)+/;

const MARKS: Record<Outcome, string> = { passed: "yes", failed: "**no**", "not offered": "–" };

/** The page with the table as the results are now. @throws when the page has no place for it */
export function refreshClients(page: string, results: readonly Result[] = readResults()): string {
  if (!TABLE.test(page)) throw new Error("docs/clients.md has no table of the clients.");
  const rows = results.map(({ name, version, registry, credential, steps }) => [
    `\`${name}\` ${version} (${registry})`,
    credential,
    ...STEPS.map((step) => MARKS[steps[step]]),
  ]);
  const table = alignTable([["client", "signs in by", ...STEPS], ...rows]);
  return page.replace(TABLE, (_table, head: string) => head + table);
}
