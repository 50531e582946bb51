import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import type { Provider } from "oidc-provider";
import { makeId, Scope } from "#api/common.ts";
import { ApiError, forbidden } from "#api/errors.ts";
import type { ConsentDecision, ConsentRequest } from "#api/oauth.ts";
import type { Actor } from "#storage/access/actor.ts";
import { actOn, type AuditAct } from "#storage/audit-act.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import type { MemberRecord } from "#storage/records/members.ts";
import type { OAuthClientRecord } from "#storage/records/oauth.ts";
import type { Store } from "#storage/records/store.ts";
import type { OAuthKeys } from "./keys.ts";
import type { ClientDocuments } from "./client-documents.ts";
import { LIFETIMES, OWN_CLIENT_ID, resourcesOf, SCOPES_OF, type Audience } from "./policy.ts";

/** A client's request for access, from a browser or a device. */
export interface Asked {
  clientId: string;
  scopes: Scope[];
  audiences: Audience[];
  /** Null for a request from a device. */
  place: { host: string; isLocal: boolean } | null;
  askedFrom: string | null;
  expiresAt: number;
  /** The values that the page's CSRF proof covers in addition to the session. */
  subject: readonly string[];
}

/** Checks the person's password again. @throws ApiError `sign_in_failed`, `rate_limited` */
export type ProvePassword = (email: string, password: string, actor: Actor) => Promise<{ userId: string }>;

export interface DecisionOptions extends Pick<Parts, "store" | "clock" | "randomBytes"> {
  audit: AuditRecorder;
  keys: OAuthKeys;
  baseUrl: string;
  prove: ProvePassword;
  documents: Pick<ClientDocuments, "keep" | "readAt">;
}

/**
 * Claims the consent request, so that a concurrent decision fails.
 *
 * @throws ApiError `consent_invalid` if another decision was first
 */
export type Claim = () => Promise<void>;

/** The decisions that the consent page and the device page share. */
export type Decisions = ReturnType<typeof makeDecisions>;

/** Consent is never automatic: a person with a session makes each grant here. Source: S33. */
export function makeDecisions(options: DecisionOptions) {
  const { store, clock, keys, audit, documents } = options;

  async function workspacesOf(userId: string) {
    const memberships = await store.users.membershipsOf(userId);
    const named = memberships.map(async ({ workspaceId, role }) => {
      const workspace = await store.workspaces.find(workspaceId);
      return workspace && { id: workspaceId, name: workspace.name, role };
    });
    return (await Promise.all(named)).filter((workspace) => workspace !== undefined);
  }

  return {
    async describe(provider: Provider, actor: Actor, asked: Asked): Promise<ConsentRequest> {
      const client = await findClient(provider, asked.clientId);
      const readAt = await documents.readAt([asked.clientId]);
      return {
        client: {
          id: asked.clientId,
          name: client.name,
          host: asked.place?.host ?? null,
          isLocal: asked.place?.isLocal ?? false,
          uri: client.uri,
          documentReadAt: isoOrNull(readAt.get(asked.clientId) ?? null),
          isOurs: asked.clientId === OWN_CLIENT_ID,
        },
        scopes: asked.scopes,
        workspaces: await workspacesOf(actor.userId),
        currentWorkspaceId: actor.workspaceId,
        needsPassword: asked.scopes.includes("kb:admin"),
        csrf: keys.prove("consent", actor.credential.id, ...asked.subject),
        expiresAt: isoOf(asked.expiresAt),
        askedFrom: asked.askedFrom,
      };
    },

    /** @throws ApiError `forbidden` if the page was made for another session or another request */
    checkProof(actor: Actor, asked: Asked, csrf: string): void {
      if (keys.isProof(csrf, "consent", actor.credential.id, ...asked.subject)) return;
      throw forbidden("This page belongs to another session. Reload it.");
    },

    /**
     * Authorizes the client: stores the grant for the person and for the library, and records it in the audit log.
     *
     * @returns the grant's id, which the library and kb share
     * @throws ApiError `forbidden` for someone else's workspace, `role_too_low`, `password_needed`, `sign_in_failed`
     */
    async allow(
      provider: Provider,
      actor: Actor,
      asked: Asked,
      decision: ConsentDecision,
      claim: Claim,
    ): Promise<string> {
      const workspaceId = decision.workspaceId ?? actor.workspaceId;
      const authenticatedAt = await requireStanding(options, actor, asked, { ...decision, workspaceId });
      const client = await findClient(provider, asked.clientId);
      // The request is claimed only after all checks whose errors the person can correct, so that a wrong password
      // doesn't use it up.
      await claim();
      const grantId = makeId("grant", options.randomBytes);
      const at = clock.now();
      const lifetime = asked.scopes.includes("kb:admin") ? LIFETIMES.accessToken : LIFETIMES.refreshToken;
      await store.transaction(async (tx) => {
        // Checking a password takes time. If the person was removed in the meantime, they must not find the grant when
        // they come back.
        await requireMember(tx, actor, asked, workspaceId);
        await tx.in(workspaceId).grants.insert({
          grantId,
          workspaceId,
          userId: actor.userId,
          clientId: asked.clientId,
          clientName: client.name,
          place: placeText(asked),
          scopes: asked.scopes,
          isDevice: asked.place === null,
          authenticatedAt,
          createdAt: at,
          lastUsedAt: null,
          expiresAt: at + lifetime * 1000,
          revokedAt: null,
        });
        const there = { ...actor, workspaceId };
        const registered = await tx.oauth.findClient(asked.clientId);
        // A registration belongs to no workspace. The workspace of the first person who authorizes the client records
        // the registration in its audit log.
        if (registered?.lastUsedAt === null) await audit.record(tx, there, registration(registered));
        await tx.oauth.markClientUsed(asked.clientId, at, at);
        await audit.record(tx, there, acted("consent.given", grantId, asked));
      });
      await documents.keep(asked.clientId);
      await saveGrant(provider, options.baseUrl, { grantId, userId: actor.userId, asked });
      return grantId;
    },

    async deny(actor: Actor, asked: Asked): Promise<void> {
      await audit.record(store, actor, { ...acted("consent.denied", asked.clientId, asked), outcome: "refused" });
    },
  };
}

