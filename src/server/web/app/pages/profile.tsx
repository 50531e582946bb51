import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Session } from "#api/session.ts";
import { addressParameter, timeZones } from "#server/web/app/data/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { entryQuery, identitiesQuery, sessionQuery, sessionsQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Form, PasswordField, secret, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { describeSsoFailure } from "./sso-words.ts";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { toProblem } from "#server/web/app/data/problem.ts";

/** The person: name, time zone, address, password, single sign-on. */
export function Page() {
  const { user } = useSession();
  const entry = useQuery(entryQuery);
  const failure = describeSsoFailure(addressParameter("error"));
  return (
    <>
      <PageHeading title="Profile" />
      {failure !== undefined && (
        <Notice className="mb-5" tone="danger">
          {failure}
        </Notice>
      )}
      <div className="space-y-5">
        <About key={user.id} user={user} />
        <Address canMail={entry.data?.canMail === true} user={user} />
        <ChangePassword email={user.email} />
        {entry.data !== undefined && entry.data.sso !== null && <SingleSignOn name={entry.data.sso} />}
      </div>
    </>
  );
}

function About({ user }: { user: Session["user"] }) {
  const client = useQueryClient();
  async function save(fields: FormData): Promise<void> {
    const timeZone = text(fields, "timeZone");
    const body = { name: text(fields, "name"), timeZone: timeZone === "" ? null : timeZone };
    await take(api.PATCH("/api/profile", { body }));
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    toast("Profile saved");
  }
  const zones = timeZones(user.timeZone ?? "UTC").map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }));
  return (
    <Section title="About you">
      <Form onSubmit={save} submit="Save" submitKind="plain">
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField autoComplete="name" defaultValue={user.name} label="Name" maxLength={120} name="name" />
          <SelectField
            choices={[{ value: "", label: "Same as the workspace" }, ...zones]}
            defaultValue={user.timeZone ?? ""}
            hint="Used for dates such as “due today”."
            label="Time zone"
            name="timeZone"
          />
        </div>
      </Form>
    </Section>
  );
}

function Address({ user, canMail }: { user: Session["user"]; canMail: boolean }) {
  const client = useQueryClient();

  async function change(fields: FormData): Promise<void> {
    const email = text(fields, "email");
    const { sent } = await take(
      api.POST("/api/profile/email", { body: { email, password: secret(fields, "password") } }),
    );
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    toast(sent ? `We sent a link to ${email}. Open it to confirm.` : "Email address changed");
  }

  async function verify(): Promise<void> {
    try {
      await take(api.POST("/api/email-verification"));
      toast(`We sent a link to ${user.email}. Open it to confirm.`);
    } catch (error) {
      toast(toProblem(error).message);
    }
  }

  return (
    <Section
      description={canMail ? "We'll send a confirmation link to your new address." : "You use this address to sign in."}
      title="Email address"
    >
      <div className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="wrap-anywhere">{user.email}</span>
        {user.emailVerifiedAt === null ? <Badge tone="warn">Not confirmed</Badge> : <Badge tone="ok">Confirmed</Badge>}
        {user.emailVerifiedAt === null && canMail && (
          <Button onClick={() => void verify()}>Send confirmation link</Button>
        )}
      </div>
      <Form key={user.email} onSubmit={change} submit="Change address" submitKind="plain">
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField autoComplete="email" label="New address" maxLength={254} name="email" type="email" />
          <PasswordField autoComplete="current-password" label="Current password" name="password" />
        </div>
      </Form>
    </Section>
  );
}

function ChangePassword({ email }: { email: string }) {
  const client = useQueryClient();
  async function change(fields: FormData): Promise<void> {
    const body = { currentPassword: secret(fields, "currentPassword"), newPassword: secret(fields, "newPassword") };
    await take(api.POST("/api/profile/password", { body }));
    await client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    toast("Password changed");
  }
  return (
    <Section
      description="Changing your password ends your other sessions and disconnects your clients. Personal access tokens keep working."
      title="Password"
    >
      <Form onSubmit={change} resets submit="Change password" submitKind="plain">
        {/* For password managers: the account's user name. */}
        <input autoComplete="username" className="hidden" readOnly type="text" value={email} />
        <div className="grid gap-4 sm:grid-cols-2">
          <PasswordField autoComplete="current-password" label="Current password" name="currentPassword" />
          <PasswordField autoComplete="new-password" label="New password" name="newPassword" />
        </div>
      </Form>
    </Section>
  );
}

function SingleSignOn({ name }: { name: string }) {
  const identities = useQuery(identitiesQuery);
  async function link(fields: FormData): Promise<void> {
    const { url } = await take(api.POST("/api/sso/link", { body: { password: secret(fields, "password") } }));
    window.location.assign(url);
  }
  return (
    <Section description={`Sign in with ${name} instead of your password.`} title="Single sign-on">
      <Loaded lines={1} query={identities}>
        {({ identities }) =>
          identities.length > 0 ? (
            <ul className="space-y-1">
              {identities.map(({ issuer, label, createdAt }) => (
                <li key={`${issuer} ${label}`}>
                  <span className="font-medium wrap-anywhere">{label}</span>{" "}
                  <span className="text-muted">
                    linked <Time at={createdAt} />
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <Form onSubmit={link} submit={`Link with ${name}`} submitKind="plain">
              <div className="grid gap-4 sm:grid-cols-2">
                <PasswordField autoComplete="current-password" label="Current password" name="password" />
              </div>
            </Form>
          )
        }
      </Loaded>
    </Section>
  );
}
