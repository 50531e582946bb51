import { Dialog as Base } from "@base-ui/react/dialog";
import { createContext, use, useState, type ComponentProps, type ReactNode } from "react";
import { useAct, type Outcome } from "./act.ts";
import { Button, IconButton, type ButtonProps } from "./button.tsx";
import { Notice, ProblemNotice } from "./notice.tsx";

export interface DialogProps {
  /** If absent, the button that opened the dialog closes it. */
  onClose?: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /**
   * The content is shown only once. Until it was copied, only a button in the dialog closes it, not Escape or a click
   * outside. Give `children` a button for this, such as "Done".
   */
  isSticky?: boolean;
}

/** Signals to the surrounding dialog that its one-time content was copied. */
export const TakenContext = createContext<() => void>(() => undefined);

const CloseContext = createContext<() => void>(() => undefined);

/**
 * Returns a function that closes the dialog, for content of the dialog and of a component that a `DialogButton` opens.
 */
export function useClose(): () => void {
  return use(CloseContext);
}

/**
 * A window over the page, open for as long as it is rendered. The focus stays inside, and Escape closes it. The focus
 * then returns to where it was.
 */
export function Dialog({ onClose, isSticky = false, ...rest }: DialogProps) {
  const closeButton = useClose();
  const close = onClose ?? closeButton;
  const [isTaken, setTaken] = useState(false);
  const [wasAsked, setAsked] = useState(false);
  const holds = isSticky && !isTaken;

  function change(open: boolean): void {
    if (open) return;
    if (holds) setAsked(true);
    else close();
  }

  return (
    <Base.Root disablePointerDismissal={isSticky} onOpenChange={change} open>
      <Base.Portal>
        <Base.Backdrop className="bg-veil fixed inset-0 z-30" />
        <TakenContext value={() => setTaken(true)}>
          <CloseContext value={close}>
            <Popup {...rest} canClose={!holds} says={holds && wasAsked ? NOT_TAKEN : ""} />
          </CloseContext>
        </TakenContext>
      </Base.Portal>
    </Base.Root>
  );
}

const NOT_TAKEN = "Copy it before you close this dialog, or select “Done”.";

interface PopupProps extends Pick<DialogProps, "title" | "description" | "children"> {
  canClose: boolean;
  /** The message why the dialog didn't close. */
  says: string;
}

/** The dialog's window. It is mounted when the dialog opens, before the focus moves into it. */
function Popup({ title, description, children, canClose, says }: PopupProps) {
  const [opener] = useState(() => document.activeElement);

  /**
   * Returns the element that gets the focus afterwards: the control that opened the dialog or, if that is gone because
   * its row was removed, the page's heading.
   */
  function finalFocus(): HTMLElement | true {
    if (opener instanceof HTMLElement && opener.isConnected && opener !== document.body) return opener;
    return document.querySelector<HTMLElement>("main h1") ?? true;
  }

  return (
    <Base.Popup
      className="bg-raised border-line shadow-lift fixed inset-x-0 top-0 z-40 mx-auto mt-[8dvh] flex max-h-[84dvh] w-[calc(100%-1.5rem)] max-w-lg flex-col overflow-hidden rounded-xl border"
      finalFocus={finalFocus}
    >
      <div className="flex items-start justify-between gap-3 px-5 pt-4">
        <div className="min-w-0 pt-1">
          <Base.Title className="text-base wrap-anywhere">{title}</Base.Title>
          {description && (
            <Base.Description className="text-muted mt-1 wrap-anywhere" render={<div />}>
              {description}
            </Base.Description>
          )}
        </div>
        {canClose && <Base.Close render={<CloseButton />} />}
      </div>
      <p aria-live="polite" className={says === "" ? "sr-only" : "text-warn px-5 pt-2 font-medium"}>
        {says}
      </p>
      <div className="overflow-y-auto px-5 pt-4 pb-5">{children}</div>
    </Base.Popup>
  );
}

function CloseButton(props: ComponentProps<"button">) {
  return <IconButton {...props} icon="close" label="Close" />;
}

interface ConfirmProps<Result> extends Omit<Outcome<Result>, "onDone">, Pick<DialogProps, "onClose" | "title"> {
  /** The effects of the action, and what can't be undone. */
  children: ReactNode;
  /** The label of the button that confirms. */
  act: string;
  /** The style of the button that confirms; `danger` unless the action can be undone. */
  kind?: "danger" | "primary";
  /** Runs the action. If it fails, the dialog stays open and shows why. */
  onConfirm(): Promise<Result>;
}

/** Asks for confirmation, especially before something that can't be undone. */
export function ConfirmDialog<Result>({ title, onClose, ...rest }: ConfirmProps<Result>) {
  return (
    <Dialog title={title} {...(onClose && { onClose })}>
      <Question {...rest} />
    </Dialog>
  );
}

type QuestionProps<Result> = Omit<ConfirmProps<Result>, "title" | "onClose">;

function Question<Result>({ children, act, kind = "danger", onConfirm, ...outcome }: QuestionProps<Result>) {
  const close = useClose();
  const { run, isBusy, problem } = useAct(onConfirm, { ...outcome, onDone: close });
  return (
    <>
      <div className="text-muted space-y-2 wrap-anywhere">{children}</div>
      <ProblemNotice className="mt-3" problem={problem} />
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button isBusy={isBusy} kind={kind} onClick={run}>
          {act}
        </Button>
      </div>
    </>
  );
}

/** A button that opens a dialog. */
export function DialogButton({ dialog, ...button }: ButtonProps & { dialog: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)} />
      {isOpen && <CloseContext value={() => setOpen(false)}>{dialog}</CloseContext>}
    </>
  );
}

/** Shows a secret or a link that can't be shown again, how to keep it, and the button that closes the dialog. */
export function ShownOnce({ warning, children }: { warning: ReactNode; children: ReactNode }) {
  return (
    <div className="space-y-4">
      <Notice tone="warn">{warning}</Notice>
      {children}
      <div className="flex justify-end">
        <Button kind="primary" onClick={useClose()}>
          Done
        </Button>
      </div>
    </div>
  );
}
