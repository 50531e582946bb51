/** Deleted text, previous formatting, and data for machines. */
export const LEFT_OUT = new Set([
  "w:del",
  "w:moveFrom",
  "w:rPrChange",
  "w:pPrChange",
  "w:sectPrChange",
  "w:tblPrChange",
  "w:trPrChange",
  "w:tcPrChange",
  "w:tblPrExChange",
  "w:delText",
  "w:delInstrText",
  "w:binData",
  "a:graphicFrameLocks",
]);
