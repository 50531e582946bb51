import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { loadAuthority } from "#server/connectors/authority.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import { S3Config } from "#sources/s3/config.ts";
import { makeS3Source } from "#sources/s3/index.ts";
import { CONNECTOR, type Harness, makeHarness, WORKSPACE } from "../../server/sync/harness.ts";
import { makePool } from "../http/fixture.ts";
import { oddNames } from "../odd-names.ts";
import { startProxy } from "../proxy.ts";
import { findMoto, startMoto } from "./moto.ts";

const PYTHON = findMoto();
/** More than a page. */
const FOLDERS = 1_010;
const FILES = 5;
// The server's own routes know no line ends.
const ODD = [
  ...oddNames(200).filter((name) => !name.includes("\n")),
  "a+b %41 & ?#=.md",
  "dir//double.md",
  "/leading.md",
  "ü~(1)!*'.md",
];

describe.skipIf(PYTHON === undefined)(
  "s3, with a server that checks signatures and rights",
  { timeout: 120_000 },
  () => {
    let moto: Awaited<ReturnType<typeof startMoto>>;

    beforeAll(async () => {
      if (PYTHON === undefined) return undefined;
      moto = await startMoto(PYTHON);
      return () => moto.stop();
    });

    /** The source with the keys of a user. */
    function connect(credentials: Record<string, string>, more: Record<string, unknown> = {}) {
      const source = makeS3Source();
      const { open } = makePool([moto]);
      const url = `http://127.0.0.1:${moto.port}`;
      const config = S3Config.parse({ endpoint: url, region: "eu-west-1", bucket: "files", ...more });
      const { auth } = source.spec;
      const { http } = open({ servers: [moto], auth, credentials, config: { ...config, url } });
      const context: SourceContext<S3Config> = {
        config,
        connector: { id: CONNECTOR, name: "Files" },
        http,
        signal: new AbortController().signal,
        now: () => Date.now(),
        log: () => undefined,
      };
      return { source, context };
    }

    test("says which right is missing, and what is wrong with keys, bucket and region", async () => {
      await moto.change([{ key: "check/a b.md", text: "text" }]);
      const outcomeOf = async (credentials: Record<string, string>, more = {}) => {
        const { source, context } = connect(credentials, { prefix: "check/", ...more });
        return source.check(context);
      };
      const { reader, lister, nobody } = moto.users;
      expect(await outcomeOf(reader)).toEqual({ ok: true });
      expect(await outcomeOf(lister)).toMatchObject({ ok: true, warnings: [expect.stringContaining("s3:GetObject")] });
      expect(await outcomeOf(nobody)).toMatchObject({ problem: { hint: expect.stringContaining("s3:ListBucket") } });
      const field = (name: string) => ({ ok: false, problem: { field: name } });
      expect(await outcomeOf({ ...reader, secretAccessKey: "other" })).toMatchObject(field("credentials"));
      expect(await outcomeOf({ ...reader, accessKeyId: "AKIAOTHER" })).toMatchObject(field("credentials"));
      expect(await outcomeOf(reader, { bucket: "none-there" })).toMatchObject(field("bucket"));
      expect(await outcomeOf(reader, { prefix: "no/" })).toMatchObject({ warnings: [expect.stringContaining("no/")] });
    });

    test("browses folders with paging, and reads a key with any characters", async () => {
      const { source, context } = connect(moto.users.reader, { prefix: "odd/" });
      const keys = ODD.map((name) => `odd/${name}`);
      await moto.change(keys.map((key) => ({ key, text: `text of ${key}` })));
      for (const key of keys) {
        const content = await source.fetchContent?.(context, { externalId: key });
        const pieces = [];
        for await (const piece of content?.stream ?? []) pieces.push(piece);
        expect(Buffer.concat(pieces).toString()).toBe(`text of ${key}`);
      }
      const root = await source.browse?.(connect(moto.users.reader).context, { parent: null });
      expect(root?.nodes.map(({ id }) => id)).toContain("odd/");
      const { nodes } = (await source.browse?.(context, { parent: "odd/" })) ?? { nodes: [] };
      expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(["odd/dir/", "odd/ü~(1)!*'.md"]));
    });

    test("many objects, then nothing, then changes and removals: only that is read", async () => {
      const proxy = await startProxy(moto.port);
      onTestFinished(() => proxy.stop());
      const folders = Array.from({ length: FOLDERS }, (_, i) => ({ key: `many/e${i}/`, text: "" }));
      const files = Array.from({ length: FILES }, (_, i) => ({ key: `many/f${i}.bin`, text: "" }));
      const read = [
        { key: "many/a b+c.md", text: "# First\n\nsome words" },
        { key: "many/%2e%2e/d.md", text: "# Second\n\nsome words" },
        { key: "many/frozen.md", text: "# Frozen", storage: "GLACIER" },
        { key: "many/../up.md", text: "never read" },
      ];
      await moto.change([...folders, ...files, ...read]);
      // Its configurations were parsed by its own schema.
      const source = makeS3Source() as unknown as Source;
      const { pool } = makePool([proxy]);
      const kb: Harness = await makeHarness(() => [], {
        findSource: () => source,
        http: pool,
        credentialsOf: async () => ({ credentials: moto.users.reader }),
        loadAuthority: async (_workspaceId, _source, connector) =>
          loadAuthority({ groups: kb.store.in(WORKSPACE).groups }, source, connector, undefined),
        people: { isTrusted: async () => false, onEnded: async () => undefined, link: async () => undefined },
        parallel: 1,
      });
      const endpoint = `http://127.0.0.1:${proxy.port}`;
      const config = { endpoint, region: "eu-west-1", bucket: "files", prefix: "many/", readers: ["workspace"] };
      await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { config: S3Config.parse(config) });
      const paths = () => proxy.requests.map(({ path }) => (path.includes("list-type") ? "LIST" : path));
      const living = async () => (await kb.items()).filter(({ removedAt }) => removedAt === null);

      expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { upserted: FILES + 3, failed: 0 } });
      expect(paths().sort()).toEqual(["/files/many/%252e%252e/d.md", "/files/many/a%20b%2Bc.md", "LIST", "LIST"]);
      expect(await living()).toHaveLength(FILES + 3);

      proxy.requests.length = 0;
      expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { upserted: 0, unchanged: FILES + 3 } });
      expect(paths()).toEqual(["LIST", "LIST"]);

      proxy.requests.length = 0;
      await moto.change([{ key: "many/a b+c.md", text: "# Changed" }, { key: "many/f3.bin" }]);
      const counts = { upserted: 1, deleted: 1, unchanged: FILES + 1 };
      expect(await kb.sync()).toMatchObject({ state: "succeeded", counts });
      expect(paths().sort()).toEqual(["/files/many/a%20b%2Bc.md", "LIST", "LIST"]);

      for (const status of [500, 403, 404]) {
        proxy.instead = ({ path }, response) =>
          path.includes("continuation-token") && (response.writeHead(status).end("<Error/>"), true);
        expect(await kb.sync()).toMatchObject({ state: "failed", counts: { deleted: 0 } });
        expect(await living()).toHaveLength(FILES + 2);
      }
    });
  },
);
