/** Live results from provider servers. The answer contains these hits in a separate list; no index, count or cache includes them. */
import { idSchema, Timestamp } from "./common.ts";
import { z } from "./route.ts";

/** Why a connection returned nothing: a closed list of codes. The sentences are for people and agents. */
export const LIVE_PROBLEMS = {
  timeout: "didn't answer within a second",
  needs_reauth: "must be connected again",
  tool_changed: "has changed its search tool, so an admin has to map the tool again",
  not_agreed: "waits until its owner agrees to the tools that kb calls: kb servers agree",
  refused: "refused the search",
  rate_limited: "limits the rate of requests",
  unavailable: "can't be reached, or failed",
  not_asked: "wasn't asked, because too many of your live searches are running",
} as const satisfies Record<string, string>;
export type LiveProblem = keyof typeof LIVE_PROBLEMS;
// The keys of a nonempty object.
const PROBLEM_CODES = Object.keys(LIVE_PROBLEMS) as [LiveProblem, ...LiveProblem[]];

export const LiveHit = z
  .object({
    connectionId: idSchema("connection"),
    /** The name of the server in kb. */
    server: z.string(),
    title: z.string(),
    url: z.string().nullable(),
    /** An excerpt on one line, as the server sent it but cleaned; empty when it sent none in time. */
    text: z.string(),
    updatedAt: Timestamp.nullable(),
  })
  .openapi("LiveHit");
export type LiveHit = z.infer<typeof LiveHit>;

export const LiveAnswer = z
  .object({
    /** At most 10 hits, taken from the connections in turn. */
    hits: z.array(LiveHit),
    /** The caller's own connections that were queried. */
    connections: z.array(
      z.object({
        connectionId: idSchema("connection"),
        server: z.string(),
        /** Null if the connection answered. */
        problem: z.enum(PROBLEM_CODES).nullable(),
      }),
    ),
  })
  .openapi("LiveAnswer");
export type LiveAnswer = z.infer<typeof LiveAnswer>;
