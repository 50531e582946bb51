import { useState } from "react";
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from "#api/event-types.ts";
import { api } from "#server/web/app/data/client.ts";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Dialog, ShownOnce } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Fieldset, Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { sentenceCase } from "#server/web/app/ui/sentence-case.ts";

/** Adds a target, then shows the target's secret once. */
export function NewTarget() {
  const [secret, setSecret] = useState<string>();

  async function add(fields: FormData): Promise<void> {
    const body = { url: text(fields, "url"), types: typesOf(fields) };
    setSecret((await api.post("/api/webhooks", { body })).secret);
  }

  if (secret !== undefined) {
    return (
      <Dialog isSticky title="Event target added">
        <Secret secret={secret} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Add event target">
      <Form invalidates={["event-targets"]} onSubmit={add} submit="Add target">
        <UrlField hint="Events are sent here with POST, over https." placeholder="https://hooks.acme.example/kb" />
        <TypeFields chosen={EVENT_TYPES} />
      </Form>
    </Dialog>
  );
}

export function UrlField(props: { hint: string; placeholder?: string; defaultValue?: string }) {
  return <TextField label="URL" maxLength={2_000} name="url" type="url" {...props} />;
}

/** The event types to send. */
export function TypeFields({ chosen }: { chosen: readonly EventType[] }) {
  return (
    <Fieldset legend="Send when">
      {EVENT_TYPES.map((type) => (
        <CheckboxField
          defaultChecked={chosen.includes(type)}
          hint={type}
          key={type}
          label={sentenceCase(EVENT_MEANINGS[type])}
          name={type}
        />
      ))}
    </Fieldset>
  );
}

export function typesOf(fields: FormData): EventType[] {
  return EVENT_TYPES.filter((type) => fields.get(type) !== null);
}

/** The secret of a target, which is shown only once. */
export function Secret({ secret }: { secret: string }) {
  return (
    <ShownOnce warning="Copy the signing secret now. You won't see it again. The receiver needs it to check that events are from kb.">
      <CopyField hasFocus isOnce label="Signing secret" showsLabel value={secret} />
    </ShownOnce>
  );
}
