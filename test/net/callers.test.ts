import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The code of the server: the command line, the bridge and the page speak with the person's own server. */
const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && !/^(?:net|cli|bridge|server\/web\/app)\//.test(path))
  .map((path) => `src/${path}`);

/** Says where a request may go, or makes what sends one. */
const REACHES =
  /\bconfiguredPlaces\(|\.resolveConfigured\(|\bNO_PLACES\b|\bmakeGuarded(?:Client|Fetch)\(|\b(?:http|pool)\.for\(/;
/** Takes a value, and not types alone, of a module that connects; or the `fetch` of Node. */
const CONNECTS =
  /^import (?!type\b)(?!\{(?: type \w+,?)+ \} )[^;]*? from "(?:node:(?:https?|http2|net|tls|dgram|dns(?:\/promises)?)|undici|nodemailer)"|\bawait import\("(?:undici|nodemailer|node:(?:https?|net|tls))"\)|\bglobalThis\.fetch\b|(?<![.\w] ?)(?<!function )\bfetch\("?https?:/m;

/** Who may, outside of `src/net/`. */
const CONNECTING: Readonly<Record<string, string>> = {
  "src/server/http/broken-request.ts": "knows the names of statuses",
  "src/server/identity/oauth/documents.ts": "tells an address from a name",
  "src/server/identity/oauth/mount.ts": "makes requests of the library from those that came",
  "src/server/compose/foundation.ts": "gives the guard its look-up of names",
  "src/server/identity/mail/smtp-mailer.ts": "speaks with the operator's mail server",
  "src/extract/seal.ts": "takes the network away from a child",
  "src/api/client.ts": "is the client of the command line and the page, and speaks with the person's own server",
};

function rowsOf(page: string): string[] {
  return [...read(page).matchAll(/^\| `(src\/[^`]+)`/gm)].map(([, path = ""]) => path);
}

describe("requests that kb sends", () => {
  test("are in the table, each place of the code once, and the table has no other", () => {
    const found = files.filter((path) => REACHES.test(read(path)));
    expect(rowsOf("docs/outgoing-requests.md").toSorted()).toEqual(found.toSorted());
  });

  test("go through the guard: no one else has a module that connects", () => {
    const found = files.filter((path) => CONNECTS.test(read(path)));
    expect(found.toSorted()).toEqual(Object.keys(CONNECTING).toSorted());
  });

  test("say what a person configured: nothing else opens the operator's list", () => {
    const guard = read("src/net/address-guard.ts");
    expect(guard.match(/\blisted\.has\(/g)).toHaveLength(2);
    expect(guard.match(/isConfigured && listed\.has\(/g)).toHaveLength(2);
    for (const path of files) expect(read(path), path).not.toMatch(/allowPrivateHosts(?! )[^,;]*\.has\(|isListUsed/);
  });
});
