/**
 * Removes invisible characters, and characters that hide text, in one pass over the text, even if there are many. Each character is classified once.
 * Source: S45, S67.
 */

/**
 * Returns the text without controls (except tab and line feed), non-characters, direction marks, tags, fillers and unneeded joiners; half of a
 * surrogate pair becomes U+FFFD.
 */
export function visible(text: string): string {
  if (PLAIN_TEXT.test(text)) return text;
  const units = new Uint16Array(text.length);
  const kinds = kindsOfCharacters();
  let [length, isChanged, hasJoiners] = [0, false, false];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isSurrogate = (unit & 0xf800) === 0xd800;
    const code = isSurrogate ? (text.codePointAt(at) ?? unit) : unit;
    if (isSurrogate && code === unit) {
      units[length++] = REPLACEMENT;
      isChanged = true;
      continue;
    }
    const kind = kinds[code] || learnKind(kinds, code);
    if (isSurrogate) at++;
    if ((kind & HIDDEN) !== 0) {
      isChanged = true;
      continue;
    }
    hasJoiners ||= (kind & JOINER) !== 0;
    units[length++] = unit;
    if (isSurrogate) units[length++] = text.charCodeAt(at);
  }
  const kept = hasJoiners ? withNeededJoiners(units, length, kinds) : length;
  return isChanged || kept < length ? textOf(units.subarray(0, kept)) : text;
}

/** A text that contains nothing hidden, nothing that reorders text, and no half of a surrogate pair. */
const PLAIN_TEXT = /^[\t\n -~]*$/;

const REPLACEMENT = 0xfffd;
const NON_JOINER = 0x200c;
const EMOJI_STYLE = 0xfe0f;
const KEYCAP = 0x20e3;

/** The kind of a character, as bits. `KNOWN` is in every kind, so that 0 means not yet classified. */
const KNOWN = 1;
/** Controls, interlinear marks, non-characters, and characters that a terminal or page shows as nothing. */
const HIDDEN = 2;
/** Kept only where it changes the spelling or the emoji. */
const JOINER = 4;
const PICTURE = 8;
const PICTURE_END = 16;
const TAKES_STYLE = 32;
/** A letter of a script whose spelling needs the joiners. */
const JOINING = 64;
/** A character that can have an emoji style only as part of a keycap. */
const KEY = 128;

const KIND_OF: readonly (readonly [number, RegExp])[] = [
  [
    HIDDEN,
    // oxlint-disable-next-line no-control-regex -- these are exactly the characters to take out
    /^[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb\ufdd0-\ufdef\p{Noncharacter_Code_Point}]$/u,
  ],
  [HIDDEN, /^(?!\u200c|\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}$/u],
  [JOINER, /^(?:\u200c|\u200d|\ufe0f)$/u],
  [PICTURE, /^\p{Extended_Pictographic}$/u],
  [PICTURE_END, /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u],
  [TAKES_STYLE, /^[\p{Extended_Pictographic}0-9#*]$/u],
  [
    JOINING,
    /^[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]$/u,
  ],
  [KEY, /^[0-9#*]$/],
];

let characters: Uint8Array | undefined;

/** Kinds by code point. Of the table's 1.1 MB, only the part that is written uses memory. */
function kindsOfCharacters(): Uint8Array {
  return (characters ??= new Uint8Array(0x110000));
}

function learnKind(kinds: Uint8Array, code: number): number {
  const character = String.fromCodePoint(code);
  const kind = KIND_OF.reduce((all, [bit, pattern]) => (pattern.test(character) ? all | bit : all), KNOWN);
  kinds[code] = kind;
  return kind;
}

/** Keeps a joiner only where it is needed, so that no bits can be hidden in it. @returns the number of remaining units, which are at the start */
function withNeededJoiners(units: Uint16Array, length: number, kinds: Uint8Array): number {
  const kindAt = (code: number) => kinds[code] || learnKind(kinds, code);
  let kept = 0;
  for (let at = 0; at < length; at++) {
    const unit = units[at] ?? 0;
    if (!isJoiner(unit)) {
      units[kept++] = unit;
      continue;
    }
    let [end, style] = [at, -1];
    for (; end < length && isJoiner(units[end] ?? 0); end++) if (style < 0 && units[end] === EMOJI_STYLE) style = end;
    // In a run, only the first emoji style can belong to the character before it, and only the last joiner to the one after it.
    const before = kept === 0 ? KNOWN : kindAt(codeBefore(units, kept));
    const last = units[end - 1] ?? 0;
    const hasStyle = style >= 0 && style < end - 1 && takesStyle(before, units[style + 1] ?? 0);
    const after = end < length ? codeAt(units, end) : -1;
    const isNeeded = isKept(last, hasStyle ? kindAt(EMOJI_STYLE) : before, {
      code: after,
      kind: after < 0 ? KNOWN : kindAt(after),
    });
    if (hasStyle) units[kept++] = EMOJI_STYLE;
    if (isNeeded) units[kept++] = last;
    at = end - 1;
  }
  return kept;
}

function isJoiner(unit: number): boolean {
  return unit === NON_JOINER || unit === NON_JOINER + 1 || unit === EMOJI_STYLE;
}

function isKept(joiner: number, before: number, after: { code: number; kind: number }): boolean {
  if (joiner === EMOJI_STYLE) return takesStyle(before, after.code);
  if (joiner !== NON_JOINER && (before & PICTURE_END) !== 0 && (after.kind & PICTURE) !== 0) return true;
  return (before & JOINING) !== 0 && (after.kind & JOINING) !== 0;
}

function takesStyle(before: number, next: number): boolean {
  return (before & TAKES_STYLE) !== 0 && ((before & KEY) === 0 || next === KEYCAP);
}

function codeAt(units: Uint16Array, at: number): number {
  const unit = units[at] ?? 0;
  return (unit & 0xfc00) === 0xd800 ? pairOf(unit, units[at + 1] ?? 0) : unit;
}

function codeBefore(units: Uint16Array, end: number): number {
  const unit = units[end - 1] ?? 0;
  return (unit & 0xfc00) === 0xdc00 ? pairOf(units[end - 2] ?? 0, unit) : unit;
}

function pairOf(high: number, low: number): number {
  return 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
}

/** Returns the text of these UTF-16 code units. */
export function textOf(units: Uint16Array): string {
  let hasSurrogate = false;
  for (let at = 0; at < units.length && !hasSurrogate; at++) hasSurrogate = ((units[at] ?? 0) & 0xf800) === 0xd800;
  // Several times as fast; possible only if the text has no surrogates. Node and browsers run on little-endian machines.
  if (!hasSurrogate) return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(units);
  const pieces: string[] = [];
  for (let at = 0; at < units.length; at += PIECE) {
    // The arguments aren't spread, because each unit would go through an iterator.
    pieces.push(Reflect.apply(String.fromCharCode, undefined, units.subarray(at, at + PIECE)));
  }
  return pieces.join("");
}

/** A number of arguments that every machine accepts in one call. */
const PIECE = 8_192;
