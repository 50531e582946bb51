import { myWorkspaceRoutes } from "#api/session.ts";
import { invitationRoutes, localRootRoutes, workspaceRoutes } from "#api/workspace.ts";
import type { Mount } from "#server/http/mount.ts";
import type { ResetService } from "#server/identity/sessions/reset.ts";
import type { InvitationService } from "./invitations.ts";
import type { LocalRootService } from "./local-roots.ts";
import type { MyWorkspaceService } from "./mine.ts";
import type { WorkspaceService } from "./service.ts";

interface Services {
  workspaces: WorkspaceService;
  myWorkspaces: MyWorkspaceService;
  invitations: InvitationService;
  passwordReset: Pick<ResetService, "requestForMember">;
  localRoots: LocalRootService;
}

/** `/api/workspaces`, `/api/workspace` with members and invitations, and `/api/local-roots`. */
export function mountWorkspaces(at: Mount, services: Services): void {
  const { workspaces, myWorkspaces, invitations, passwordReset, localRoots } = services;
  at.member(myWorkspaceRoutes.list, ({ actor, query }) => myWorkspaces.list(actor, query));
  at.member(myWorkspaceRoutes.create, ({ actor, body }) => myWorkspaces.create(actor, body));

  at.member(workspaceRoutes.get, ({ actor }) => workspaces.get(actor));
  at.member(workspaceRoutes.update, ({ actor, body }) => workspaces.update(actor, body));
  at.member(workspaceRoutes.listMembers, ({ actor, query }) => workspaces.listMembers(actor, query));
  at.member(workspaceRoutes.getMember, ({ actor, params }) => workspaces.getMember(actor, params.id));
  at.member(workspaceRoutes.updateMember, ({ actor, params, body }) => workspaces.setRole(actor, params.id, body.role));
  at.member(workspaceRoutes.removeMember, ({ actor, params }) => workspaces.removeMember(actor, params.id));
  at.member(workspaceRoutes.resetMember, ({ actor, params }) => passwordReset.requestForMember(actor, params.id));

  at.member(invitationRoutes.list, ({ actor, query }) => invitations.list(actor, query));
  at.member(invitationRoutes.create, ({ actor, body }) => invitations.create(actor, body));
  at.member(invitationRoutes.revoke, ({ actor, params }) => invitations.revoke(actor, params.id));

  at.member(localRootRoutes.list, ({ actor, c }) => localRoots.list(actor, c.req.raw.headers));
  at.member(localRootRoutes.add, ({ actor, c, body }) => localRoots.add(actor, c.req.raw.headers, body));
  at.member(localRootRoutes.remove, ({ actor, c, params }) => localRoots.remove(actor, c.req.raw.headers, params.id));
}
