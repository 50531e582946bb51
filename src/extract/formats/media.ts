import type { IAudioMetadata } from "music-metadata";
import type { Format, FormatResult } from "#extract/format.ts";
import { type MediaFacts, note, readDate } from "#extract/image/facts.ts";
import { loadPart } from "#extract/load.ts";
import { factsText } from "./image.ts";

/** Audio and video: the words in their tags. The sound and the images aren't read. */
export const mediaFormat: Format = {
  async extract({ bytes, mimeType }): Promise<FormatResult> {
    const { parseBuffer } = await loadPart(() => import("music-metadata"));
    const metadata = await parseBuffer(
      bytes,
      { mimeType, size: bytes.length },
      { duration: false, skipCovers: true },
    ).catch(
      // A broken file has no reliable tags, which isn't worth an error on its own.
      () => undefined,
    );
    const facts: MediaFacts = {};
    const more = metadata === undefined ? {} : readTags(metadata, facts);
    return factsText(facts, "The recording has no text in its tags. kb does not transcribe audio or video.", more);
  },
};

function readTags({ common }: IAudioMetadata, facts: MediaFacts): Record<string, string> {
  note(facts, "title", common.title);
  note(facts, "author", common.artists?.join(", ") ?? common.artist ?? common.albumartist);
  note(facts, "description", common.description?.join("\n") ?? common.longDescription);
  note(facts, "comment", common.comment?.map((comment) => comment.text ?? "").join("\n"));
  note(facts, "keywords", common.keywords?.join(", "));
  note(facts, "copyright", common.copyright);
  note(
    facts,
    "created",
    readDate(common.date) ?? (common.year === undefined ? undefined : `${common.year}-01-01T00:00:00`),
  );
  const words: MediaFacts = {};
  const line = (text: string | undefined) => {
    delete words.description;
    note(words, "description", text);
    return words.description ?? "";
  };
  const lyrics = common.lyrics
    ?.map(({ text, syncText }) => text ?? syncText.map((part) => part.text).join("\n"))
    .join("\n");
  const more = {
    album: line(common.album),
    composer: line(common.composer?.join(", ")),
    genre: line(common.genre?.join(", ")),
    lyrics: line(lyrics),
  };
  return Object.fromEntries(Object.entries(more).filter(([, value]) => value !== ""));
}
