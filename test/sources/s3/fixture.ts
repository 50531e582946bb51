import { makeS3Source } from "#sources/s3/index.ts";
import type { KitFixture } from "../../kit/fixture.ts";
import { oddNames } from "../odd-names.ts";
import { makeStore, sayError, serveStore } from "./store.ts";

export const KEYS = ["a.md", "b/1.txt", "b/2.txt", "b/c/3.md", "d.md", "e/4.md", "z.txt"];

export const CREDENTIALS = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "secret-of-the-key" };

/** The kit's fixture over a store of ours that checks who signs. */
export async function makeS3Fixture(): Promise<KitFixture> {
  const { store, server } = await serveStore(makeStore());
  for (const key of KEYS) store.put(key);
  const source = makeS3Source({ batching: { upserts: 2, seen: 3 } });
  const config = source.spec.config.parse({ endpoint: server.origin, bucket: "files" });
  let count = 0;
  const refuseOthers = () => {
    store.instead = ({ headers }, response) => {
      const isKnown = headers.authorization?.includes(`Credential=${CREDENTIALS.accessKeyId}/`) ?? false;
      return !isKnown && (sayError(response, 403, "InvalidAccessKeyId"), true);
    };
  };
  refuseOthers();
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: CREDENTIALS,
    badCredentials: { ...CREDENTIALS, accessKeyId: "AKIAOTHER" },
    badConfigs: [
      {},
      { bucket: "" },
      { ...config, bucket: "a/b" },
      { ...config, bucket: ".." },
      { ...config, endpoint: "ftp://127.0.0.1/" },
      { ...config, endpoint: "http://anna:secret@127.0.0.1/" },
      { ...config, endpoint: `${server.origin}/files` },
      { ...config, region: "eu.example.com/" },
      { ...config, bucket: "with.dot", pathStyle: false },
      { ...config, readers: ["everyone"] },
      { ...config, bucket: "none" },
      { ...config, depth: 1 },
    ],
    minItems: KEYS.length,
    narrowerScope: { include: [], exclude: ["b/"] },
    add: async () => store.put(`c/new-${++count}.md`),
    // As long as before.
    edit: async () => store.put("d.md", `e${String(++count).padStart(3, "0")}`),
    async remove() {
      store.objects.delete("b/2.txt");
      return "b/2.txt";
    },
    addOdd: async () => oddNames(200).map((name) => store.put(`odd/${name}`, "text")),
    async moveItem() {
      const [from, to] = ++count % 2 === 1 ? (["z.txt", "e/z.txt"] as const) : (["e/z.txt", "z.txt"] as const);
      store.objects.delete(from);
      return store.put(to);
    },
    requests: () => server.requests.length,
    async fail(kind) {
      const heal = refuseOthers;
      switch (kind) {
        case "unreachable":
          store.instead = (_got, response) => (response.destroy(), true);
          return { externalIds: KEYS, heal };
        case "unauthorized":
          store.instead = (_got, response) => (sayError(response, 403, "SignatureDoesNotMatch"), true);
          return { externalIds: KEYS, heal };
        case "rate_limited":
          store.instead = (_got, response) => (response.writeHead(429, { "retry-after": "3600" }).end(), true);
          return { externalIds: KEYS, heal };
        case "hang":
          store.instead = () => true;
          return { externalIds: KEYS, heal };
        case "one_item":
          store.instead = ({ path }, response) =>
            path === "/files/d.md" && (sayError(response, 403, "AccessDenied"), true);
          return { externalIds: ["d.md"], heal };
        case "one_container":
        case "two_containers":
          // A bucket has no folders that could be refused.
          return undefined;
      }
    },
  };
}
