/** The title of an audit action, and the sentence that describes its row. */

/**
 * The title in the filter list, and the action in words. `{target}` and `{name of a detail}` are replaced with values
 * of the row.
 */
type ActWords = readonly [title: string, says: string];

/** The actions by topic, in the order of the filter list. */
export const ACTS_BY_TOPIC: readonly { topic: string; acts: Readonly<Record<string, ActWords>> }[] = [
  {
    topic: "Sign-in and accounts",
    acts: {
      "session.opened": ["Signed in", "signed in"],
      "session.refused": ["Sign-in refused", "couldn't sign in"],
      "session.ended": ["Session ended", "ended another session of theirs"],
      "user.changed": ["Profile changed", "changed their profile"],
      "user.password_changed": ["Password changed", "changed their password"],
      "user.password_reset": ["Password reset", "reset their password with a link"],
      "user.password_set": ["Password set by the operator", "set the password on the server's machine"],
      "user.email_changed": ["Address changed", "changed their email address"],
      "user.email_verified": ["Address confirmed", "confirmed their email address"],
      "account.connected": ["Account connected", "connected an account at {providerId}"],
      "account.reconnected": ["Account connected again", "connected an account at {providerId} again"],
      "account.disconnected": ["Account disconnected", "disconnected an account at {providerId}"],
      "account.refused": ["Account refused", "couldn't connect an account at {providerId} that {target} has"],
      "user.sso_linked": ["Single sign-on linked", "linked their account to single sign-on"],
    },
  },
  {
    topic: "Events",
    acts: {
      "event_target.created": ["Event target added", "added an event target at {host}"],
      "event_target.updated": ["Event target changed", "changed an event target"],
      "event_target.deleted": ["Event target deleted", "deleted an event target at {host}"],
      "event_target.paused": ["Event target paused by the server", "paused an event target ({reason})"],
      "event_target.secret_rotated": ["Secret of an event target rotated", "rotated the secret of an event target"],
      "event_target.tested": ["Event target tested", "sent a ping to an event target"],
      "event_target.replayed": ["Events replayed", "replayed events: {count}"],
    },
  },
  {
    topic: "Members and groups",
    acts: {
      "invitation.created": ["Invited", "invited {target} as {role}"],
      "invitation.accepted": ["Invitation accepted", "accepted the invitation for {target}"],
      "invitation.withdrawn": ["Invitation withdrawn", "withdrew the invitation for {target}"],
      "member.role_changed": ["Role changed", "changed the role of {target} from {from} to {to}"],
      "member.removed": ["Member removed", "removed {target} from the workspace"],
      "member.left": ["Member left", "left the workspace"],
      "member.reset_link_made": ["Password reset link created", "created a password reset link for {target}"],
      "group.created": ["Group created", "created the group {target}"],
      "group.changed": ["Group changed", "changed the group {target}"],
      "group.deleted": ["Group deleted", "deleted the group {target}"],
    },
  },
  {
    topic: "Connectors",
    acts: {
      "connector.created": ["Connector created", "created the connector {target}"],
      "connector.changed": ["Connector changed", "changed the connector {target}"],
      "connector.scope_changed": ["Scope changed", "changed the scope of the connector {target}"],
      "connector.paused": ["Connector paused", "paused the connector {target}"],
      "connector.resumed": ["Connector resumed", "resumed the connector {target}"],
      "connector.deleted": ["Connector deleted", "deleted the connector {target}"],
      "connector.key_rotated": ["Key rotated", "rotated the key of the connector {target}"],
      "connector.key_revoked": ["Key revoked", "revoked the key of the connector {target}"],
      "connector.webhook_rotated": ["Webhook secret created", "created a webhook secret for the connector {target}"],
      "connector.taken_over": ["Connector taken over", "took over the connector {target} from {from}"],
      "connector.sync_requested": ["Sync requested", "started a sync of {target}"],
      "connector.sync_cancelled": ["Sync cancelled", "cancelled a sync of {target}"],
      "connector.removals_approved": ["Removals approved", "approved held removals of {target}"],
      "connector.removals_rejected": ["Removals rejected", "rejected held removals of {target}"],
      "connector.item_restored": ["Item restored", "restored an item of {target}"],
      "connector.set_pushed": ["Full set pushed", "pushed the full set of {target}"],
      "connector.access_pushed": ["Access pushed", "pushed who can read items of {target}"],
      "connector.people_pushed": ["People pushed", "pushed who belongs to the groups of {target}"],
      "person.linked": ["Person linked", "linked {target} to a user of a source"],
      "person.unlinked": ["Person unlinked", "ended the link of {target} to a user of a source"],
    },
  },
  {
    topic: "Provider servers",
    acts: {
      "server.created": ["Server added", "added the provider server {target}"],
      "server.changed": ["Server changed", "changed the provider server {target}"],
      "server.deleted": ["Server deleted", "deleted the provider server {target}"],
      "server.mapped": ["Tools mapped", "mapped tools of the provider server {target}"],
      "server.unmapped": ["Tools unmapped", "unmapped the tools of the provider server {target}"],
      "server.tool_previewed": ["Tool tried", "tried a tool of the provider server {target}"],
      "connection.agreed": ["Tools agreed to", "agreed to the tools that kb calls with the connection {target}"],
      "connection.created": ["App connected", "created the connection {target}"],
      "connection.access_changed": [
        "Connection's access changed",
        "changed who sees what is read through the connection {target}",
      ],
      "connection.lost": ["Sign-in refused", "stopped the connection {target}: its server refused it"],
      "connection.revoked": ["App disconnected", "ended the connection {target}"],
    },
  },
  {
    topic: "Tokens and clients",
    acts: {
      "token.created": ["Token created", "created the token {target}"],
      "token.revoked": ["Token revoked", "revoked the token {target}"],
      "token.adopted": ["Token kept", "kept the token {target} independent of its login"],
      "token.first_used": ["First use", "used {target} for the first time"],
      "token.used_from_new_network": ["New network", "used {target} from a new network"],
      "client.registered": ["Client registered", "connected the client {target} for the first time"],
      "consent.given": ["Access allowed", "allowed {target} to access the workspace"],
      "consent.denied": ["Access denied", "denied {target} access"],
      "grant.revoked": ["Access revoked", "revoked the access of {target}"],
      "grant.reuse_detected": ["Reused token refused", "disconnected {target}, because a token was used twice"],
    },
  },
  {
    topic: "Workspace and server",
    acts: {
      "workspace.created": ["Workspace created", "created the workspace"],
      "workspace.changed": ["Workspace changed", "changed the workspace's settings"],
      "installation.completed": ["Server set up", "set up this server"],
      "installation.reopened": ["Setup reopened", "reopened setup on the server's machine"],
      "local_root.added": ["Folder allowed", "allowed the folder {path}"],
      "local_root.removed": ["Folder disallowed", "disallowed the folder {target}"],
      "access.explained": ["Access checked", "checked whether {userId} can see {target}"],
      "audit.exported": ["Audit exported", "exported the audit"],
      "server.restored": ["Data restored", "found restored data: {connectors} connectors read everything again"],
      "server.weakened": ["Weak setting", "started with weaker security settings: {settings}"],
    },
  },
];

