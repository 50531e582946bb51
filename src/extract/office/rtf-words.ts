/** Control words that represent characters. */
export const RTF_CHARACTERS = new Map([
  ["tab", "\t"],
  ["line", "\n"],
  ["lbr", "\n"],
  ["softline", "\n"],
  ["emdash", "—"],
  ["endash", "–"],
  ["lquote", "‘"],
  ["rquote", "’"],
  ["ldblquote", "“"],
  ["rdblquote", "”"],
  ["bullet", "•"],
  ["emspace", " "],
  ["enspace", " "],
  ["qmspace", " "],
  ["~", " "],
  ["_", "-"],
  ["\t", "\t"],
]);

/** The purpose of a group's text. `text` is part of the surrounding text, `none` is for machines; the others are collected separately. */
export type RtfDestination =
  | "text"
  | "none"
  | "fonts"
  | "styles"
  | "instruction"
  | "note"
  | "comment"
  | "commentAuthor"
  | "furniture"
  | "marker"
  | "shape"
  | "property";

/** Groups that begin with one of these control words. Other groups are for machines if they begin with `\*`, and text otherwise. */
export const RTF_DESTINATIONS = new Map<string, RtfDestination>([
  ["fonttbl", "fonts"],
  ["stylesheet", "styles"],
  ["fldinst", "instruction"],
  ["footnote", "note"],
  ["annotation", "comment"],
  ["atnauthor", "commentAuthor"],
  ["listtext", "marker"],
  ["pntext", "marker"],
  ["shptxt", "text"],
  ["ud", "text"],
  ["moMath", "text"],
  ["moMathPara", "text"],
  ["shpinst", "shape"],
  ["do", "shape"],
  ["dptxbxtext", "text"],
  ...words("header headerl headerr headerf footer footerl footerr footerf", "furniture"),
  ...words("title subject author operator company keywords doccomm creatim revtim category", "property"),
  ...words(
    `colortbl info pict objdata themedata datastore colorschememapping latentstyles listtable listoverridetable list listoverride listname rsidtbl
    generator xmlnstbl mmathPr mmathPict nonshppict shppict shprslt upr filetbl revtbl pgdsctbl bkmkstart bkmkend xe tc
    tcn rxe txe htmltag mhtmltag atnid atndate atnref atnparent atrfstart atrfend background docvar userprops pn pnseclvl
    objclass objname objalias fontemb fontfile falt panose template password ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn
    buptim printim hlinkbase manager protusertbl sp sn sv listpicture blipuid picprop wgrffmtfilter nesttableprops
    private passwordhash oldcprops oldpprops oldtprops oldsprops datafield formfield fldtype ffname ffdeftext ffl
    ffhelptext ffstattext ffformat mrPr mfPr ctrlPr`.split(/\s+/u),
    "none",
  ),
]);

/** Properties of the document by control word. */
export const RTF_PROPERTIES = new Map([
  ["title", "title"],
  ["subject", "subject"],
  ["author", "author"],
  ["operator", "lastModifiedBy"],
  ["company", "company"],
  ["keywords", "keywords"],
  ["doccomm", "description"],
  ["category", "category"],
  ["creatim", "created"],
  ["revtim", "modified"],
]);

function words(list: string | readonly string[], destination: RtfDestination): [string, RtfDestination][] {
  const names = typeof list === "string" ? list.split(" ") : list;
  return names.map((word) => [word, destination]);
}
