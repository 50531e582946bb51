import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { makeSigningSecret, sign } from "#server/events/signature.ts";
import { tempDir } from "../temp-dir.ts";

const page = readFileSync(new URL("../../docs/events.md", import.meta.url), "utf8");

function sampleOf(language: string): string {
  const found = new RegExp("```" + language + "\\n(.*?)```", "s").exec(page)?.[1];
  if (found === undefined) throw new Error(`docs/events.md has no sample for ${language}.`);
  return found;
}

/** Deliveries, and whether each is from kb. */
function casesOf() {
  const [secret, other] = [makeSigningSecret(randomBytes), makeSigningSecret(randomBytes)];
  const body = '{"type":"ping","data":{"targetId":"whk_ü"}}';
  const at = Date.now();
  const headersAt = (when: number, secrets: string[]) => ({ ...sign({ id: "evt_2222", at: when, body }, secrets) });
  return [
    { secret, headers: headersAt(at, [secret]), body, isOurs: true },
    { secret, headers: headersAt(at, [other, secret]), body, isOurs: true },
    { secret, headers: headersAt(at, [other]), body, isOurs: false },
    { secret, headers: headersAt(at, [secret]), body: body.replace("ping", "pong"), isOurs: false },
    { secret, headers: { ...headersAt(at, [secret]), "webhook-id": "evt_3333" }, body, isOurs: false },
    { secret, headers: headersAt(at - 600_000, [secret]), body, isOurs: false },
  ];
}

test("the sample for Node tells deliveries of kb from others", async () => {
  const file = join(tempDir(), "sample.mjs");
  writeFileSync(file, sampleOf("js"));
  // The sample exports this function.
  const { isFromKb } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    isFromKb(secret: string, headers: object, body: string): boolean;
  };
  const cases = casesOf();
  expect(cases.map(({ secret, headers, body }) => isFromKb(secret, headers, body))).toEqual(
    cases.map(({ isOurs }) => isOurs),
  );
});

test("the sample for Python tells deliveries of kb from others", () => {
  const cases = casesOf();
  const program = `${sampleOf("python")}
import json, sys
print(json.dumps([is_from_kb(c["secret"], c["headers"], c["body"]) for c in json.load(sys.stdin)]))`;
  const ran = spawnSync("python3", ["-c", program], { input: JSON.stringify(cases), encoding: "utf8" });
  expect(ran.stderr).toBe("");
  expect(JSON.parse(ran.stdout)).toEqual(cases.map(({ isOurs }) => isOurs));
});
