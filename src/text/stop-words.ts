const WORDS =
  "a about an and any are as at be been but by can could did do does for from had has have how i if in into is it its " +
  "may me my no not of on or our out shall should so some such than that the their them then there these they this " +
  "those to us was we were what when where which who whom why will with would you your";

/** English words that have no meaning alone. Queries drop them unless they are quoted or alone; documents never do. */
export const STOP_WORDS: ReadonlySet<string> = new Set(WORDS.split(" "));
