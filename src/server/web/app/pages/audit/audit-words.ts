/** The title of an audit action, and the sentence that describes its row. */

export interface ActWords {
  /** Title in the filter list. */
  title: string;
  /** The action in words; `{target}` and `{name of a detail}` are replaced with values of the row. */
  says: string;
}

/** By topic, in the order of the filter list. */
export const ACTS_BY_TOPIC: readonly { topic: string; acts: Readonly<Record<string, ActWords>> }[] = [
  {
    topic: "Sign-in and accounts",
    acts: {
      "session.opened": { title: "Signed in", says: "signed in" },
      "session.refused": { title: "Sign-in refused", says: "couldn't sign in" },
      "session.ended": { title: "Session ended", says: "ended another session of theirs" },
      "user.changed": { title: "Profile changed", says: "changed their profile" },
      "user.password_changed": { title: "Password changed", says: "changed their password" },
      "user.password_reset": { title: "Password reset", says: "reset their password with a link" },
      "user.password_set": { title: "Password set by the operator", says: "set the password on the server's machine" },
      "user.email_changed": { title: "Address changed", says: "changed their email address" },
      "user.email_verified": { title: "Address confirmed", says: "confirmed their email address" },
      "account.connected": { title: "Account connected", says: "connected an account at {providerId}" },
      "account.reconnected": { title: "Account connected again", says: "connected an account at {providerId} again" },
      "account.disconnected": { title: "Account disconnected", says: "disconnected an account at {providerId}" },
      "account.refused": {
        title: "Account refused",
        says: "couldn't connect an account at {providerId} that {target} has",
      },
      "user.sso_linked": { title: "Single sign-on linked", says: "linked their account to single sign-on" },
    },
  },
  {
    topic: "Events",
    acts: {
      "event_target.created": { title: "Event target added", says: "added an event target at {host}" },
      "event_target.updated": { title: "Event target changed", says: "changed an event target" },
      "event_target.deleted": { title: "Event target deleted", says: "deleted an event target at {host}" },
      "event_target.paused": { title: "Event target paused by the server", says: "paused an event target ({reason})" },
      "event_target.secret_rotated": {
        title: "Secret of an event target rotated",
        says: "rotated the secret of an event target",
      },
      "event_target.tested": { title: "Event target tested", says: "sent a ping to an event target" },
      "event_target.replayed": { title: "Events replayed", says: "replayed events: {count}" },
    },
  },
  {
    topic: "Members and groups",
    acts: {
      "invitation.created": { title: "Invited", says: "invited {target} as {role}" },
      "invitation.accepted": { title: "Invitation accepted", says: "accepted the invitation for {target}" },
      "invitation.withdrawn": { title: "Invitation withdrawn", says: "withdrew the invitation for {target}" },
      "member.role_changed": { title: "Role changed", says: "changed the role of {target} from {from} to {to}" },
      "member.removed": { title: "Member removed", says: "removed {target} from the workspace" },
      "member.left": { title: "Member left", says: "left the workspace" },
      "member.reset_link_made": {
        title: "Password reset link created",
        says: "created a password reset link for {target}",
      },
      "group.created": { title: "Group created", says: "created the group {target}" },
      "group.changed": { title: "Group changed", says: "changed the group {target}" },
      "group.deleted": { title: "Group deleted", says: "deleted the group {target}" },
    },
  },
  {
    topic: "Connectors",
    acts: {
      "connector.created": { title: "Connector created", says: "created the connector {target}" },
      "connector.changed": { title: "Connector changed", says: "changed the connector {target}" },
      "connector.scope_changed": { title: "Scope changed", says: "changed the scope of the connector {target}" },
      "connector.paused": { title: "Connector paused", says: "paused the connector {target}" },
      "connector.resumed": { title: "Connector resumed", says: "resumed the connector {target}" },
      "connector.deleted": { title: "Connector deleted", says: "deleted the connector {target}" },
      "connector.key_rotated": { title: "Key rotated", says: "rotated the key of the connector {target}" },
      "connector.key_revoked": { title: "Key revoked", says: "revoked the key of the connector {target}" },
      "connector.webhook_rotated": {
        title: "Webhook secret created",
        says: "created a webhook secret for the connector {target}",
      },
      "connector.taken_over": { title: "Connector taken over", says: "took over the connector {target} from {from}" },
      "connector.sync_requested": { title: "Sync requested", says: "started a sync of {target}" },
      "connector.sync_cancelled": { title: "Sync cancelled", says: "cancelled a sync of {target}" },
      "connector.removals_approved": { title: "Removals approved", says: "approved held removals of {target}" },
      "connector.removals_rejected": { title: "Removals rejected", says: "rejected held removals of {target}" },
      "connector.item_restored": { title: "Item restored", says: "restored an item of {target}" },
      "connector.set_pushed": { title: "Full set pushed", says: "pushed the full set of {target}" },
      "connector.access_pushed": { title: "Access pushed", says: "pushed who can read items of {target}" },
      "connector.people_pushed": { title: "People pushed", says: "pushed who belongs to the groups of {target}" },
      "person.linked": { title: "Person linked", says: "linked {target} to a user of a source" },
      "person.unlinked": { title: "Person unlinked", says: "ended the link of {target} to a user of a source" },
    },
  },
  {
    topic: "Provider servers",
    acts: {
      "server.created": { title: "Server added", says: "added the provider server {target}" },
      "server.changed": { title: "Server changed", says: "changed the provider server {target}" },
      "server.deleted": { title: "Server deleted", says: "deleted the provider server {target}" },
      "server.mapped": { title: "Tools mapped", says: "mapped tools of the provider server {target}" },
      "server.unmapped": { title: "Tools unmapped", says: "unmapped the tools of the provider server {target}" },
      "server.tool_previewed": { title: "Tool tried", says: "tried a tool of the provider server {target}" },
      "connection.agreed": {
        title: "Tools agreed to",
        says: "agreed to the tools that kb calls with the connection {target}",
      },
      "connection.created": { title: "App connected", says: "created the connection {target}" },
      "connection.access_changed": {
        title: "Connection's access changed",
        says: "changed who sees what is read through the connection {target}",
      },
      "connection.lost": { title: "Sign-in refused", says: "stopped the connection {target}: its server refused it" },
      "connection.revoked": { title: "App disconnected", says: "ended the connection {target}" },
    },
  },
  {
    topic: "Tokens and clients",
    acts: {
      "token.created": { title: "Token created", says: "created the token {target}" },
      "token.revoked": { title: "Token revoked", says: "revoked the token {target}" },
      "token.adopted": { title: "Token kept", says: "kept the token {target} independent of its login" },
      "token.first_used": { title: "First use", says: "used {target} for the first time" },
      "token.used_from_new_network": { title: "New network", says: "used {target} from a new network" },
      "client.registered": { title: "Client registered", says: "connected the client {target} for the first time" },
      "consent.given": { title: "Access allowed", says: "allowed {target} to access the workspace" },
      "consent.denied": { title: "Access denied", says: "denied {target} access" },
      "grant.revoked": { title: "Access revoked", says: "revoked the access of {target}" },
      "grant.reuse_detected": {
        title: "Reused token refused",
        says: "disconnected {target}, because a token was used twice",
      },
    },
  },
  {
    topic: "Workspace and server",
    acts: {
      "workspace.created": { title: "Workspace created", says: "created the workspace" },
      "workspace.changed": { title: "Workspace changed", says: "changed the workspace's settings" },
      "installation.completed": { title: "Server set up", says: "set up this server" },
      "installation.reopened": {
        title: "Setup reopened",
        says: "reopened setup on the server's machine",
      },
      "local_root.added": { title: "Folder allowed", says: "allowed the folder {path}" },
      "local_root.removed": { title: "Folder disallowed", says: "disallowed the folder {target}" },
      "access.explained": { title: "Access checked", says: "checked whether {userId} can see {target}" },
      "audit.exported": { title: "Audit exported", says: "exported the audit" },
      "server.restored": {
        title: "Data restored",
        says: "found restored data: {connectors} connectors read everything again",
      },
      "server.weakened": { title: "Weak setting", says: "started with weaker security settings: {settings}" },
    },
  },
];

const ACTS = new Map(ACTS_BY_TOPIC.flatMap(({ acts }) => Object.entries(acts)));

/** Returns the words of an action; one without words is shown by its code. */
export function actWords(action: string): ActWords {
  return ACTS.get(action) ?? { title: action, says: `did ${action} on {target}` };
}

/** A part of a sentence; names from the row are emphasized. */
export interface Piece {
  text: string;
  isName: boolean;
}

/** The fields of a row that the words need. */
export interface Told {
  action: string;
  targetType: string;
  targetId: string;
  details: Readonly<Record<string, unknown>>;
}

/** Returns the sentence after the actor's name, in parts; ids are shown by name, or by type when they have none. */
export function tellAct({ action, targetType, targetId, details }: Told, names: ReadonlyMap<string, string>): Piece[] {
  const nameOf = (key: string): string => {
    const value = key === "target" ? targetId : details[key];
    if (Array.isArray(value)) return value.map(String).join(", ");
    const found = names.get(String(value));
    if (found !== undefined) return found;
    if (key !== "target") return value === undefined ? "?" : String(value);
    return GONE[targetType] ?? targetType;
  };
  return actWords(action)
    .says.split(/(\{\w+\})/)
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
