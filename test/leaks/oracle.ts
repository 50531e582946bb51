/** Whether a server answers what the model says: each item, count and facet of lists and searches, and each score. */
import type { SearchIndex, SearchRequest } from "#storage/search-index.ts";
import type { Policy } from "#storage/policy/policy.ts";
import { oracleSearch } from "../storage/index/oracle.ts";
import type { LeakServer, Plant } from "./build.ts";
import { mayRead, type Persona } from "./model.ts";

/** The parts of a server that are asked below its routes, kept as they are made. */
export function keepParts(): { plant: Plant; parts: () => { index: SearchIndex; policy: Policy } } {
  const kept: { index?: SearchIndex; policy?: Policy } = {};
  return {
    plant: { index: (real) => (kept.index = real), policy: (real) => (kept.policy = real) },
    parts() {
      const { index, policy } = kept;
      if (!index || !policy) throw new Error("No server was made with them.");
      return { index, policy };
    },
  };
}

const FACETS = ["kind", "source", "provider", "person", "status", "month"] as const;
/** The canary of everything is a prefix. */
const QUERIES = ["", "cnry*", "ledger", "merger salary", "budget invoice travel policy"];

/** What a persona is answered, and what they should be: items of lists, and hits with their scores, totals and facets. */
export async function answersTo(
  server: LeakServer,
  { index, policy }: { index: SearchIndex; policy: Policy },
  persona: Persona,
) {
  const { model, documents } = server;
  const actor = await server.actorOf(persona);
  const viewer = await policy.viewerOf(actor);
  const readable = model.items.filter((item) => mayRead(model, persona, item)).map(({ kbId }) => kbId);
  const all = model.items.map(({ kbId }) => kbId);
  const told = new Map(
    readable.flatMap((kbId) => {
      const document = documents.get(kbId);
      return document ? [[kbId, { ...document, aclId: 1 }] as const] : [];
    }),
  );
  const texts = new Map(model.items.map(({ kbId, title, text }) => [kbId, [title, text]]));
  const plain = { documents: told, accesses: new Map([[1, [["everyone"]]]]), texts };
  const answers: unknown[] = [[...(await policy.mayRead(actor, all))].sort()];
  const expected: unknown[] = [[...readable].sort()];
  for (const query of QUERIES) {
    const request: SearchRequest = {
      workspaceId: actor.workspaceId,
      viewer,
      query,
      filters: {},
      order: "relevance",
      limit: 200,
      facets: FACETS,
    };
    const { tookMs: _tookMs, ...answer } = await index.search(request);
    answers.push(answer);
    expected.push(oracleSearch(plain, { ...request, viewer: { principals: ["everyone"], epoch: 0 } }));
  }
  const { json } = await server.clients[persona].get("/api/connectors/all-files?limit=200");
  answers.push([json.total, json.files.map(({ kbId }: { kbId: string }) => kbId).sort()]);
  expected.push([readable.length, [...readable].sort()]);
  return { answers, expected, count: readable.length };
}
