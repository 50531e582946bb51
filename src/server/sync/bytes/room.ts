import type { Held, Place } from "./byte-budget.ts";

/** The memory reserved for one item, including the files inside it. */
export type Room = Pick<ReturnType<typeof makeRoom>, "enter" | "note">;

/**
 * A text is in memory about four times until it is stored: as received, as kept, and while it is passed to the writing
 * thread.
 */
const PER_CHAR = 4;
/** The text of a compressed file is larger than the file. */
const PER_BYTE = 4;
/** Room for the longest text that extraction returns for a file. */
const MOST_BYTES = 100_000_000;

/**
 * Makes the room of the item at this place. `end` returns the room that is still reserved, which is the room of the
 * item's texts.
 */
export function makeRoom(place: Place, signal: AbortSignal) {
  let entering: Promise<Held> | undefined;
  let held: Held | undefined;
  let asked = 0;
  let noted = 0;
  return {
    /**
     * Waits for room for the text of a file of this many bytes. Returns at once if the item has room already.
     *
     * @throws the signal's reason when it is aborted in the meantime
     */
    async enter(bytes: number): Promise<void> {
      asked = Math.max(asked, Math.min(MOST_BYTES, bytes * PER_BYTE));
      entering ??= place.enter(asked, signal);
      held = await entering;
    },
    /** Records a text that is waiting to be stored. */
    note(text: string): void {
      noted += text.length * PER_CHAR;
      if (noted > asked) held?.resize(noted);
    },
    end(): Held | undefined {
      if (entering === undefined) place.release();
      held?.resize(noted);
      return held;
    },
  };
}
