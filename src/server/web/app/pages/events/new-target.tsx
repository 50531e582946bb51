import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from "#api/event-types.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { eventTargetsQuery } from "#server/web/app/data/queries.ts";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { Dialog } from "#server/web/app/ui/dialog.tsx";
import { CheckboxField, Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";

/** Adds a target, then shows its secret once. */
export function NewTarget({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const [secret, setSecret] = useState<string>();
  const client = useQueryClient();

  async function add(fields: FormData): Promise<void> {
    const body = { url: text(fields, "url"), types: typesOf(fields) };
    setSecret((await take(api.POST("/api/webhooks", { body }))).secret);
    await client.invalidateQueries({ queryKey: eventTargetsQuery.queryKey });
  }

  function close(): void {
    setSecret(undefined);
    onClose();
  }

  return (
    <Dialog
      isOpen={isOpen}
      isSticky={secret !== undefined}
      onClose={close}
      title={secret === undefined ? "Add event target" : "Event target added"}
    >
      {secret === undefined ? (
        <Form onSubmit={add} submit="Add target">
          <TextField
            autoComplete="off"
            hint="Events are sent here with POST, over https."
            label="URL"
            maxLength={2_000}
            name="url"
            placeholder="https://hooks.acme.example/kb"
            type="url"
          />
          <TypeFields chosen={EVENT_TYPES} />
        </Form>
      ) : (
        <Secret onDone={close} secret={secret} />
      )}
    </Dialog>
  );
}

/** The event types to send. */
export function TypeFields({ chosen }: { chosen: readonly EventType[] }) {
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Send when</legend>
      {EVENT_TYPES.map((type) => (
        <CheckboxField
          defaultChecked={chosen.includes(type)}
          hint={type}
          key={type}
          label={sentence(EVENT_MEANINGS[type])}
          name={type}
        />
      ))}
    </fieldset>
  );
}

export function typesOf(fields: FormData): EventType[] {
  return EVENT_TYPES.filter((type) => fields.get(type) !== null);
}

/** A secret that is shown only once, and its purpose. */
export function Secret({ secret, onDone }: { secret: string; onDone(): void }) {
  const place = useRef<HTMLDivElement>(null);
  // The field with the secret gets the focus, selected.
  useEffect(() => place.current?.querySelector("input")?.focus(), []);
  return (
    <div className="space-y-4" ref={place}>
      <Notice tone="warn">
        Copy the signing secret now. You won't see it again. The receiver needs it to check that events are from kb.
      </Notice>
      <CopyField isOnce label="Signing secret" showsLabel value={secret} />
      <div className="flex justify-end">
        <Button kind="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
