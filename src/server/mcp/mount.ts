import type { Parts } from "#storage/records/parts.ts";
import { Readable } from "node:stream";
import { ApiError, forbidden } from "#api/errors.ts";
import { HOPS_HEADER, isLoop, parseHops } from "#core/hops.ts";
import type { Authenticator } from "#server/http/authenticate.ts";
import { findRouteAccess } from "#server/http/auth.ts";
import { type App, originOf } from "#server/http/env.ts";
import type { Guard } from "#server/http/guard.ts";
import { chargeSender, type Limits, type Sender } from "#server/http/limits.ts";
import { MCP_PATHS, ownBaseUrl } from "#server/http/own-addresses.ts";
import type { Lifecycle } from "./revisions.ts";
import { makeMcpHandler, type ToolCalls } from "./rpc.ts";

export interface MountMcpOptions extends Pick<Parts, "clock" | "log"> {
  guard: Guard;
  authenticator: Authenticator;
  tools: ToolCalls;
  version: string;
  /** The public address of this server. The address of its metadata is derived from it. */
  baseUrl: string;
  /** The name by which this instance identifies itself to provider servers until its process ends. */
  instanceId: string;
  lifecycle?: Lifecycle;
  limits: Pick<Limits, "admit" | "chargeCall">;
}

/**
 * Mounts `/mcp`, also as `/mcp/`, on the app for every method. Methods other than POST are refused with the protocol's
 * own messages.
 */
export function mountMcp(app: App, options: MountMcpOptions): void {
  const rule = findRouteAccess("POST", "/mcp");
  if (rule === undefined) throw new Error("POST /mcp has no row in http/auth.ts.");
  const { clock, guard, authenticator, tools, log, version, lifecycle = "auto", limits, baseUrl, instanceId } = options;
  const handler = makeMcpHandler({
    clock,
    async checkSite(request, origin) {
      guard.checkHost(request.headers, request.url);
      guard.checkOrigin(request.headers);
      if (isLoop(parseHops(request.headers.get(HOPS_HEADER)), instanceId)) throw inLoop();
      const admit = (sender: Sender) => limits.admit({ ...sender, method: "POST", path: "/mcp" });
      await chargeSender(admit, origin.clientIp, () => authenticator.findShown(request.headers));
    },
    async authenticate(request, origin) {
      const caller = await authenticator.authenticate(rule, { url: request.url, headers: request.headers, origin });
      if (caller.type === "actor") return caller.actor;
      throw forbidden("/mcp takes a person's token.");
    },
    tools,
    log,
    version,
    resourceMetadataUrl: ({ headers, url }) => {
      const { pathname } = new URL(url);
      return `${ownBaseUrl(baseUrl, headers.get("host"))}/.well-known/oauth-protected-resource${pathname}`;
    },
    lifecycle,
    charge: limits.chargeCall,
  });
  for (const path of MCP_PATHS) {
    app.all(path, (c) => {
      const incoming: unknown = c.env?.incoming;
      return handler(c.req.raw, originOf(c), incoming instanceof Readable ? incoming : undefined);
    });
  }
}

/**
 * Returns the error for a request that comes from this server itself, or that passed through too many kb servers.
 * Source: S31.
 */
function inLoop(): ApiError {
  return new ApiError("loop", {
    message: "This request comes from this server itself, or passed through too many kb servers.",
    hint: "Don't register a kb server as a provider server of itself, or of one that it reads.",
  });
}
