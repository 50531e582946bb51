import { cleanText, singleSpaced } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { twoDigits } from "#extract/iso-time.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Subtitles (SubRip, WebVTT, SubStation Alpha): the spoken text without time codes. Each five minutes are a section with their time. */
export const subtitlesFormat: Format = {
  extract({ decode, maxTextLength }): FormatText {
    const decoded = decode();
    const out = new TextBuilder(maxTextLength);
    let section = -1;
    let previous = "";
    const clean = cleanText(decoded.text);
    const cues = /^\[Script Info\]/imu.test(clean.slice(0, 4_096)) ? readDialogue(clean) : readCues(clean);
    for (const { seconds, text } of cues) {
      const number = Math.floor(seconds / SECTION_SECONDS);
      // Times may go back in a broken file, but a section begins only once.
      if (number > section) {
        if (out.offset > 0) out.add("\n");
        section = number;
        const ref = clockOf(number * SECTION_SECONDS);
        out.section(ref, 1, out.offset, { kind: "part", ref });
      }
      // Rolling captions repeat each line.
      if (text !== previous) out.add(`${text}\n`);
      previous = text;
    }
    return out.result({ properties: { captions: String(cues.length) }, isCut: decoded.isCut });
  },
};

const SECTION_SECONDS = 300;

interface Cue {
  seconds: number;
  text: string;
}

const TIMES = /^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d\d)[.,]\d{1,3}\s*-->/u;

/** Reads line by line: the times begin a caption, and an empty line ends it. Notes and styles before the first caption are ignored. */
function readCues(text: string): Cue[] {
  const cues: Cue[] = [];
  let cue: { seconds: number; lines: string[] } | undefined;
  const close = () => {
    const words = withoutMarks(cue?.lines.join(" ") ?? "");
    if (cue !== undefined && words !== "") cues.push({ seconds: cue.seconds, text: words });
    cue = undefined;
  };
  const lines = text.split("\n");
  lines.forEach((line, index) => {
    const times = TIMES.exec(line);
    if (times !== null) {
      close();
      cue = { seconds: Number(times[1] ?? 0) * 3_600 + Number(times[2]) * 60 + Number(times[3]), lines: [] };
    } else if (line.trim() === "") close();
    // A number before times belongs to the next caption if the empty line between the captions is missing.
    else if (cue !== undefined && !(/^\d+\s*$/u.test(line) && TIMES.test(lines[index + 1] ?? ""))) cue.lines.push(line);
  });
  close();
  return cues;
}

/**
 * Reads lines such as `Dialogue: 0,0:01:02.50,0:01:05.00,Default,Ana,0,0,0,,What she says`, in the order in which they are spoken. Source:
 * https://en.wikipedia.org/wiki/SubStation_Alpha
 */
function readDialogue(text: string): Cue[] {
  const cues: Cue[] = [];
  let places = placesOf("Layer,Start,End,Style,Name,MarginL,MarginR,MarginV,Effect,Text");
  for (const line of text.split("\n")) {
    const [, kind, content = ""] = /^(Format|Dialogue):\s*(.*)$/iu.exec(line) ?? [];
    if (kind === "Format" && /\btext\b/iu.test(content)) places = placesOf(content);
    if (kind !== "Dialogue") continue;
    const values = content.split(",");
    const [, hours, minutes, seconds] = /^(\d{1,3}):(\d\d):(\d\d)/u.exec(values[places.start]?.trim() ?? "") ?? [];
    const spoken = values
      .slice(places.text)
      .join(",")
      .replaceAll(/\{[^{}]{0,1000}\}/gu, "")
      .replaceAll(/\\[Nnh]/gu, " ");
    const name = values[places.name]?.trim() ?? "";
    const words = singleSpaced(spoken);
    if (seconds === undefined || words === "") continue;
    const at = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
    cues.push({ seconds: at, text: name === "" ? words : `${name}: ${words}` });
  }
  return cues.sort((a, b) => a.seconds - b.seconds);
}

function placesOf(format: string): { start: number; name: number; text: number } {
  const names = format.split(",").map((name) => name.trim().toLowerCase());
  return { start: names.indexOf("start"), name: names.indexOf("name"), text: names.indexOf("text") };
}

/** Removes marks such as `<i>` and `{\an8}`, writes the speaker of `<v Ana>`, and decodes entities. */
function withoutMarks(text: string): string {
  const words = text
    .replaceAll(/<v(?:\.[^\s>]{0,60})? ([^>]{1,100})>/gu, "$1: ")
    .replaceAll(/<[^<>]{0,200}>|\{\\[^{}]{0,200}\}/gu, "")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
  return singleSpaced(words);
}

function clockOf(seconds: number): string {
  return [seconds / 3_600, (seconds % 3_600) / 60, seconds % 60].map((value) => twoDigits(Math.floor(value))).join(":");
}