/** Stores the grant for the library: the scopes allowed for each resource. */
async function saveGrant(
  provider: Provider,
  baseUrl: string,
  { grantId, userId, asked }: { grantId: string; userId: string; asked: Asked },
): Promise<void> {
  const grant = new provider.Grant({ accountId: userId, clientId: asked.clientId });
  grant.jti = grantId;
  const resources = resourcesOf(baseUrl);
  for (const audience of asked.audiences) {
    const scopes = asked.scopes.filter((scope) => SCOPES_OF[audience].includes(scope));
    if (scopes.length > 0) grant.addResourceScope(resources[audience], scopes.join(" "));
  }
  await grant.save();
}

/**
 * Checks that this person may authorize a client in that workspace with these scopes.
 *
 * @returns when the person last proved their identity
 */
async function requireStanding(
  { store, clock, prove }: DecisionOptions,
  actor: Actor,
  asked: Asked,
  { workspaceId, password }: { workspaceId: string; password?: string | undefined },
): Promise<number> {
  const member = await requireMember(store, actor, asked, workspaceId);
  const session = await store.sessions.find(actor.credential.id);
  if (!asked.scopes.includes("kb:admin")) return session?.authenticatedAt ?? clock.now();
  if (password === undefined) {
    throw new ApiError("password_needed", {
      message: "Confirm your password to grant admin rights.",
      field: "password",
    });
  }
  const { userId } = await prove(member.email, password, actor);
  if (userId !== actor.userId) throw forbidden("The password belongs to a different account.");
  return clock.now();
}

async function requireMember(from: Store, actor: Actor, asked: Asked, workspaceId: string): Promise<MemberRecord> {
  const member = await from.in(workspaceId).members.find(actor.userId);
  if (!member) throw forbidden("You are not a member of this workspace.");
  if (asked.scopes.includes("kb:admin") && member.role === "member") {
    throw new ApiError("role_too_low", { message: "You are not an admin of this workspace." });
  }
  return member;
}

async function findClient(provider: Provider, clientId: string): Promise<{ name: string; uri: string | null }> {
  const client = await provider.Client.find(clientId).catch((cause: unknown) => {
    throw new ApiError("unavailable", { message: "The app can't be identified now. Try again in a minute.", cause });
  });
  if (!client) throw consentGone();
  return { name: client.clientName ?? clientId, uri: client.clientUri ?? null };
}

/** Reads the client's request from its parameters. */
export function readAsked(
  params: Record<string, unknown>,
  baseUrl: string,
): Pick<Asked, "clientId" | "scopes" | "audiences"> {
  const { client_id: clientId, scope, resource } = params;
  const resources = resourcesOf(baseUrl);
  const wanted = Array.isArray(resource) ? resource : [resource ?? resources.mcp];
  return {
    clientId: String(clientId),
    scopes: String(scope ?? "mcp:read")
      .split(" ")
      .filter((one): one is Scope => Scope.safeParse(one).success),
    audiences: (["mcp", "api"] as const).filter((audience) => wanted.includes(resources[audience])),
  };
}

/** The error is the same for an unknown, expired or already decided request. */
export function consentGone(): ApiError {
  return new ApiError("consent_invalid", {
    message: "This request was already decided or has expired. Return to the app and start again.",
  });
}

function placeText({ place }: Asked): string {
  if (place === null) return "a device";
  return place.isLocal ? "this computer" : place.host;
}

function registration({ clientId, createdAt, ip }: OAuthClientRecord): AuditAct {
  const details = { registeredAt: isoOf(createdAt), registeredFrom: ip };
  return actOn(clientId, "client.registered", details);
}

function acted(action: string, id: string, asked: Asked): AuditAct {
  return actOn(id, action, { clientId: asked.clientId, scopes: asked.scopes, place: placeText(asked) });
}
