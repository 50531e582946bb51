import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Role } from "#api/common.ts";
import type { Member } from "#api/workspace.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { entryQuery, membersQuery } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { ConfirmDialog, Dialog } from "#server/web/app/ui/dialog.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** Who is in the workspace, as what; for those who run it, roles, removal and links for a new password. */
export function Page() {
  const me = useSession();
  const query = useInfiniteQuery(membersQuery);
  const entry = useQuery(entryQuery);
  const [removing, setRemoving] = useState<Member>();
  const [link, setLink] = useState<{ name: string; url: string }>();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ["members"] });

  async function setRole(member: Member, role: Role): Promise<void> {
    await say(async () => {
      await take(api.PATCH("/api/workspace/members/{id}", { params: { path: { id: member.userId } }, body: { role } }));
      toast(`${member.name} is now ${ROLE_WORDS[role]}`);
    });
    await refresh();
  }

  async function makeLink(member: Member): Promise<void> {
    await say(async () => {
      const { url } = await take(
        api.POST("/api/workspace/members/{id}/password-reset", { params: { path: { id: member.userId } } }),
      );
      if (url === null) toast(`A link was sent to ${member.email}`);
      else setLink({ name: member.name, url });
    });
  }

  async function remove(): Promise<void> {
    if (removing === undefined) return;
    await take(api.DELETE("/api/workspace/members/{id}", { params: { path: { id: removing.userId } } }));
    if (removing.userId === me.user.id) return void window.location.replace("/");
    toast(`${removing.name} is no longer a member`);
    await refresh();
  }

  const acts: Acts = {
    me: { userId: me.user.id, role: me.role },
    // Without e-mail the link is handed to who makes it: only an owner may hold one.
    mayMakeLinks: me.role === "owner" || entry.data?.canMail === true,
    setRole: (member, role) => void setRole(member, role),
    makeLink: (member) => void makeLink(member),
    remove: setRemoving,
  };
  const isLeaving = removing?.userId === me.user.id;
  return (
    <>
      <PageHeading title="Members">
        What a member sees follows from the permissions of each source, not from the role: admins run the workspace,
        they do not read more.
      </PageHeading>
      <Section title="In this workspace">
        <LoadedPages query={query} rowsOf={({ members }) => members}>
          {(members) => <Table columns={columns(acts)} keyOf={({ userId }) => userId} label="Members" rows={members} />}
        </LoadedPages>
      </Section>
      <ConfirmDialog
        act={isLeaving ? "Leave" : "Remove"}
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onConfirm={remove}
        title={isLeaving ? "Leave this workspace?" : `Remove ${removing?.name ?? ""}?`}
      >
        <p>
          Every session, token and connected client {isLeaving ? "of yours" : "of theirs"} in this workspace ends at
          once. Coming back, by a new invitation, restores none of them.
        </p>
      </ConfirmDialog>
      <Dialog
        isOpen={link !== undefined}
        isSticky
        onClose={() => setLink(undefined)}
        title={`A new password for ${link?.name ?? ""}`}
      >
        <div className="space-y-4">
          <Notice tone="warn">
            This link is shown this once. Whoever opens it sets the password: hand it over on a way that only{" "}
            {link?.name ?? "they"} can read.
          </Notice>
          <CopyField isOnce label="Link" value={link?.url ?? ""} />
          <div className="flex justify-end">
            <Button kind="primary" onClick={() => setLink(undefined)}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}

const ROLE_WORDS: Readonly<Record<Role, string>> = { owner: "an owner", admin: "an admin", member: "a member" };
const RANKS: Readonly<Record<Role, number>> = { owner: 2, admin: 1, member: 0 };

interface Acts {
  me: { userId: string; role: Role };
  mayMakeLinks: boolean;
  setRole(member: Member, role: Role): void;
  makeLink(member: Member): void;
  remove(member: Member): void;
}

async function say(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    toast(toProblem(error).message);
  }
}

function columns(acts: Acts): Column<Member>[] {
  const { me } = acts;
  const isBelowMe = (member: Member) => RANKS[member.role] < RANKS[me.role];
  return [
    {
      title: "Name",
      isHeadless: true,
      cell: ({ name, email, userId }) => (
        <>
          <span className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
            {name}
            {userId === me.userId && <Badge tone="accent">You</Badge>}
          </span>
          <span className="text-muted text-xs wrap-anywhere">{email}</span>
        </>
      ),
    },
    {
      title: "Role",
      cell: (member) =>
        me.role === "owner" ? (
          <select
            aria-label={`Role of ${member.name}`}
            className="border-edge/60 bg-surface -my-1 min-h-8 rounded-md border px-2 max-md:min-h-10"
            onChange={(event) => acts.setRole(member, event.currentTarget.value as Role)}
            value={member.role}
          >
            <option value="owner">Owner</option>
            <option value="admin">Admin</option>
            <option value="member">Member</option>
          </select>
        ) : (
          <span className="capitalize">{member.role}</span>
        ),
    },
    { title: "Joined", cell: ({ joinedAt }) => <Time at={joinedAt} /> },
    {
      title: ACTS,
      isHeadless: true,
      cell: (member) => (
        <span className="flex flex-wrap gap-1 md:-my-1 md:-mr-2 md:justify-end">
          {acts.mayMakeLinks && isBelowMe(member) && (
            <Button aria-label={`Password link for ${member.name}`} kind="quiet" onClick={() => acts.makeLink(member)}>
              Password link
            </Button>
          )}
          {isBelowMe(member) && (
            <Button aria-label={`Remove ${member.name}`} kind="quiet" onClick={() => acts.remove(member)}>
              Remove
            </Button>
          )}
          {member.userId === me.userId && (
            <Button kind="quiet" onClick={() => acts.remove(member)}>
              Leave
            </Button>
          )}
        </span>
      ),
    },
  ];
}
