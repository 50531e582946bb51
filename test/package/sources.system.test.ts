/** The first sync of each source, by the installed program: real servers where they can run here, else stand-ins. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { signInAdmin, startServerProcess } from "../e2e/server-process.ts";
import { openSite as openConfluence } from "../sources/confluence/fixture.ts";
import { startGitea, whyNoGitea } from "../sources/gitea/server.ts";
import { makeGithubFixture } from "../sources/github/fixture.ts";
import { makeWorld as makeGithubWorld } from "../sources/github/world.ts";
import { canRunDovecot, startDovecot } from "../sources/imap/dovecot.ts";
import { PERSON, startImap } from "../sources/imap/server.ts";
import { openSite as openJira } from "../sources/jira/fixture.ts";
import { makeWorld as makeMatrixWorld, makeCrowd } from "../sources/matrix/fixture.ts";
import { findSynapse, startSynapse } from "../sources/matrix/synapse.ts";
import { findMoto, startMoto } from "../sources/s3/moto.ts";
import { makeSlackFixture } from "../sources/slack/fixture.ts";
import { page, startSite } from "../sources/web/site.ts";
import { findPython, startServer as startWebdav } from "../sources/webdav/server.ts";
import { tempDir } from "../temp-dir.ts";

/** What a connector is created with, and what its first sync must bring. */
interface Place {
  config: unknown;
  credentials?: unknown;
  /** The host and port that the operator lets it reach. */
  host?: string;
  /** A folder of the server's machine. */
  root?: string;
  /** A word of an item that everybody in the workspace may read; without it the source says who may, and nobody is linked yet. */
  word?: string;
}

interface Row {
  server: "real" | "stand-in";
  /** Starts what is read; undefined where it can't run here, which it has said. */
  open(): Promise<Place | undefined>;
}

const EVERYONE = { readers: ["workspace"] };
const WORD = "marmalade";
const MAIL = `Message-ID: <a@one.test>\nFrom: Bo <bo@two.test>\nSubject: Jars\n\nThe ${WORD} is done.\n`;

const SOURCES: Readonly<Record<string, Row>> = {
  filesystem: { server: "real", open: async () => withRoot((root) => ({ root })) },
  git: {
    server: "real",
    open: async () => {
      const place = withRoot((root) => ({ url: root }));
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=Ana", "-c", "user.email=ana@one.test", ...args], { cwd: place.root });
      git("init", "--quiet");
      git("add", ".");
      git("commit", "--quiet", "-m", "Say it");
      return place;
    },
  },
  web: {
    server: "real",
    open: async () => {
      const site = await startSite();
      onTestFinished(() => site.stop());
      site.put("/", page("Jars", [], "", `The ${WORD} is done.`));
      return at(site.port, { config: { url: `${site.origin}/`, ...EVERYONE }, word: WORD });
    },
  },
  webdav: {
    server: "real",
    open: async () => {
      const python = findPython();
      if (python === undefined) return undefined;
      const { root } = withRoot((folder) => folder);
      const { port, stop } = await startWebdav(python, root);
      onTestFinished(stop);
      return at(port, {
        config: { url: `http://127.0.0.1:${port}/locked/`, ...EVERYONE },
        credentials: { username: "anna", password: "secret-of-anna" },
        word: WORD,
      });
    },
  },
  s3: {
    server: "real",
    open: async () => {
      const python = findMoto();
      if (python === undefined) return undefined;
      const moto = await startMoto(python);
      onTestFinished(() => moto.stop());
      await moto.change([{ key: "notes/a.md", text: `# Jars\n\nThe ${WORD} is done.` }]);
      const endpoint = `http://127.0.0.1:${moto.port}`;
      const config = { endpoint, region: "eu-west-1", bucket: "files", ...EVERYONE };
      return at(moto.port, { config, credentials: moto.users.reader, word: WORD });
    },
  },
  imap: {
    server: canRunDovecot() ? "real" : "stand-in",
    open: async () => {
      const { port, stop } = await openMailbox();
      onTestFinished(stop);
      return at(port, { config: { host: "127.0.0.1", port, tls: false }, credentials: PERSON, word: WORD });
    },
  },
  gitea: {
    server: "real",
    open: async () => {
      if (whyNoGitea() !== undefined) return undefined;
      const gitea = await startGitea();
      onTestFinished(() => gitea.stop());
      const olga = await gitea.addPerson("olga");
      await gitea.api("POST", "/user/repos", { name: "shelf", private: true, auto_init: true }, olga.token);
      await gitea.api("POST", "/repos/olga/shelf/issues", { title: "Jars", body: WORD }, olga.token);
      const config = { url: `http://127.0.0.1:${gitea.port}` };
      return at(gitea.port, { config, credentials: { token: olga.token } });
    },
  },
  matrix: {
    server: "real",
    open: async () => {
      const python = findSynapse();
      if (python === undefined) return undefined;
      const synapse = await startSynapse(python);
      onTestFinished(() => synapse.stop());
      const { people } = await makeMatrixWorld(synapse.url, await makeCrowd(synapse.url));
      return at(synapse.port, { config: { url: synapse.url }, credentials: { token: people.bot.token } });
    },
  },
  github: {
    server: "stand-in",
    open: async () => {
      const world = await makeGithubWorld();
      const { config, credentials } = await makeGithubFixture(world);
      return at(world.server.port, { config, credentials });
    },
  },
  jira: {
    server: "stand-in",
    open: async () => {
      const { jira, fixture } = await openJira();
      return at(jira.port, fixture);
    },
  },
  confluence: {
    server: "stand-in",
    open: async () => {
      const { site, fixture } = await openConfluence();
      return at(site.port, fixture);
    },
  },
  slack: {
    server: "stand-in",
    open: async () => {
      const { config, credentials } = await makeSlackFixture();
      const { url } = config as { url: string };
      return { config, credentials, host: new URL(url).host };
    },
  },
};

