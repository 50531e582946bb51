import { useState } from "react";
import type { ProviderServer, ServerAuthBody } from "#api/provider-servers.ts";
import { isSharedRedirect } from "#api/shared-redirect.ts";
import { AUTH_WORDS } from "./server-words.ts";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { CheckboxField, PasswordField, secret, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";

type Auth = ProviderServer["auth"];
type Kind = Auth["kind"];

/** How kb signs in to a server: a choice and its fields. A stored secret is never shown. */
export function AuthFields({ auth }: { auth: Auth }) {
  const [kind, setKind] = useState(auth.kind);
  const hasSecret = auth.hasSecret && kind === auth.kind;
  const knownUrl = kind === "oauth" ? auth.redirectUrl : undefined;
  const kept = hasSecret ? "A secret is stored. Leave this empty to keep it." : undefined;
  return (
    <>
      <SelectField
        choices={KINDS.map((value) => [value, AUTH_WORDS[value]])}
        defaultValue={auth.kind}
        hint={kind === "oauth" && knownUrl === undefined ? `${HINTS.oauth} ${REGISTER_LATER}` : HINTS[kind]}
        label="Sign-in"
        name="auth.kind"
        onChoose={(value) => setKind(value as Kind)} // a choice above
      />
      {kind === "header" && (
        <TextField
          defaultValue={auth.headerName ?? ""}
          label="Header"
          maxLength={64}
          name="auth.headerName"
          placeholder="X-Api-Key"
          spellCheck={false}
        />
      )}
      {knownUrl && (
        <>
          <CopyField label="Redirect URL" showsLabel value={knownUrl} />
          <TextField
            defaultValue={auth.clientId ?? ""}
            hint={isSharedRedirect(auth) ? SHARED_REDIRECT : OWN_CLIENT}
            isOptional
            label="Client ID"
            maxLength={500}
            name="auth.clientId"
            spellCheck={false}
          />
        </>
      )}
      {kind !== "none" && (kind !== "oauth" || knownUrl !== undefined) && (
        <PasswordField
          autoComplete="off"
          hint={kept ?? SECRET_HINTS[kind]}
          isOptional
          label={kind === "oauth" ? "Client secret" : kind === "header" ? "Key" : "Token"}
          maxLength={8192}
          name="auth.secret"
        />
      )}
      {hasSecret && <CheckboxField label="Delete the stored one" name="auth.drop" />}
    </>
  );
}

/** Returns the fields' values in the form that the API expects. An empty secret keeps the stored one. */
export function authOf(form: FormData): ServerAuthBody {
  const kind = text(form, "auth.kind") as Kind; // a choice above
  if (kind === "none") return { kind };
  const typed = secret(form, "auth.secret").trim();
  const isDropped = form.get("auth.drop") !== null;
  const own = typed !== "" ? { secret: typed } : isDropped ? { secret: null } : {};
  if (kind === "header") return { kind, headerName: text(form, "auth.headerName"), ...own };
  if (kind === "bearer") return { kind, ...own };
  const clientId = text(form, "auth.clientId");
  return { kind, ...(clientId !== "" && { clientId }), ...own };
}

const KINDS: readonly Kind[] = ["none", "bearer", "header", "oauth"];

const HINTS: Readonly<Record<Kind, string>> = {
  none: "Everyone reads the same content there.",
  bearer: "Sent as “Authorization: Bearer …”, only to this server.",
  header: "Sent in the header that you name, only to this server.",
  oauth: "Each person signs in at the provider and reads there as themselves.",
};

/** Shown before a server is stored. Registering a client requires the redirect URL, which exists only after that. */
const REGISTER_LATER =
  "kb registers itself there. If it can't, save first: the server's settings then show the redirect URL to register, and have a field for the client ID.";

const OWN_CLIENT =
  "Only if you registered kb at the provider yourself, with the redirect URL above. Otherwise kb registers itself.";
const SHARED_REDIRECT =
  "Other servers may have the same redirect URL. To get a separate one, save without the client ID, set the new redirect URL at your client, then enter the ID again.";

const PERSONAL =
  "With a secret, admins can connect without a token of their own. Members enter theirs when they connect.";
const SECRET_HINTS: Readonly<Record<Exclude<Kind, "none">, string>> = {
  bearer: PERSONAL,
  header: PERSONAL,
  oauth: "Only if the client that you registered has a secret.",
};
