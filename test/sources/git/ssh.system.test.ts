import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { digestOf, loopbackGuard, makeReader, makeRepository, SEARCH_PATH } from "./fixture.ts";
import { makeBare } from "./http-remote.ts";

const KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nkb-canary-key\n-----END OPENSSH PRIVATE KEY-----\n";
const PASSPHRASE = "kb-canary-passphrase";

/**
 * Programs named ssh, ssh-agent and ssh-add that write down how they were called. `ssh` runs what it was asked to run
 * on this machine, as the far end would.
 */
function makeFixture(sshAnswer = 'shift $(($# - 1)); eval "exec $1"') {
  const work = makeRepository();
  work.write("a.md");
  work.commit();
  const served = join(work.base, "served.git");
  makeBare(work.root, served);
  const bin = join(work.base, "bin");
  const notes = join(work.base, "notes");
  for (const folder of [bin, notes]) mkdirSync(folder);
  const program = (name: string, lines: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  program(
    "ssh",
    `for word in "$@"; do printf '%s\\n' "$word" >> ${notes}/ssh; done; env > ${notes}/env
for word in "$@"; do case "$word" in UserKnownHostsFile=*) cp "\${word#*=}" ${notes}/known;; esac; done\n${sshAnswer}`,
  );
  program("ssh-agent", `touch "$2"; shift 2; exec "$@"`);
  program(
    "ssh-add",
    `cat > ${notes}/key\n[ "$SSH_ASKPASS" = false ] || "$SSH_ASKPASS" "Enter passphrase for key:" > ${notes}/passphrase\necho "$@" > ${notes}/add`,
  );
  const options = { guard: loopbackGuard(), searchPath: `${bin}:${SEARCH_PATH}` };
  const readerOf = (url: string) => makeReader(work.base, url, options);
  const note = (name: string) => (existsSync(join(notes, name)) ? readFileSync(join(notes, name), "utf8") : undefined);
  return { base: work.base, served, readerOf, note };
}

const HOST_KEYS =
  "code.test ssh-ed25519 AAAAOURS\nother.test ssh-ed25519 AAAATHEIRS\n[code.test]:2222 ssh-ed25519 AAAAPORT";

describe("a repository over ssh", () => {
  test("is read with the key from an agent of its own, at the judged address, with known host keys alone", async () => {
    const { served, readerOf, note, base } = makeFixture();
    const { source, context, run } = readerOf(`git@code.test:${served}`);
    const ctx = context(
      { hostKeys: HOST_KEYS },
      { git: { credentialsFor: async () => ({ privateKey: KEY, passphrase: PASSPHRASE }) } },
    );
    expect(await source.check(ctx)).toEqual({ ok: true });
    expect(digestOf(await run(ctx))).toEqual(["+a.md", "complete"]);
    expect([note("key"), note("passphrase"), note("add")]).toEqual([KEY, `${PASSPHRASE}\n`, "-q -t 3600 -\n"]);
    const words = note("ssh") ?? "";
    for (const setting of [
      "-F\n/dev/null",
      "HostName=127.0.0.1",
      "HostKeyAlias=code.test",
      "StrictHostKeyChecking=yes",
      "GlobalKnownHostsFile=/dev/null",
      "ProxyCommand=none",
      "ForwardAgent=no",
      "PermitLocalCommand=no",
      "BatchMode=yes",
      "IdentityFile=none",
    ]) {
      expect(words).toContain(setting);
    }
    // Nothing secret in arguments or variables, nothing left on disk.
    expect(`${words}${note("env")}`).not.toContain("canary");
    expect(note("env")).not.toMatch(/SSH_AUTH_SOCK|HOME=\/root/);
    expect(readdirSync(join(base, "data/git")).filter((name) => name.startsWith("ssh-"))).toEqual([]);
  });

  test.each([
    ["git@code.test:a/b", HOST_KEYS, "code.test ssh-ed25519 AAAAOURS\n"],
    ["ssh://git@code.test:2222/a/b", HOST_KEYS, "code.test ssh-ed25519 AAAAPORT\n"],
    ["git@code.test:a/b", "# nothing\nother.test ssh-ed25519 AAAATHEIRS", ""],
    ["git@code.test:a/b", undefined, ""],
    ["git@github.com:a/b", undefined, expect.stringMatching(/^github\.com ssh-ed25519 \S+\n$/)],
    ["git@github.com:a/b", "github.com ssh-ed25519 AAAAOWN", "github.com ssh-ed25519 AAAAOWN\n"],
  ])("at %s knows the host keys of that host and port alone (%#)", async (url, hostKeys, known) => {
    const fixture = makeFixture();
    const { source, context } = fixture.readerOf(url);
    const ctx = context(hostKeys === undefined ? {} : { hostKeys }, {
      git: { credentialsFor: async () => ({ privateKey: KEY }) },
    });
    expect((await source.check(ctx)).ok).toBe(false);
    expect(fixture.note("known")).toEqual(known);
  });

  test("without a key asks for one, and nothing is connected", async () => {
    const { readerOf, note } = makeFixture();
    for (const credentials of [{}, { token: "x" }] as Record<string, string>[]) {
      const { source, context } = readerOf("git@code.test:a/b");
      expect(await source.check(context({}, { git: { credentialsFor: async () => credentials } }))).toMatchObject({
        ok: false,
        problem: { code: "auth_required", field: "credentials.privateKey" },
      });
    }
    expect(note("ssh")).toBeUndefined();
  });

  test.each([
    ["Host key verification failed.", "unreachable", "hostKeys"],
    ["git@code.test: Permission denied (publickey).", "auth_required", "credentials"],
    ["ssh: connect to host 127.0.0.1 port 22: Connection refused", "unreachable", "url"],
    ["ERROR: Repository not found.", "not_found", "url"],
  ])("that answers %j is a typed problem", async (words, code, field) => {
    const { readerOf } = makeFixture(`echo ${JSON.stringify(words)} >&2; exit 255`);
    const { source, context } = readerOf("ssh://git@code.test:22/a/b");
    const answer = await source.check(context({}, { git: { credentialsFor: async () => ({ privateKey: KEY }) } }));
    expect(answer).toMatchObject({ ok: false, problem: { code, field } });
  });
});
