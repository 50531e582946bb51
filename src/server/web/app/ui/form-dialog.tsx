import { Dialog, type DialogProps, useClose } from "./dialog.tsx";
import { Form, type FormProps } from "./form.tsx";

/** A dialog with a form. It closes when the form was sent. */
export function FormDialog<Result>({
  title,
  description,
  ...form
}: Pick<DialogProps, "title" | "description"> & Omit<FormProps<Result>, "onDone">) {
  const close = useClose();
  return (
    <Dialog description={description} title={title}>
      <Form {...form} onDone={close} />
    </Dialog>
  );
}
