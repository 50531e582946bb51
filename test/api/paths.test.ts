import { expectTypeOf, test } from "vitest";
import type { BodyOf, DataOf, InitOf, PathOf, QueryOf } from "#api/client.ts";
import type { Method, Operations } from "#api/paths.ts";
import type { RpcAnswer } from "#bridge/frames.ts";
import type { Api } from "#cli/calls/api.ts";

/** Methods whose paths are any text: what a helper does that makes routes and is not generic in the path. */
type Widened = { [M in Method]: string extends PathOf<M> ? M : never }[Method];

/** What `Faults` finds, as "get /api/files". */
type With<Fault extends string> = {
  [M in Method]: { [P in PathOf<M>]: Fault extends Faults<M, P> ? `${M} ${P}` : never }[PathOf<M>];
}[Method];

type Faults<M extends Method, P extends PathOf<M>> =
  | ([Operations[M][P]] extends [never] ? "no operation" : never)
  | ([DataOf<M, P>] extends [never] ? "no success" : never)
  | (0 extends 1 & DataOf<M, P> ? "any answer" : never)
  | (unknown extends QueryOf<M, P>[keyof QueryOf<M, P>] ? "any query" : never);

type Redirect = `get /${string}/${"authorize" | "callback"}${string}`;

test("the client's types have each path, with its own answer and query", () => {
  expectTypeOf<Widened>().toEqualTypeOf<never>();
  expectTypeOf<With<"no operation">>().toEqualTypeOf<never>();
  expectTypeOf<With<"any answer">>().toEqualTypeOf<never>();
  // A browser is sent there and on, with whatever the other side adds.
  expectTypeOf<With<"no success">>().toExtend<Redirect>();
  expectTypeOf<With<"any query">>().toExtend<Redirect>();
});

/** Never called. The type check reads it, and fails when one of these lines has no error. */
export async function refusedInTheCommandLine({ get, post }: Api): Promise<void> {
  // @ts-expect-error -- a path that is none
  await get("/api/tokens");
  // @ts-expect-error -- a parameter that the path does not have
  await get("/api/connectors/{id}", { params: { path: { connectorId: "con_1" } } });
  // @ts-expect-error -- a field that the body does not have, beside one that it has
  await post("/api/api-tokens", { body: { name: "laptop", days: 30 } });
  // @ts-expect-error -- a key that the answer does not have
  await get("/api/api-tokens").then((data) => data.apiTokens);
}

/** The same for the one path of the bridge, whose messages JSON-RPC leaves open: it takes more keys than it names. */
export function refusedInTheBridge(answer: RpcAnswer): void {
  // @ts-expect-error -- a path that is none
  void ("/mcpp" satisfies PathOf<"post">);
  // @ts-expect-error -- a parameter that the path does not have
  void ({ params: { path: { id: "con_1" } } } satisfies Partial<InitOf<"post", "/mcp">>);
  // @ts-expect-error -- a field in place of `method`
  void ({ jsonrpc: "2.0", id: 1, verb: "tools/list" } satisfies BodyOf<"post", "/mcp">);
  // @ts-expect-error -- a key that the answer does not have
  void answer.results;
}