/** `push` and `mcp` have system tests of their own; the others read at an address of the world that nobody can set. */
const ELSEWHERE = ["push", "mcp", "google-drive", "notion"];

describe("the first sync by the installed program", { timeout: 180_000 }, () => {
  test("is tried with each source that it has", async () => {
    const admin = await start({});
    const { sources } = (await admin("GET", "/api/connectors/sources")).json;
    const ids = sources.map(({ providerId }: { providerId: string }) => providerId);
    expect(ids.toSorted()).toEqual([...Object.keys(SOURCES), ...ELSEWHERE].toSorted());
  });

  for (const [providerId, { server, open }] of Object.entries(SOURCES)) {
    test(`of ${providerId}, from a ${server} server`, async ({ skip }) => {
      const place = await open();
      if (place === undefined) return skip();
      const admin = await start(place);
      const { config, credentials, word } = place;
      const access = { visibility: "workspace" };
      const body = { providerId, name: "First", config, access, ...(credentials !== undefined && { credentials }) };
      const { status, json } = await admin("POST", "/api/connectors", body);
      expect([status, json]).toEqual([201, expect.anything()]);
      await firstSyncOf(admin, json.connector.id);
      if (word === undefined) return;
      const { results } = (await admin("GET", `/api/connectors/search?query=${word}`)).json;
      expect(results.map((hit: { providerId: string }) => hit.providerId)).toEqual([providerId]);
    });
  }
});

type Admin = Awaited<ReturnType<typeof signInAdmin>>;

/** The program with an admin who may reach this place. */
async function start({ host, root }: Partial<Place>): Promise<Admin> {
  const server = await startServerProcess(join(tempDir(), "data"), {
    KB_RATE_LIMITS: "off",
    ...(host !== undefined && { KB_ALLOW_PRIVATE_HOSTS: host }),
    ...(root !== undefined && { KB_LOCAL_ROOTS: root }),
  });
  return signInAdmin(server.url);
}

/** Waits until it is over; what it found is indexed, and nothing failed. */
async function firstSyncOf(admin: Admin, id: string): Promise<void> {
  const last = async () => {
    const { syncs } = (await admin("GET", `/api/connectors/${id}/syncs`)).json;
    return syncs.find(({ mode }: { mode: string }) => mode !== "identities");
  };
  await expect.poll(async () => (await last())?.finishedAt ?? null, { timeout: 60_000 }).not.toBeNull();
  expect(await last()).toMatchObject({ state: "succeeded", counts: { failed: 0 } });
  const counted = async () => (await admin("GET", `/api/connectors/${id}`)).json.connector.counts;
  await expect.poll(async () => (await counted()).indexed, { timeout: 60_000 }).toBeGreaterThan(0);
}

function at(port: number, { config, credentials, word }: Place): Place {
  return { config, credentials, host: `127.0.0.1:${port}`, ...(word !== undefined && { word }) };
}

/** A folder with one document in it. */
function withRoot(configOf: (root: string) => unknown): Place & { root: string } {
  const root = join(tempDir(), "shelf");
  mkdirSync(root);
  writeFileSync(join(root, "a.md"), `# Jars\n\nThe ${WORD} is done.\n`);
  return { config: configOf(root), root, word: WORD };
}

async function openMailbox(): Promise<{ port: number; stop(): void | Promise<void> }> {
  if (canRunDovecot()) {
    const dovecot = await startDovecot();
    dovecot.deliver("", MAIL);
    return dovecot;
  }
  const imap = await startImap();
  imap.add("INBOX", "Jars", `The ${WORD} is done.`);
  return { port: imap.port, stop: () => undefined };
}
