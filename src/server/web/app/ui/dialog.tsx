import { Dialog as Base } from "@base-ui/react/dialog";
import { createContext, useRef, useState, type ComponentProps, type ReactNode } from "react";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { Button, IconButton } from "./button.tsx";
import { ProblemNotice } from "./notice.tsx";

export interface DialogProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /**
   * The content is shown only once: until it was copied, only a button of the dialog closes it, neither Escape nor a
   * click outside. Give `children` a button for that, such as "Done".
   */
  isSticky?: boolean;
}

/** Signals to the surrounding dialog that its one-time content was copied. */
export const TakenContext = createContext<() => void>(() => undefined);

/** A window over the page: the focus stays inside, Escape closes it, then the focus returns to where it was. */
export function Dialog({ isOpen, onClose, isSticky = false, ...rest }: DialogProps) {
  const [isTaken, setTaken] = useState(false);
  const [wasAsked, setAsked] = useState(false);
  const holds = isSticky && !isTaken;

  // Each opening starts fresh, however the last one was closed.
  const isShowing = isOpen && isSticky;
  const [wasShowing, setWasShowing] = useState(isShowing);
  if (isShowing !== wasShowing) {
    setWasShowing(isShowing);
    setTaken(false);
    setAsked(false);
  }

  function change(open: boolean): void {
    if (open) return;
    if (holds) setAsked(true);
    else onClose();
  }

  return (
    <Base.Root disablePointerDismissal={isSticky} onOpenChange={change} open={isOpen}>
      <Base.Portal>
        <Base.Backdrop className="bg-veil fixed inset-0 z-30" />
        <TakenContext value={() => setTaken(true)}>
          <Popup {...rest} canClose={!holds} says={holds && wasAsked ? NOT_TAKEN : ""} />
        </TakenContext>
      </Base.Portal>
    </Base.Root>
  );
}

const NOT_TAKEN = "Copy it before you close this dialog, or select Done.";

interface PopupProps extends Pick<DialogProps, "title" | "description" | "children"> {
  canClose: boolean;
  /** Why it didn't close. */
  says: string;
}

/** Mounted when the dialog opens, before the focus moves into it. */
function Popup({ title, description, children, canClose, says }: PopupProps) {
  const [opener] = useState(() => document.activeElement);

  /** The control that opened it; if that is gone (its row was removed), the page's heading. */
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
          {description !== undefined && (
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

export interface ConfirmProps {
  isOpen: boolean;
  onClose(): void;
  title: string;
  /** The effects, and what can't be undone. */
  children: ReactNode;
  /** The label of the button that does it. */
  act: string;
  /** Style of that button; `danger` unless it can be undone. */
  kind?: "danger" | "primary";
  /** Does it; when it fails the dialog stays open and shows why. */
  onConfirm(): Promise<unknown>;
}

/** Asks for confirmation, especially before something that can't be undone. */
export function ConfirmDialog({ isOpen, onClose, title, children, act, kind = "danger", onConfirm }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const isRunning = useRef(false);

  function close(): void {
    setProblem(undefined);
    onClose();
  }

  async function confirm(): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    try {
      await onConfirm();
      close();
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }

  return (
    <Dialog isOpen={isOpen} onClose={close} title={title}>
      <div className="text-muted space-y-2">{children}</div>
      {problem && <ProblemNotice className="mt-3" problem={problem} />}
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button isBusy={isBusy} kind={kind} onClick={() => void confirm()}>
          {act}
        </Button>
      </div>
    </Dialog>
  );
}
