import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Invitation } from "#api/workspace.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { invitationsQuery } from "#server/web/app/data/queries.ts";
import { ForAdmins } from "#server/web/app/shell/for-admins.tsx";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { ConfirmDialog, Dialog } from "#server/web/app/ui/dialog.tsx";
import { Form, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { EmailAddress } from "#server/web/app/ui/email-address.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** Invitations: the list, inviting, withdrawing. */
export function Page() {
  return (
    <ForAdmins title="Invitations">
      <Invitations />
    </ForAdmins>
  );
}

function Invitations() {
  const query = useInfiniteQuery(invitationsQuery);
  const [isInviting, setInviting] = useState(false);
  const [withdrawing, setWithdrawing] = useState<Invitation>();
  const client = useQueryClient();

  async function withdraw(): Promise<void> {
    if (withdrawing === undefined) return;
    const params = { path: { id: withdrawing.id } };
    await take(api.DELETE("/api/workspace/invitations/{id}", { params }));
    toast("Invitation withdrawn");
    await client.invalidateQueries({ queryKey: invitationsQuery.queryKey });
  }

  return (
    <>
      <PageHeading
        action={
          <Button icon="plus" kind="primary" onClick={() => setInviting(true)}>
            Invite someone
          </Button>
        }
        title="Invitations"
      >
        An invitation works once, for one email address, and expires after a week.
      </PageHeading>
      <Section title="Sent">
        <LoadedPages query={query} rowsOf={({ invitations }) => invitations}>
          {(invitations) =>
            invitations.length === 0 ? (
              <EmptyState icon="mail" title="No invitations yet">
                Invite people to search this workspace. They see only what they can read in each source.
              </EmptyState>
            ) : (
              <Table columns={columns(setWithdrawing)} keyOf={({ id }) => id} label="Invitations" rows={invitations} />
            )
          }
        </LoadedPages>
      </Section>
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} />
      <ConfirmDialog
        act="Withdraw"
        isOpen={withdrawing !== undefined}
        onClose={() => setWithdrawing(undefined)}
        onConfirm={withdraw}
        title={`Withdraw the invitation for ${withdrawing?.email ?? ""}?`}
      >
        <p>Its link stops working immediately.</p>
      </ConfirmDialog>
    </>
  );
}

function InviteDialog({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const { role } = useSession();
  const [made, setMade] = useState<{ email: string; url: string }>();
  const client = useQueryClient();

  function close(): void {
    setMade(undefined);
    onClose();
  }

  async function invite(fields: FormData): Promise<void> {
    const email = text(fields, "email");
    const body = { email, role: text(fields, "role") === "admin" ? ("admin" as const) : ("member" as const) };
    const { url } = await take(api.POST("/api/workspace/invitations", { body }));
    await client.invalidateQueries({ queryKey: invitationsQuery.queryKey });
    if (url !== null) return setMade({ email, url });
    toast(`Invitation sent to ${email}`);
    close();
  }

  const roles = [
    { value: "member", label: "Member" },
    ...(role === "owner" ? [{ value: "admin", label: "Admin: manages the workspace" }] : []),
  ];
  return (
    <Dialog
      isOpen={isOpen}
      isSticky={made !== undefined}
      onClose={close}
      title={made === undefined ? "Invite someone" : "Share the invitation link"}
    >
      {made === undefined ? (
        <Form onSubmit={invite} submit="Invite">
          <TextField autoComplete="off" label="Email address" maxLength={254} name="email" type="email" />
          <SelectField choices={roles} label="Role" name="role" />
        </Form>
      ) : (
        <div className="space-y-4">
          <Notice tone="warn">
            This server doesn't send email. Copy this link now and send it to {made.email}. You won't see it again, and
            it works only for that address.
          </Notice>
          <CopyField isOnce label="Link" value={made.url} />
          <div className="flex justify-end">
            <Button kind="primary" onClick={close}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

function columns(onWithdraw: (invitation: Invitation) => void): Column<Invitation>[] {
  return [
    {
      title: "Address",
      isHeadless: true,
      cell: ({ email }) => (
        <span className="font-medium">
          <EmailAddress address={email} />
        </span>
      ),
    },
    { title: "Role", cell: ({ role }) => <span className="capitalize">{role}</span> },
    { title: "Status", cell: (invitation) => <State invitation={invitation} /> },
    { title: "Invited", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      title: ACTS,
      isHeadless: true,
      cell: (invitation) =>
        isOpenNow(invitation) ? (
          <Button
            aria-label={`Withdraw the invitation for ${invitation.email}`}
            className="@2xl:-my-1.5 @2xl:-mr-2"
            kind="quiet"
            onClick={() => onWithdraw(invitation)}
          >
            Withdraw
          </Button>
        ) : null,
    },
  ];
}

function State({ invitation }: { invitation: Invitation }) {
  if (invitation.acceptedAt !== null) return <Badge tone="ok">Accepted</Badge>;
  if (!isOpenNow(invitation)) return <Badge>Expired</Badge>;
  return (
    <span>
      Pending, expires <Time at={invitation.expiresAt} />
    </span>
  );
}

function isOpenNow({ acceptedAt, expiresAt }: Invitation): boolean {
  return acceptedAt === null && Date.parse(expiresAt) > Date.now();
}
