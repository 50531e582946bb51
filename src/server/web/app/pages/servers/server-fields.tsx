import type { ComponentProps } from "react";
import type { ProviderServer } from "#api/provider-servers.ts";
import { CheckboxField, TextField } from "#server/web/app/ui/form.tsx";

/** Where a server is. */
export function UrlField(props: Pick<ComponentProps<typeof TextField>, "defaultValue" | "hint" | "placeholder">) {
  return <TextField inputMode="url" label="URL" maxLength={2000} name="url" spellCheck={false} {...props} />;
}

/** Who may connect it. */
export function PolicyField({ defaultChecked }: { defaultChecked?: boolean }) {
  return (
    <CheckboxField
      defaultChecked={defaultChecked}
      hint="Otherwise every member can connect their account."
      label="Only admins can connect it"
      name="isForAdmins"
    />
  );
}

/** The field's value, as the API takes it. */
export function policyOf(form: FormData): ProviderServer["connectPolicy"] {
  return form.get("isForAdmins") === null ? "members" : "admins";
}
