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
import { EmailAddress } from "#server/web/app/ui/email-address.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/**
 * The members of the workspace with their roles; for owners and admins also role changes, removal and links for a new
 * password.
 */
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
      if (url === null) toast(`Reset link sent to ${member.email}`);
      else setLink({ name: member.name, url });
    });
  }

  async function remove(): Promise<void> {
    if (removing === undefined) return;
    await take(api.DELETE("/api/workspace/members/{id}", { params: { path: { id: removing.userId } } }));
    if (removing.userId === me.user.id) return void window.location.replace("/");
    toast(`${removing.name} removed`);
    await refresh();
  }

  const acts: Acts = {
    me: { userId: me.user.id, role: me.role },
    // Without email the link is given to the person who makes it: only an owner may have one.
    mayMakeLinks: me.role === "owner" || entry.data?.canMail === true,
    setRole: (member, role) => void setRole(member, role),
    makeLink: (member) => void makeLink(member),
    remove: setRemoving,
  };
  const isLeaving = removing?.userId === me.user.id;
  return (
    <>
      <PageHeading title="Members">
        Each source decides what a member can read. Admins manage the workspace, but their role doesn't let them read
        more.
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
          {isLeaving ? "Your" : "Their"} sessions, tokens and connected clients in this workspace stop working
          immediately. A new invitation doesn't restore them.
        </p>
      </ConfirmDialog>
      <Dialog
        isOpen={link !== undefined}
        isSticky
        onClose={() => setLink(undefined)}
        title={`Password reset link for ${link?.name ?? ""}`}
      >
        <div className="space-y-4">
          <Notice tone="warn">
            Copy this link now. You won't see it again. Anyone who opens it can set the password, so send it where only{" "}
            {link?.name ?? "they"} can read it.
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
          <span className="text-muted text-xs">
            <EmailAddress address={email} />
          </span>
        </>
      ),
    },
    {
      title: "Role",
      cell: (member) =>
        me.role === "owner" ? (
          <select
            aria-label={`Role of ${member.name}`}
            className="border-edge/60 bg-surface min-h-8 rounded-md border px-2 max-sm:min-h-10 @2xl:-my-1.5"
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
        <span className="flex flex-wrap gap-1 @2xl:-my-1.5 @2xl:-mr-2 @2xl:justify-end">
          {acts.mayMakeLinks && isBelowMe(member) && (
            <Button aria-label={`Reset password of ${member.name}`} kind="quiet" onClick={() => acts.makeLink(member)}>
              Reset password
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