const ACTS = new Map(ACTS_BY_TOPIC.flatMap(({ acts }) => Object.entries(acts)));

/** A part of a sentence. Names from the row are emphasized. */
export interface Piece {
  text: string;
  isName: boolean;
}

/** The fields of a row that its sentence needs. */
export interface DescribedAct {
  action: string;
  targetType: string;
  targetId: string;
  details: Readonly<Record<string, unknown>>;
}

/** Returns the sentence after the actor's name, in parts. Ids are shown by name, or by type if they have none. */
export function describeAct(
  { action, targetType, targetId, details }: DescribedAct,
  names: ReadonlyMap<string, string>,
): Piece[] {
  const nameOf = (key: string): string => {
    const value = key === "target" ? targetId : details[key];
    if (Array.isArray(value)) return value.map(String).join(", ");
    const found = names.get(String(value));
    if (found !== undefined) return found;
    if (key !== "target") return value === undefined ? "?" : String(value);
    return GONE[targetType] ?? targetType;
  };
  // An action that has no words here is shown by its code.
  const [, says] = ACTS.get(action) ?? [action, `did ${action} on {target}`];
  return says
    .split(/(\{\w+\})/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      const key = /^\{(\w+)\}$/.exec(piece)?.[1];
      return key === undefined ? { text: piece, isName: false } : { text: nameOf(key), isName: true };
    });
}

/** Words for things that no longer have a name. */
const GONE: Readonly<Record<string, string>> = {
  client: "a client",
  connector: "(deleted)",
  file: "an item",
  local_root: "(unknown)",
  grant: "a client",
  group: "(deleted)",
  invitation: "(withdrawn)",
  token: "a token",
  user: "a former member",
};
