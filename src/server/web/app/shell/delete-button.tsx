import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";

interface DeleteButtonProps {
  /** The product's word for the thing that is deleted. */
  what: "connector" | "server";
  name: string;
  /** The list page to open after the deletion. */
  then: "/workspace/connectors" | "/workspace/servers";
  onDelete(): Promise<unknown>;
  /** The effects. */
  children: ReactNode;
}

/** Deletes the thing that the page is about, and opens the list of the remaining ones. */
export function DeleteButton({ what, name, then, onDelete, children }: DeleteButtonProps) {
  const navigate = useNavigate();
  return (
    <DialogButton
      dialog={
        <ConfirmDialog
          act="Delete"
          invalidates={[`${what}s`]}
          onConfirm={async () => {
            await onDelete();
            await navigate({ to: then });
          }}
          title={`Delete “${name}”?`}
          toast={`${name} deleted`}
        >
          {children}
        </ConfirmDialog>
      }
      kind="quiet"
    >
      Delete {what}
    </DialogButton>
  );
}
